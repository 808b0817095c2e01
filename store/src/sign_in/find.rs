//! Looks a sign-in up, before its tenant is known: what an access token is worth now.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::plan::{limits_of, name_of};
use crate::statement::named;
use domain::id::{PlanName, SignInId, TenantId, UserId};
use domain::plan::PlanLimits;
use domain::tenant::TenantState;
use domain::time::Timestamp;

/// A sign-in, its user and its tenant.
#[derive(Debug, Clone)]
pub struct SignInRecord {
    /// The tenant.
    pub tenant: TenantId,
    /// How that tenant stands.
    pub tenant_state: TenantState,
    /// What that tenant's plan allows.
    pub limits: PlanLimits,
    /// That plan's name.
    pub plan: PlanName,
    /// The user.
    pub user: UserId,
    /// The user's role now.
    pub role: String,
    /// False once it was ended, or its user was removed or has changed the password since.
    pub usable: bool,
    /// When it ends unless it is refreshed.
    pub expires_at: Timestamp,
    /// The database's time at the look-up.
    pub now: Timestamp,
}

/// The sign-in, ended ones too.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(db: &SubmitDb, id: SignInId) -> Result<Option<SignInRecord>, StoreError> {
    let query = sqlx::query!(
        r#"select s.tenant_id, s.user_id, s.expires_at, u.role, t.state, now() as "now!", t.plan,
                s.ended_at is null and u.state = 'active' and u.token_version = s.token_version as "usable!",
                p.limits::text as "limits!"
            from sign_in s join app_user u on u.id = s.user_id join tenant t on t.id = s.tenant_id
                join plan p on p.name = t.plan
            where s.id = $1"#,
        id.uuid()
    );
    let row = named("sign_in.find", query.fetch_optional(db.pool())).await?;
    row.map(|row| {
        let limits = limits_of(&row.limits)?;
        let tenant_state = crate::tenant::state_of(&row.state, row.tenant_id)?;
        Ok(SignInRecord {
            tenant: TenantId(row.tenant_id),
            tenant_state,
            limits,
            plan: name_of(row.plan)?,
            user: UserId(row.user_id),
            role: row.role,
            usable: row.usable,
            expires_at: row.expires_at,
            now: row.now,
        })
    })
    .transpose()
}
