//! Creates a tenant.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::{PlanName, TenantId};
use domain::name::{ParseTenantNameError, TenantName};
use serde_json::json;

/// A tenant to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTenant {
    /// Its id, made by the caller.
    pub id: TenantId,
    /// Its name, unlike that of any other tenant that is not purged.
    pub name: TenantName,
    /// The plan it is on.
    pub plan: PlanName,
    /// Its share where tenants compete: more than 0, up to 1000. `None`: the plan's.
    pub weight: Option<f64>,
}

impl NewTenant {
    /// On the default plan, with a fresh id.
    ///
    /// # Errors
    /// When no tenant may have that name.
    pub fn named(name: &str) -> Result<Self, ParseTenantNameError> {
        let plan = PlanName::default();
        Ok(Self { id: TenantId::fresh(), name: name.parse()?, plan, weight: None })
    }
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It is stored.
    Yes,
    /// Another tenant has the name, or one that is taken for it.
    NameTaken,
    /// There is no such plan.
    NoSuchPlan,
}

/// Stores a tenant, in the request of `by`.
///
/// # Errors
/// When the name or the weight is out of range, or the database cannot answer.
pub async fn create(db: &AdminDb, tenant: &NewTenant, by: By) -> Result<Created, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query!(
        "insert into tenant (id, name, name_key, plan, weight) values ($1, $2, $3, $4, $5) on conflict do nothing",
        tenant.id.uuid(),
        tenant.name.as_str(),
        tenant.name.key(),
        tenant.plan.as_str(),
        tenant.weight
    );
    match named("tenant.create", query.execute(&mut *tx)).await {
        Ok(done) if done.rows_affected() == 1 => {}
        Ok(_) => return Ok(Created::NameTaken),
        Err(error) if super::is_foreign_key(&error) => return Ok(Created::NoSuchPlan),
        Err(error) => return Err(error),
    }
    let details =
        json!({"name": tenant.name.as_str(), "plan": tenant.plan, "weight": tenant.weight});
    let act = Act::new(AuditAction::TenantCreate, tenant.id).to(details);
    audit::record_and_commit(tx, tenant.id, by, act).await?;
    Ok(Created::Yes)
}
