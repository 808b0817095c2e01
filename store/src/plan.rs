//! Plans: what subscriptions allow. Written by the platform's operators, read by everybody.
//!
//! Few and small: they are read whole. What is written here has passed [`PlanLimits::check`]; the table holds the same ranges.

use crate::StoreError;
use crate::audit::{self, Act, By};
use crate::connect::{AdminDb, SubmitDb};
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::PlanName;
use domain::plan::PlanLimits;
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
    /// What it allows.
    pub limits: PlanLimits,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// What became of a plan that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone.
    Yes,
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

/// Every plan, by name.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &AdminDb) -> Result<Vec<PlanRecord>, StoreError> {
    let query = sqlx::query!(
        r#"select name, limits::text as "limits!", created_at, updated_at from plan order by name limit $1"#,
        MOST
    );
    let rows = named("plan.list", query.fetch_all(db.pool())).await?;
    rows.into_iter()
        .map(|row| {
            let limits = limits_of(&row.limits)?;
            let (created_at, updated_at) = (row.created_at, row.updated_at);
            Ok(PlanRecord { name: name_of(row.name)?, limits, created_at, updated_at })
        })
        .collect()
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
    let query = sqlx::query!(
        r#"select name, limits::text as "limits!", created_at, updated_at from plan where name = $1"#,
        name.as_str()
    );
    let row = named("plan.find", query.fetch_optional(db.pool())).await?;
    row.map(|row| {
        let limits = limits_of(&row.limits)?;
        let (created_at, updated_at) = (row.created_at, row.updated_at);
        Ok(PlanRecord { name: name_of(row.name)?, limits, created_at, updated_at })
    })
    .transpose()
}

/// Stores a plan, new or changed, in the request of `by`; true when it is new. `limits` have passed [`PlanLimits::check`].
/// Tenants on it feel the change within two seconds.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &AdminDb,
    name: &PlanName,
    limits: &PlanLimits,
    by: By,
) -> Result<bool, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let act = match make_or_lock(&mut tx, name, limits).await? {
        None => Act::new("plan.put", "plan", name).to(audit_value(limits)),
        Some(before) if before == *limits => return Ok(false),
        Some(before) => {
            set(&mut tx, name, limits).await?;
            Act::new("plan.put", "plan", name).from(audit_value(&before)).to(audit_value(limits))
        }
    };
    let made = act.before.is_none();
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(made)
}

/// Stores a plan that is new. Of one that is there it changes nothing, locks it and says what it allows: in one statement, so
/// that of two who make the same plan at once one is audit_value of the other's.
async fn make_or_lock(
    tx: &mut PgConnection,
    name: &PlanName,
    limits: &PlanLimits,
) -> Result<Option<PlanLimits>, StoreError> {
    let query = sqlx::query!(
        r#"insert into plan as p (name, limits) values ($1, $2::text::jsonb)
            on conflict (name) do update set updated_at = p.updated_at
            returning xmax = 0 as "made!", limits::text as "limits!""#,
        name.as_str(),
        stored(limits)
    );
    let row = named("plan.make", query.fetch_optional(tx)).await?;
    row.filter(|row| !row.made).map(|row| limits_of(&row.limits)).transpose()
}

/// Changes a plan that is locked. Limits of a later release stay as they are.
async fn set(
    tx: &mut PgConnection,
    name: &PlanName,
    limits: &PlanLimits,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update plan set limits = limits || $2::text::jsonb, updated_at = now() where name = $1",
        name.as_str(),
        stored(limits)
    );
    named("plan.set", query.execute(tx)).await.map(|_| ())
}

/// Deletes a plan that no tenant is on, in the request of `by`; a deleted tenant that is not purged yet counts. `default` is always
/// in use: tenants begin with it, and are put on it when they are purged.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(db: &AdminDb, name: &PlanName, by: By) -> Result<Deleted, StoreError> {
    if *name == PlanName::default() {
        return Ok(Deleted::InUse);
    }
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query!(
        r#"delete from plan where name = $1 returning limits::text as "limits!""#,
        name.as_str()
    );
    let before = match named("plan.delete", query.fetch_optional(&mut *tx)).await {
        Ok(Some(row)) => limits_of(&row.limits)?,
        Ok(None) => return Ok(Deleted::NotFound),
        // A foreign key: the database decides, however two requests meet.
        Err(error) if error.sqlstate().as_deref() == Some("23503") => return Ok(Deleted::InUse),
        Err(error) => return Err(error),
    };
    let act = Act::new("plan.delete", "plan", name).from(audit_value(&before));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(Deleted::Yes)
}

/// What the audit shows of a plan.
fn audit_value(limits: &PlanLimits) -> Value {
    json!(limits)
}

/// The limits as the table holds them.
fn stored(limits: &PlanLimits) -> String {
    json!(limits).to_string()
}
