//! Spend caps as they are stored. What they do is in [`spend`](crate::spend).

use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::spend::{SHARES, Shares, scope_of};
use crate::statement::{RowCount, named, patient};
use crate::{StoreError, TenantScope};
use domain::id::SpendCapName;
use domain::price::Micros;
use domain::spend::{CapScope, SpendCap};
use domain::time::Timestamp;
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::collections::BTreeMap;

/// Caps that a tenant may have.
pub const MOST_CAPS: u32 = 100;

/// A cap as it is stored, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapRecord {
    /// Its name.
    pub name: SpendCapName,
    /// Counts its changes, from 1.
    pub version: i64,
    /// What it is.
    pub cap: SpendCap,
    /// How much of it is used.
    pub used: CapUse,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// How much of a cap is used in the present period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapUse {
    /// When the period began.
    pub period_start: Timestamp,
    /// When the next one begins.
    pub resets_at: Timestamp,
    /// What tasks have cost that ended in it.
    pub spent: Micros,
    /// The most that tasks can cost that have not ended.
    pub reserved: Micros,
    /// The rest; less than nothing where the cap was lowered.
    pub free: Micros,
    /// Since when such a share, in percent, is used up, or was in this period.
    pub alerts: BTreeMap<u8, Timestamp>,
}

/// Result of storing a cap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapStored {
    /// It is new.
    Created(CapRecord),
    /// It is changed.
    Updated(CapRecord),
    /// It was so.
    Unchanged(CapRecord),
    /// Only its amount can change; it is this.
    Otherwise(CapRecord),
    /// The database knows no such time zone.
    UnknownZone,
    /// The tenant has [`MOST_CAPS`] of them.
    TooMany,
    /// It is in this version, and not in the one that was asked for; `None`: there is none.
    VersionMismatch {
        /// The version.
        version: Option<i64>,
    },
}

/// Result of deleting a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapDeleted {
    /// It is gone.
    Yes,
    /// It is in this version, and not in the one that was asked for.
    VersionMismatch {
        /// The version.
        version: i64,
    },
    /// There is none of this name.
    NotFound,
}

struct CapRow {
    name: String,
    version: i64,
    scope: String,
    label: Option<String>,
    value: Option<String>,
    period: String,
    zone: String,
    amount: i64,
    currency: String,
    alerts: String,
    alerts_stand: bool,
    period_start: Timestamp,
    resets_at: Timestamp,
    free: i64,
    spent: i64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl RowCount for CapRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl CapRow {
    fn record(self) -> Result<CapRecord, StoreError> {
        let wrong = |what: &'static str, value: &str| StoreError::Malformed {
            what,
            row: "a spend cap".into(),
            value: value.to_owned(),
        };
        let alerts: BTreeMap<u8, Timestamp> = if self.alerts_stand {
            serde_json::from_str(&self.alerts).map_err(|_| wrong("alerts", &self.alerts))?
        } else {
            BTreeMap::new()
        };
        let (amount, free, spent) = (Micros(self.amount), Micros(self.free), Micros(self.spent));
        Ok(CapRecord {
            name: self.name.parse().map_err(|_| wrong("name", &self.name))?,
            version: self.version,
            cap: SpendCap {
                amount,
                currency: self.currency.parse().map_err(|_| wrong("currency", &self.currency))?,
                period: self.period.parse().map_err(|_| wrong("period", &self.period))?,
                zone: self.zone,
                scope: scope_of(&self.scope, self.label, self.value),
            },
            used: CapUse {
                period_start: self.period_start,
                resets_at: self.resets_at,
                spent,
                reserved: amount - free - spent,
                free,
                alerts,
            },
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

/// The tenant's caps, by name.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &ApiDb, scope: &TenantScope) -> Result<Vec<CapRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    rows(&mut tx, scope, None).await?.into_iter().map(CapRow::record).collect()
}

/// The cap of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(
    db: &ApiDb,
    scope: &TenantScope,
    name: &SpendCapName,
) -> Result<Option<CapRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    find_in(&mut tx, scope, name).await
}

async fn find_in(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &SpendCapName,
) -> Result<Option<CapRecord>, StoreError> {
    rows(tx, scope, Some(name)).await?.into_iter().next().map(CapRow::record).transpose()
}

async fn rows(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: Option<&SpendCapName>,
) -> Result<Vec<CapRow>, StoreError> {
    let query = sqlx::query_as!(
        CapRow,
        r#"select p.name, p.version, p.scope, p.label, p.value, p.period, p.zone, p.amount, p.currency, p.alerts::text as "alerts!",
                coalesce(p.alerts_of = t.start, false) as "alerts_stand!", t.start as "period_start!",
                (date_trunc(p.period, now() at time zone p.zone) + ('1 ' || p.period)::interval) at time zone p.zone as "resets_at!",
                s.free as "free!", s.spent as "spent!", p.created_at, p.updated_at
            from spend_cap p
            cross join lateral (select date_trunc(p.period, now(), p.zone) as start) t
            cross join lateral (
                select sum(i.free + case when i.period_start < t.start then i.spent else 0 end)::bigint as free,
                    sum(case when i.period_start < t.start then 0 else i.spent end)::bigint as spent
                from spend_share i where i.cap_id = p.id) s
            where p.tenant_id = $1 and ($2::text is null or p.name = $2) order by p.name"#,
        scope.tenant().uuid(),
        name.map(SpendCapName::as_str)
    );
    patient("spend.list", query.fetch_all(tx)).await
}

/// Stores a cap, new or with another amount: with `if_version` only in that version, with 0 only where there is none. A new one is of
/// what is accepted after it; what its tasks have cost in the present period, as far as that is counted, is spent of it.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &ApiDb,
    scope: &TenantScope,
    name: &SpendCapName,
    if_version: Option<i64>,
    cap: &SpendCap,
) -> Result<CapStored, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    if !is_zone(&mut tx, &cap.zone).await? {
        return Ok(CapStored::UnknownZone);
    }
    lock_all(&mut tx, scope).await?;
    let before = find_in(&mut tx, scope, name).await?;
    let version = before.as_ref().map(|before| before.version);
    if if_version.is_some_and(|wanted| wanted != version.unwrap_or(0)) {
        return Ok(CapStored::VersionMismatch { version });
    }
    let act = Act::new(AuditAction::SpendCapPut, name).to(json!(cap));
    let Some(before) = before else {
        if count(&mut tx, scope).await? >= i64::from(MOST_CAPS) {
            return Ok(CapStored::TooMany);
        }
        make(&mut tx, scope, name, cap).await?;
        let made = find_in(&mut tx, scope, name).await?.ok_or(StoreError::Contended)?;
        audit::record(&mut tx, scope, act).await?;
        named("commit", tx.commit()).await?;
        return Ok(CapStored::Created(made));
    };
    if before.cap == *cap {
        return Ok(CapStored::Unchanged(before));
    }
    if before.cap != (SpendCap { amount: before.cap.amount, ..cap.clone() }) {
        return Ok(CapStored::Otherwise(before));
    }
    set_amount(&mut tx, scope, name, cap.amount - before.cap.amount).await?;
    let after = find_in(&mut tx, scope, name).await?.ok_or(StoreError::Contended)?;
    audit::record(&mut tx, scope, act.from(json!(before.cap))).await?;
    named("commit", tx.commit()).await?;
    Ok(CapStored::Updated(after))
}

/// Deletes the cap of this name. What its tasks reserved is of no cap then.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &ApiDb,
    scope: &TenantScope,
    name: &SpendCapName,
    if_version: Option<i64>,
) -> Result<CapDeleted, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    lock_all(&mut tx, scope).await?;
    let Some(before) = find_in(&mut tx, scope, name).await? else {
        return Ok(CapDeleted::NotFound);
    };
    let version = before.version;
    if if_version.is_some_and(|wanted| wanted != version) {
        return Ok(CapDeleted::VersionMismatch { version });
    }
    let query = sqlx::query!(
        "delete from spend_cap where tenant_id = $1 and name = $2",
        scope.tenant().uuid(),
        name.as_str()
    );
    named("spend.delete", query.execute(&mut *tx)).await?;
    let act = Act::new(AuditAction::SpendCapDelete, name).from(before_value(&before));
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(CapDeleted::Yes)
}

fn before_value(before: &CapRecord) -> Value {
    json!(before.cap)
}

/// One transaction at a time changes the caps of a tenant.
async fn lock_all(tx: &mut PgConnection, scope: &TenantScope) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "select pg_advisory_xact_lock(hashtextextended('spend caps ' || $1::text, 0))",
        scope.tenant().to_string()
    );
    named("spend.lock_all", query.execute(tx)).await.map(drop)
}

async fn is_zone(tx: &mut PgConnection, zone: &str) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select exists (select from pg_timezone_names z where z.name = $1) as "is!""#,
        zone
    );
    named("spend.zone", query.fetch_one(tx)).await
}

async fn count(tx: &mut PgConnection, scope: &TenantScope) -> Result<i64, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select count(*) as "caps!" from spend_cap where tenant_id = $1"#,
        scope.tenant().uuid()
    );
    named("spend.count", query.fetch_one(tx)).await
}

async fn make(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &SpendCapName,
    cap: &SpendCap,
) -> Result<(), StoreError> {
    let (kind, label, value) = match &cap.scope {
        CapScope::Tenant => ("tenant", None, None),
        CapScope::Label { key, value } => ("label", Some(&**key), Some(&**value)),
        CapScope::Schedule(name) => ("schedule", None, Some(&**name)),
    };
    let period: &str = cap.period.into();
    let query = sqlx::query!(
        "with cap as (
                insert into spend_cap (tenant_id, name, scope, label, value, period, zone, amount, currency)
                values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id
            ), spent as (
                -- Of what is counted in the period so far.
                select coalesce(sum(u.attempts_cost + u.tasks_cost + u.fires_cost), 0)::bigint as amount
                from usage_rollup u
                where u.tenant_id = $1 and u.starts_at >= date_trunc($6, now(), $7)
                    and u.kind = case $3 when 'tenant' then 'tier' else $3 end and u.key = coalesce($4, '')
                    and case $3 when 'tenant' then true when 'label' then u.value = $5 and not u.others else u.value in (
                        select s.id::text from schedule s where s.tenant_id = $1 and s.name = $5) end
                    and u.price_book in (select k.name from price_book k where k.document ->> 'currency' = $9)
            )
            insert into spend_share (tenant_id, cap_id, share, period_start, free, spent)
            select $1, c.id, n.share, date_trunc($6, now(), $7), case when n.share = 0 then $8 - s.amount else 0 end,
                case when n.share = 0 then s.amount else 0 end
            from cap c cross join spent s cross join generate_series(0, $10 - 1) n(share)
            returning cap_id",
        scope.tenant().uuid(),
        name.as_str(),
        kind,
        label,
        value,
        period,
        cap.zone,
        cap.amount.0,
        cap.currency.to_string(),
        i32::from(SHARES)
    );
    let made = named("spend.make", query.fetch_all(&mut *tx)).await?;
    let id = made.first().map(|row| row.cap_id).ok_or(StoreError::Contended)?;
    Shares::raised(tx, id, Micros(0)).await?.write(tx).await
}

async fn set_amount(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &SpendCapName,
    more: Micros,
) -> Result<(), StoreError> {
    let query = sqlx::query_scalar!(
        "update spend_cap set amount = amount + $3, version = version + 1, updated_at = now()
            where tenant_id = $1 and name = $2 returning id",
        scope.tenant().uuid(),
        name.as_str(),
        more.0
    );
    let id = named("spend.set_amount", query.fetch_optional(&mut *tx)).await?;
    Shares::raised(tx, id.ok_or(StoreError::Contended)?, more).await?.write(tx).await
}
