//! Stores a tenant under its name, new or as it is from now on.

use super::find::{TenantRecord, TenantRow};
use super::stand::{to_active, to_suspended};
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::{PlanName, TenantId};
use domain::name::TenantName;
use domain::tenant::TenantState;
use serde_json::{Value, json};
use sqlx::PgConnection;

/// How a tenant is to be, all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PutTenant {
    /// The plan it is on.
    pub plan: PlanName,
    /// Its share where tenants compete: more than 0, up to 1000. `None`: the plan's.
    pub weight: Option<f64>,
    /// Whether it is suspended.
    pub suspended: bool,
}

impl PutTenant {
    const fn state(&self) -> TenantState {
        if self.suspended { TenantState::Suspended } else { TenantState::Active }
    }
}

/// Which tenant is to be stored.
#[derive(Debug, Clone, PartialEq)]
pub enum WhichTenant {
    /// One that is there.
    Id(TenantId),
    /// The one of this name, or whose name is taken for it; a new one where there is none.
    Name(TenantName),
}

/// What became of a tenant that was to be stored.
#[derive(Debug, Clone, PartialEq)]
pub enum TenantStored {
    /// It is new.
    Created(TenantRecord),
    /// It is changed.
    Updated(TenantRecord),
    /// It was so.
    Unchanged(TenantRecord),
    /// It is in this version, and not in the one that was asked for; `None`: there is none.
    VersionMismatch {
        /// The version.
        version: Option<i64>,
    },
    /// It is deleted, and has its name until it is purged.
    Deleted,
    /// There is none with this id.
    NotFound,
    /// There is no such plan.
    NoSuchPlan,
}

/// Stores a tenant in the request of `by`: with `if_version` only in that version, with 0 only where there is none. A change acts within
/// two seconds, on what waits too.
///
/// # Errors
/// When the weight is out of range, or the database cannot answer.
pub async fn put(
    db: &AdminDb,
    which: &WhichTenant,
    if_version: Option<i64>,
    put: &PutTenant,
    by: By,
) -> Result<TenantStored, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    // Made first, so that of two who make the same tenant at once one finds the other's.
    let made = match which {
        WhichTenant::Name(name) if if_version.is_none_or(|version| version == 0) => {
            make(&mut tx, name, put).await
        }
        WhichTenant::Id(_) | WhichTenant::Name(_) => Ok(None),
    };
    let made = match made {
        Err(error) if super::is_foreign_key(&error) => return Ok(TenantStored::NoSuchPlan),
        made => made?,
    };
    let is_new = made.is_some();
    let Some(before) = lock(&mut tx, &made.map_or_else(|| which.clone(), WhichTenant::Id)).await?
    else {
        return Ok(match which {
            WhichTenant::Id(_) => TenantStored::NotFound,
            WhichTenant::Name(_) => TenantStored::VersionMismatch { version: None },
        });
    };
    if before.state == TenantState::Deleted {
        return Ok(TenantStored::Deleted);
    }
    if !is_new && if_version.is_some_and(|wanted| wanted != before.version) {
        return Ok(TenantStored::VersionMismatch { version: Some(before.version) });
    }
    let as_asked = before.plan == put.plan && before.weight == put.weight;
    if as_asked && before.state == put.state() && !is_new {
        return Ok(TenantStored::Unchanged(before));
    }
    if !as_asked {
        match set(&mut tx, before.id, put).await {
            Err(error) if super::is_foreign_key(&error) => return Ok(TenantStored::NoSuchPlan),
            set => set?,
        }
    }
    if put.suspended {
        to_suspended(&mut tx, before.id).await?;
    } else {
        to_active(&mut tx, before.id).await?;
    }
    let after = lock(&mut tx, &WhichTenant::Id(before.id)).await?.ok_or(StoreError::Contended)?;
    let act = Act::new(AuditAction::TenantPut, after.id).to(audit_value(&after));
    let act = if is_new { act } else { act.from(audit_value(&before)) };
    audit::record_and_commit(tx, after.id, by, act).await?;
    Ok(if is_new { TenantStored::Created(after) } else { TenantStored::Updated(after) })
}

/// Stores a tenant that is new; `None` where there is one of this name.
async fn make(
    tx: &mut PgConnection,
    name: &TenantName,
    put: &PutTenant,
) -> Result<Option<TenantId>, StoreError> {
    let query = sqlx::query_scalar!(
        "insert into tenant (id, name, name_key, plan, weight) values ($1, $2, $3, $4, $5) on conflict do nothing returning id",
        TenantId::fresh().uuid(),
        name.as_str(),
        name.key(),
        put.plan.as_str(),
        put.weight
    );
    Ok(named("tenant.make", query.fetch_optional(tx)).await?.map(TenantId))
}

/// How a tenant is, to the end of the transaction.
async fn lock(
    tx: &mut PgConnection,
    which: &WhichTenant,
) -> Result<Option<TenantRecord>, StoreError> {
    let row = match which {
        WhichTenant::Id(id) => {
            let query = sqlx::query_as!(
                TenantRow,
                "select id, version, name, plan, weight, state, created_at, suspended_at, deleted_at, purged_at from tenant
                    where id = $1 for no key update",
                id.uuid()
            );
            named("tenant.lock_id", query.fetch_optional(tx)).await?
        }
        WhichTenant::Name(name) => {
            let query = sqlx::query_as!(
                TenantRow,
                "select id, version, name, plan, weight, state, created_at, suspended_at, deleted_at, purged_at from tenant
                    where name = $1 or name_key = $2 and name is not null order by name = $1 desc limit 1 for no key update",
                name.as_str(),
                name.key()
            );
            named("tenant.lock_name", query.fetch_optional(tx)).await?
        }
    };
    row.map(TryInto::try_into).transpose()
}

/// Changes plan and weight of a tenant that is locked.
async fn set(tx: &mut PgConnection, id: TenantId, put: &PutTenant) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update tenant set plan = $2, weight = $3 where id = $1",
        id.uuid(),
        put.plan.as_str(),
        put.weight
    );
    named("tenant.set", query.execute(tx)).await.map(|_| ())
}

/// What the audit shows of a tenant.
fn audit_value(tenant: &TenantRecord) -> Value {
    json!({"name": tenant.name, "plan": tenant.plan, "weight": tenant.weight, "state": tenant.state.as_str()})
}
