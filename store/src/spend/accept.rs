//! What tasks reserve that are accepted under spend caps.

use crate::StoreError;
use crate::price_book::{book_of, name_of};
use crate::statement::named;
use domain::id::{PriceBookName, TenantId};
use domain::price::{PriceBook, Reservation, TaskToPrice, Use};
use domain::spend::CapScope;
use domain::task::Labels;
use domain::time::Timestamp;
use runtime::clock::{Instant, monotonic};
use sqlx::PgConnection;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// For so long what was read is used again: the statement that stores compares it. A price that has ended since then may still count in
/// what a task reserves.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// A task that is to be accepted.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) tenant: TenantId,
    /// What each attempt holds, for as long as one may run.
    pub(crate) most: Use,
    pub(crate) attempts: u32,
    pub(crate) labels: &'a Labels,
    /// A fire makes it, or the run begins with it that a fire starts.
    pub(crate) is_fired: bool,
    /// The schedule that makes it, or starts its run.
    pub(crate) schedule: Option<&'a str>,
}

/// What a writer knows of its tenants' caps. A statement that stores by it compares it with what holds then.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownCaps(Arc<Mutex<Accepting>>);

impl KnownCaps {
    /// What is known of `tenants`.
    pub(crate) fn of(&self, tenants: impl Iterator<Item = TenantId>) -> Accepting {
        self.lock().of(tenants)
    }

    /// `read` is all that holds of `tenants`.
    pub(crate) fn learn(&self, tenants: impl Iterator<Item = TenantId>, read: Accepting) {
        self.lock().learn(tenants, read);
    }

    fn lock(&self) -> MutexGuard<'_, Accepting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The caps of some tenants, and by what these are billed now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accepting {
    tenants: HashMap<TenantId, Capped>,
    billed_otherwise: bool,
}

#[derive(Debug, Clone)]
struct Capped {
    read_at: Instant,
    /// The same, by the database's clock.
    now: Timestamp,
    caps: Vec<(Uuid, CapScope)>,
    book: Option<(PriceBookName, Arc<PriceBook>)>,
    terms: Terms,
}

/// Which caps and which prices these are, as the statement that stores compares them with what holds then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The ids of the caps, ascending. Of which tasks a cap is never changes.
    pub(crate) caps: String,
    /// The price book's name and version; empty where the tenant's plan has none.
    pub(crate) book: String,
}

impl Accepting {
    /// Reads those of `tenants`. Most have no cap, and then it is empty.
    pub(crate) async fn read(
        tx: &mut PgConnection,
        tenants: impl Iterator<Item = TenantId>,
    ) -> Result<Self, StoreError> {
        let tenants: Vec<Uuid> =
            tenants.map(TenantId::uuid).collect::<BTreeSet<_>>().into_iter().collect();
        let query = sqlx::query!(
            r#"select c.tenant_id, c.id, c.scope, c.label, c.value, now() as "now!", k.name as "book?", k.version as "book_version?",
                    k.document::text as document,
                    coalesce(k.document ->> 'currency' <> c.currency, false) as "billed_otherwise!"
                from spend_cap c
                join tenant t on t.id = c.tenant_id
                join plan p on p.name = t.plan
                left join price_book k on k.name = p.price_book
                where c.tenant_id = any ($1)
                order by c.tenant_id, c.id"#,
            &tenants
        );
        let rows = named("spend.caps", query.fetch_all(tx)).await?;
        let read_at = monotonic();
        let mut accepting = Self::default();
        let mut books: HashMap<String, (PriceBookName, Arc<PriceBook>)> = HashMap::new();
        for row in rows {
            accepting.billed_otherwise |= row.billed_otherwise;
            let scope = scope_of(&row.scope, row.label, row.value);
            let capped = match accepting.tenants.entry(TenantId(row.tenant_id)) {
                Entry::Occupied(capped) => capped.into_mut(),
                Entry::Vacant(place) => {
                    let version = row.book_version.unwrap_or_default();
                    let terms = row.book.as_ref().map(|name| format!("{name} {version}"));
                    let book = match row.book.zip(row.document) {
                        None => None,
                        Some((name, _)) if books.contains_key(&name) => books.get(&name).cloned(),
                        Some((name, document)) => {
                            let book = (name_of(name.clone())?, Arc::new(book_of(&document)?));
                            books.insert(name, book.clone());
                            Some(book)
                        }
                    };
                    let terms = Terms { book: terms.unwrap_or_default(), caps: String::new() };
                    place.insert(Capped { read_at, now: row.now, caps: Vec::new(), book, terms })
                }
            };
            capped.terms.caps.push_str(&format!("{},", row.id));
            capped.caps.push((row.id, scope));
        }
        Ok(accepting)
    }

    /// Whether no tenant has a cap.
    pub(crate) fn is_empty(&self) -> bool {
        self.tenants.is_empty()
    }

    /// Whether a tenant is billed in another currency than one of its caps is in.
    pub(crate) const fn is_billed_otherwise(&self) -> bool {
        self.billed_otherwise
    }

    /// Takes over what another knows of `asked`: also that they have no cap. What is old is dropped.
    fn learn(&mut self, asked: impl Iterator<Item = TenantId>, other: Self) {
        asked.for_each(|tenant| drop(self.tenants.remove(&tenant)));
        self.tenants.retain(|_, capped| capped.read_at.elapsed() < KNOWN_FOR);
        if !other.billed_otherwise {
            self.tenants.extend(other.tenants);
        }
    }

    /// Those of `tenants` with caps, as far as they were read a short time ago.
    fn of(&self, tenants: impl Iterator<Item = TenantId>) -> Self {
        let known = tenants.filter_map(|tenant| Some((tenant, self.tenants.get(&tenant)?)));
        let fresh = known.filter(|(_, capped)| capped.read_at.elapsed() < KNOWN_FOR);
        let tenants = fresh.map(|(tenant, capped)| (tenant, capped.clone())).collect();
        Self { tenants, billed_otherwise: false }
    }

    /// Of each tenant with caps.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (TenantId, &Terms)> {
        self.tenants.iter().map(|(tenant, capped)| (*tenant, &capped.terms))
    }

    /// Whether a tenant has caps.
    pub(crate) fn has(&self, tenant: TenantId) -> bool {
        self.tenants.contains_key(&tenant)
    }

    /// What a task reserves, also one of no cap of its tenant's: it has the prices of now then. `None`: its tenant has no caps.
    pub(crate) fn reservation(&self, task: &Candidate<'_>) -> Option<Reservation> {
        let capped = self.tenants.get(&task.tenant)?;
        let label = |key: &str| task.labels.get(key).map(|value| &**value);
        let caps = capped.caps.iter().filter(|(_, scope)| scope.has(label, task.schedule));
        let caps: Vec<Uuid> = caps.map(|(id, _)| *id).collect();
        let book = capped.book.as_ref().map(|(name, book)| (name, &**book));
        let Candidate { most, attempts, is_fired, .. } = *task;
        Some(Reservation::of(caps, book, capped.now, &TaskToPrice { most, attempts, is_fired }))
    }
}

/// Reads the columns of a cap that say of which tasks it is.
pub(crate) fn scope_of(scope: &str, label: Option<String>, value: Option<String>) -> CapScope {
    match (scope, label, value) {
        ("label", Some(key), Some(value)) => CapScope::Label { key, value },
        ("schedule", None, Some(name)) => CapScope::Schedule(name),
        _ => CapScope::Tenant,
    }
}
