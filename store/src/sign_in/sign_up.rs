//! Makes a tenant with its owner, for a customer who signs up.

use super::begin::{NewSignIn, put};
use crate::StoreError;
use crate::audit::{self, Act, Actor, AuditAction, By};
use crate::connect::SubmitDb;
use crate::statement::named;
use crate::tenant::{Created, is_foreign_key};
use domain::access::Role;
use domain::id::PlanName;
use domain::name::TenantName;
use serde_json::json;

/// A customer.
#[derive(Debug, Clone)]
pub struct NewCustomer {
    /// The tenant's name, unlike that of any other tenant that is not purged.
    pub name: TenantName,
    /// The plan it begins with.
    pub plan: PlanName,
    /// The owner's address, in lower case.
    pub email: String,
    /// Argon2id, as a PHC string.
    pub password_hash: String,
    /// The owner's first sign-in; it names the tenant and the user.
    pub sign_in: NewSignIn,
}

/// Stores the tenant, its owner and their first sign-in, in the request of `by`.
///
/// # Errors
/// When the database cannot answer.
pub async fn sign_up(db: &SubmitDb, new: NewCustomer, by: By) -> Result<Created, StoreError> {
    let (tenant, user) = (new.sign_in.tenant, new.sign_in.user);
    let mut tx = named("begin", db.pool().begin()).await?;
    let make = sqlx::query!(
        "insert into tenant (id, name, name_key, plan) values ($1, $2, $3, $4) on conflict do nothing",
        tenant.uuid(),
        new.name.as_str(),
        new.name.key(),
        new.plan.as_str()
    );
    match named("tenant.sign_up", make.execute(&mut *tx)).await {
        Ok(done) if done.rows_affected() == 1 => {}
        Ok(_) => return Ok(Created::NameTaken),
        Err(error) if is_foreign_key(&error) => return Ok(Created::NoSuchPlan),
        Err(error) => return Err(error),
    }
    let own = sqlx::query!(
        "insert into app_user (id, tenant_id, email, role, state, password_hash) values ($1, $2, $3, $4, 'active', $5)",
        user.uuid(),
        tenant.uuid(),
        new.email,
        Role::Owner.as_str(),
        new.password_hash
    );
    named("user.sign_up", own.execute(&mut *tx)).await?;
    put(&mut tx, &new.sign_in).await?;
    let details =
        json!({"name": new.name.as_str(), "plan": new.plan, "user": user, "email": new.email});
    let act = Act::new(AuditAction::SessionSignUp, tenant).to(details);
    let by = by.as_actor(Actor::User(user, Some(new.sign_in.id)));
    audit::record_and_commit(tx, tenant, by, act).await?;
    Ok(Created::Yes)
}
