//! What tasks reserve that are accepted under spend caps.

use crate::StoreError;
use crate::price_book::{book_of, name_of};
use crate::statement::named;
use domain::id::{PriceBookName, TenantId};
use domain::price::{PriceBook, Reservation, Use};
use domain::spend::CapScope;
use domain::task::Labels;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use uuid::Uuid;

/// A task that is to be accepted.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) tenant: TenantId,
    /// What each attempt holds, for as long as one may run.
    pub(crate) most: Use,
    pub(crate) attempts: u32,
    pub(crate) labels: &'a Labels,
    /// The schedule that makes it, or starts its run.
    pub(crate) schedule: Option<&'a str>,
}

/// The caps of some tenants, and by what these are billed now.
#[derive(Debug, Default)]
pub(crate) struct Accepting {
    now: Timestamp,
    tenants: HashMap<TenantId, Capped>,
    billed_otherwise: bool,
}

#[derive(Debug)]
struct Capped {
    caps: Vec<(Uuid, CapScope)>,
    book: Option<(PriceBookName, Arc<PriceBook>)>,
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
            r#"select c.tenant_id, c.id, c.scope, c.label, c.value, now() as "now!", k.name as "book?", k.document::text as document,
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
        let mut accepting = Self::default();
        let mut books: HashMap<String, (PriceBookName, Arc<PriceBook>)> = HashMap::new();
        for row in rows {
            accepting.now = row.now;
            accepting.billed_otherwise |= row.billed_otherwise;
            let scope = scope_of(&row.scope, row.label, row.value);
            let capped = match accepting.tenants.entry(TenantId(row.tenant_id)) {
                Entry::Occupied(capped) => capped.into_mut(),
                Entry::Vacant(place) => {
                    let book = match row.book.zip(row.document) {
                        None => None,
                        Some((name, _)) if books.contains_key(&name) => books.get(&name).cloned(),
                        Some((name, document)) => {
                            let book = (name_of(name.clone())?, Arc::new(book_of(&document)?));
                            books.insert(name, book.clone());
                            Some(book)
                        }
                    };
                    place.insert(Capped { caps: Vec::new(), book })
                }
            };
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
        Some(Reservation::of(caps, book, self.now, (&task.most, task.attempts)))
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
