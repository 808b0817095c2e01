//! Plans: what subscriptions allow. Written by the platform's operators, read by everybody.
//!
//! Few and small: they are read whole. What is written here has passed [`PlanLimits::check`]; the table holds the same ranges.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::{AdminDb, SubmitDb};
use crate::price_book::billing_of;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::PlanName;
use domain::plan::{PlanLimits, PutPlan};
use domain::price::Billing;
use domain::time::Timestamp;
use serde_json::{Value, json};
use sqlx::PgConnection;

/// More plans than an installation has; a list ends here.
const MOST: i64 = 1000;

/// A plan as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRecord {
    /// Its name.
    pub name: PlanName,
    /// Counts its changes, from 1.
    pub version: i64,
    /// What it allows.
    pub limits: PlanLimits,
    /// By which prices it is billed; `None`: what is used costs nothing.
    pub billing: Option<Billing>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// What became of a plan that was to be stored.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanStored {
    /// It is new.
    Created(PlanRecord),
    /// It is changed.
    Updated(PlanRecord),
    /// It was so.
    Unchanged(PlanRecord),
    /// There is no price book of the name that it gives.
    NoPriceBook,
    /// It is in this version, and not in the one that was asked for; `None`: there is none.
    VersionMismatch {
        /// The version.
        version: Option<i64>,
    },
}

/// What became of a plan that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone.
    Yes,
    /// It is in this version, and not in the one that was asked for.
    VersionMismatch {
        /// The version.
        version: i64,
    },
    /// Tenants are on it.
    InUse,
    /// There is none of this name.
    NotFound,
}

/// Reads the column `limits` of a plan.
pub(crate) fn limits_of(text: &str) -> Result<PlanLimits, StoreError> {
    PlanLimits::from_stored(text).map_err(|_| StoreError::Malformed {
        what: "limits",
        row: "a plan".into(),
        value: text.to_owned(),
    })
}

/// Reads a name that the table's check admitted.
pub(crate) fn name_of(text: String) -> Result<PlanName, StoreError> {
    text.parse().map_err(|_| StoreError::Malformed {
        what: "name",
        row: "a plan".into(),
        value: text,
    })
}

struct Row {
    name: String,
    limits: String,
    billing: Option<String>,
    version: i64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl Row {
    fn record(self) -> Result<PlanRecord, StoreError> {
        let Self { name, limits, billing, version, created_at, updated_at } = self;
        let (name, limits) = (name_of(name)?, limits_of(&limits)?);
        let billing = billing.as_deref().map(billing_of).transpose()?;
        Ok(PlanRecord { name, version, limits, billing, created_at, updated_at })
    }
}

/// Every plan, by name.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &AdminDb) -> Result<Vec<PlanRecord>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        r#"select name, limits::text as "limits!", billing::text, version, created_at, updated_at from plan order by name limit $1"#,
        MOST
    );
    let rows = named("plan.list", query.fetch_all(db.pool())).await?;
    rows.into_iter().map(Row::record).collect()
}

/// Every plan with what it allows, for telling a customer which one allows more.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_customers(db: &SubmitDb) -> Result<Vec<(PlanName, PlanLimits)>, StoreError> {
    let query = sqlx::query!(
        r#"select name, limits::text as "limits!" from plan order by name limit $1"#,
        MOST
    );
    let rows = named("plan.list_for_customers", query.fetch_all(db.pool())).await?;
    rows.into_iter()
        .map(|row| {
            let limits = limits_of(&row.limits)?;
            Ok((name_of(row.name)?, limits))
        })
        .collect()
}

/// The plan of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(db: &AdminDb, name: &PlanName) -> Result<Option<PlanRecord>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        r#"select name, limits::text as "limits!", billing::text, version, created_at, updated_at from plan where name = $1"#,
        name.as_str()
    );
    let row = named("plan.find", query.fetch_optional(db.pool())).await?;
    row.map(Row::record).transpose()
}

/// Stores a plan, new or changed, in the request of `by`: with `if_version` only in that version, with 0 only where there is none.
/// Tenants on it feel the change within two seconds.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &AdminDb,
    name: &PlanName,
    if_version: Option<i64>,
    new: impl Into<PutPlan>,
    by: By,
) -> Result<PlanStored, StoreError> {
    match put_in(db, name, if_version, &new.into(), by).await {
        // A foreign key: the database decides, whatever is deleted meanwhile.
        Err(error) if error.sqlstate().as_deref() == Some("23503") => Ok(PlanStored::NoPriceBook),
        stored => stored,
    }
}

async fn put_in(
    db: &AdminDb,
    name: &PlanName,
    if_version: Option<i64>,
    new: &PutPlan,
    by: By,
) -> Result<PlanStored, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let before = match if_version {
        Some(1..) => lock(&mut tx, name).await?,
        // Made first, so that of two who make the same plan at once one finds the other's.
        _ => match make(&mut tx, name, new).await? {
            Some(made) => {
                let act = Act::new(AuditAction::PlanPut, name).to(audit_value(&made));
                audit::record_and_commit(tx, PLATFORM, by, act).await?;
                return Ok(PlanStored::Created(made));
            }
            None => lock(&mut tx, name).await?,
        },
    };
    let version = before.as_ref().map(|before| before.version);
    let Some(before) = before.filter(|_| if_version.is_none() || if_version == version) else {
        return Ok(PlanStored::VersionMismatch { version });
    };
    let billing = new.billing.after(before.billing.as_ref());
    if before.limits == new.limits && before.billing == billing {
        return Ok(PlanStored::Unchanged(before));
    }
    set(&mut tx, name, &new.limits, billing.as_ref()).await?;
    let after = lock(&mut tx, name).await?.ok_or(StoreError::Contended)?;
    let act = Act::new(AuditAction::PlanPut, name);
    let act = act.from(audit_value(&before)).to(audit_value(&after));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(PlanStored::Updated(after))
}

/// How a plan is, to the end of the transaction.
async fn lock(tx: &mut PgConnection, name: &PlanName) -> Result<Option<PlanRecord>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        r#"select name, limits::text as "limits!", billing::text, version, created_at, updated_at from plan where name = $1 for no key update"#,
        name.as_str()
    );
    let row = named("plan.lock", query.fetch_optional(tx)).await?;
    row.map(Row::record).transpose()
}

/// Stores a plan that is new; `None` where there is one of this name.
async fn make(
    tx: &mut PgConnection,
    name: &PlanName,
    new: &PutPlan,
) -> Result<Option<PlanRecord>, StoreError> {
    let (limits, billing) = (new.limits, new.billing.after(None));
    let query = sqlx::query!(
        r#"insert into plan (name, limits, billing) values ($1, $2::text::jsonb, $3::text::jsonb) on conflict (name) do nothing
            returning version, created_at, updated_at"#,
        name.as_str(),
        stored(&limits),
        billing.as_ref().map(|billing| json!(billing).to_string())
    );
    let row = named("plan.make", query.fetch_optional(tx)).await?;
    Ok(row.map(|row| PlanRecord {
        name: name.clone(),
        version: row.version,
        limits,
        billing,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }))
}

/// Changes a plan that is locked. Limits of a later release stay as they are.
async fn set(
    tx: &mut PgConnection,
    name: &PlanName,
    limits: &PlanLimits,
    billing: Option<&Billing>,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update plan set limits = limits || $2::text::jsonb, billing = $3::text::jsonb, version = version + 1, updated_at = now() where name = $1",
        name.as_str(),
        stored(limits),
        billing.map(|billing| json!(billing).to_string())
    );
    named("plan.set", query.execute(tx)).await.map(|_| ())
}

/// Deletes a plan that no tenant is on, in the request of `by`, with `if_version` only in that version; a deleted tenant that is not
/// purged yet counts. `default` is always in use: tenants begin with it, and are put on it when they are purged.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &AdminDb,
    name: &PlanName,
    if_version: Option<i64>,
    by: By,
) -> Result<Deleted, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(before) = lock(&mut tx, name).await? else { return Ok(Deleted::NotFound) };
    if if_version.is_some_and(|wanted| wanted != before.version) {
        return Ok(Deleted::VersionMismatch { version: before.version });
    }
    if *name == PlanName::default() {
        return Ok(Deleted::InUse);
    }
    let query = sqlx::query!("delete from plan where name = $1", name.as_str());
    match named("plan.delete", query.execute(&mut *tx)).await {
        Ok(_) => {}
        // A foreign key: the database decides, however two requests meet.
        Err(error) if error.sqlstate().as_deref() == Some("23503") => return Ok(Deleted::InUse),
        Err(error) => return Err(error),
    }
    let act = Act::new(AuditAction::PlanDelete, name).from(audit_value(&before));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(Deleted::Yes)
}

/// What the audit shows of a plan.
fn audit_value(plan: &PlanRecord) -> Value {
    let mut value = json!(plan.limits);
    if let Some(billing) = &plan.billing {
        value["billing"] = json!(billing);
    }
    value
}

/// The limits as the table holds them.
fn stored(limits: &PlanLimits) -> String {
    json!(limits).to_string()
}
