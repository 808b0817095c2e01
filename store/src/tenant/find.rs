//! Finds tenants, for the platform's operators.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::plan::name_of;
use crate::statement::named;
use domain::id::{PlanName, TenantId};
use domain::name::TenantName;
use domain::tenant::TenantState;
use domain::time::Timestamp;
use uuid::Uuid;

/// A tenant as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantRecord {
    /// Its id.
    pub id: TenantId,
    /// Counts its changes, from 1.
    pub version: i64,
    /// Its name; `None` once it is purged.
    pub name: Option<String>,
    /// The plan it is on.
    pub plan: PlanName,
    /// Its own weight; `None` is the plan's.
    pub weight: Option<f64>,
    /// How it stands.
    pub state: TenantState,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when it is suspended, where it is.
    pub suspended_at: Option<Timestamp>,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// When the last of its data was gone.
    pub purged_at: Option<Timestamp>,
}

pub(super) struct TenantRow {
    pub(super) id: Uuid,
    pub(super) version: i64,
    pub(super) name: Option<String>,
    pub(super) plan: String,
    pub(super) weight: Option<f64>,
    pub(super) state: String,
    pub(super) created_at: Timestamp,
    pub(super) suspended_at: Option<Timestamp>,
    pub(super) deleted_at: Option<Timestamp>,
    pub(super) purged_at: Option<Timestamp>,
}

impl TryFrom<TenantRow> for TenantRecord {
    type Error = StoreError;

    fn try_from(row: TenantRow) -> Result<Self, StoreError> {
        let state = super::state_of(&row.state, row.id)?;
        Ok(Self {
            id: TenantId(row.id),
            version: row.version,
            name: row.name,
            plan: name_of(row.plan)?,
            weight: row.weight,
            state,
            created_at: row.created_at,
            suspended_at: row.suspended_at,
            deleted_at: row.deleted_at,
            purged_at: row.purged_at,
        })
    }
}

/// The id of the tenant of this name, or of the one whose name is taken for it.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_by_name(db: &AdminDb, name: &str) -> Result<Option<TenantId>, StoreError> {
    let query = sqlx::query_scalar!(
        "select id from tenant where name = $1 or name_key = $2 and name is not null order by name = $1 desc limit 1",
        name,
        TenantName::key_of(name)
    );
    Ok(named("tenant.find_by_name", query.fetch_optional(db.pool())).await?.map(TenantId))
}

/// The tenant with this id.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(db: &AdminDb, id: TenantId) -> Result<Option<TenantRecord>, StoreError> {
    let query = sqlx::query_as!(
        TenantRow,
        "select id, version, name, plan, weight, state, created_at, suspended_at, deleted_at, purged_at from tenant where id = $1",
        id.uuid()
    );
    named("tenant.get", query.fetch_optional(db.pool())).await?.map(TryInto::try_into).transpose()
}

/// Tenants newest first, older than `before`, at most `limit`; in one state where one is named.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &AdminDb,
    state: Option<TenantState>,
    before: Option<TenantId>,
    limit: u32,
) -> Result<Vec<TenantRecord>, StoreError> {
    let query = sqlx::query_as!(
        TenantRow,
        "select id, version, name, plan, weight, state, created_at, suspended_at, deleted_at, purged_at from tenant
            where ($1::text is null or state = $1) and ($2::uuid is null or id < $2)
            order by id desc limit $3",
        state.map(TenantState::as_str),
        before.map(TenantId::uuid),
        i64::from(limit)
    );
    let rows = named("tenant.list", query.fetch_all(db.pool())).await?;
    rows.into_iter().map(TryInto::try_into).collect()
}
