//! Whether whoever acts may still act, in the transaction (of an `ApiDb`) of what they do.
//!
//! The api lets a request in by what it looked up a moment ago (`api.key_cache_ttl`). Most of what a credential does in the moment after
//! its end ends with that moment. The rule: what gives access that outlives it, a key or a user, asks here, so that an end that
//! was told has no way around it. The lock holds an end off until the change is there.

use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::audit::Actor;
use sqlx::PgConnection;

/// False when the key or the sign-in of whoever acts in `scope` is over.
///
/// # Errors
/// When the database cannot answer.
pub(crate) async fn is_live(
    tx: &mut PgConnection,
    scope: &TenantScope,
) -> Result<bool, StoreError> {
    let tenant = scope.tenant().uuid();
    let live = match scope.by().actor {
        Actor::Key(key) => {
            let query = sqlx::query_scalar!(
                r#"select true as "live!" from api_key
                    where tenant_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
                    for share"#,
                tenant,
                key.to_string()
            );
            named("actor.key", query.fetch_optional(tx)).await?
        }
        Actor::User(user, Some(sign_in)) => {
            let query = sqlx::query_scalar!(
                r#"select true as "live!" from sign_in s join app_user u on u.tenant_id = s.tenant_id and u.id = s.user_id
                    where s.tenant_id = $1 and s.id = $2 and s.user_id = $3 and s.ended_at is null and s.expires_at > now()
                        and u.state = 'active' and u.token_version = s.token_version
                    for share of s"#,
                tenant,
                sign_in.uuid(),
                user.uuid()
            );
            named("actor.sign_in", query.fetch_optional(tx)).await?
        }
        // They come with nothing that a tenant could end.
        Actor::User(_, None)
        | Actor::Operator(_)
        | Actor::Command(_)
        | Actor::Nobody
        | Actor::System => Some(true),
    };
    Ok(live.is_some())
}
