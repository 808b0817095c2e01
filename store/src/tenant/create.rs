//! Creates a tenant.

use crate::StoreError;
use crate::audit::{self, Act, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::{PlanName, TenantId};
use serde_json::json;

/// A tenant to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTenant {
    /// Its id, made by the caller.
    pub id: TenantId,
    /// Its name: 1 to 200 characters, unique among those that are not purged.
    pub name: String,
    /// The plan it is on.
    pub plan: PlanName,
    /// Its share where tenants compete: more than 0, up to 1000. `None`: the plan's.
    pub weight: Option<f64>,
}

impl NewTenant {
    /// On the default plan, with a fresh id.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let plan = PlanName::default();
        Self { id: TenantId::fresh(), name: name.to_owned(), plan, weight: None }
    }
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It is stored.
    Yes,
    /// Another tenant has the name.
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
        "insert into tenant (id, name, plan, weight) values ($1, $2, $3, $4) on conflict (name) do nothing",
        tenant.id.uuid(),
        tenant.name,
        tenant.plan.as_str(),
        tenant.weight
    );
    match named("tenant.create", query.execute(&mut *tx)).await {
        Ok(done) if done.rows_affected() == 1 => {}
        Ok(_) => return Ok(Created::NameTaken),
        Err(error) if super::is_foreign_key(&error) => return Ok(Created::NoSuchPlan),
        Err(error) => return Err(error),
    }
    let told = json!({"name": tenant.name, "plan": tenant.plan, "weight": tenant.weight});
    let act = Act::new("tenant.create", "tenant", tenant.id).to(told);
    audit::told_in(tx, tenant.id, by, act).await?;
    Ok(Created::Yes)
}
