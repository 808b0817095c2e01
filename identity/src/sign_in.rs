//! From an access token to the user who asks.
//!
//! Called by `authenticate` for what has the form of a token. The token only names a sign-in: whether that is over, and what its
//! user may do now, is looked up and kept as long as for API keys. So signing out, removing a user and changing a role are
//! felt within `api.key_cache_ttl`, whatever life is left to the token.

use crate::cache::{Cache, CachedCredential, Lookup, local};
use crate::error::IdentityError;
use crate::peer::Peer;
use crate::standing::Standing;
use crate::token::Tokens;
use domain::access::{PermissionSet, Role};
use domain::id::{SignInId, TenantId, UserId};
use domain::tenant::TenantState;
use runtime::clock::{Instant, monotonic};
use std::sync::Arc;
use std::time::Duration;
use store::connect::SubmitDb;
use store::sign_in::SignInRecord;

/// A sign-in that exists.
#[derive(Debug, Clone)]
pub(crate) struct KnownSignIn {
    pub tenant: TenantId,
    pub user: UserId,
    pub permissions: PermissionSet,
    pub standing: Standing,
    usable: bool,
    expires: Instant,
}

impl CachedCredential for KnownSignIn {
    type Id = SignInId;
    type Record = SignInRecord;

    fn of(record: SignInRecord, asked_at: Instant) -> Option<Self> {
        let role: Role = record.role.parse().ok()?;
        Some(Self {
            tenant: record.tenant,
            user: record.user,
            permissions: role.permissions().with(PermissionSet::OF_EVERY_USER),
            usable: record.usable && record.tenant_state != TenantState::Deleted,
            standing: Standing {
                state: record.tenant_state,
                plan: record.plan,
                limits: record.limits,
            },
            expires: local(record.expires_at, record.now, asked_at),
        })
    }
}

/// Checks access tokens against the sign-ins that are stored.
#[derive(Debug)]
pub(crate) struct SignIns {
    tokens: Arc<Tokens>,
    cache: Cache<KnownSignIn>,
}

impl SignIns {
    /// Answers are kept for `ttl`.
    pub(crate) fn new(tokens: Arc<Tokens>, ttl: Duration) -> Self {
        Self { tokens, cache: Cache::new(ttl) }
    }

    /// Whose token this is.
    pub(crate) async fn authenticate(
        &self,
        token: &str,
        peer: Option<Peer>,
        db: &SubmitDb,
    ) -> Result<(SignInId, KnownSignIn), IdentityError> {
        let bearer = self.tokens.read(token).ok_or_else(rejected)?;
        let find = || store::sign_in::find(db, bearer.sign_in);
        match self.cache.get((bearer.sign_in, peer), find).await.1 {
            Lookup::Found(known)
                if known.usable
                    && monotonic() < known.expires
                    && (known.tenant, known.user) == (bearer.tenant, bearer.user) =>
            {
                Ok((bearer.sign_in, known))
            }
            Lookup::Found(_) | Lookup::Unknown => Err(rejected()),
            Lookup::Failed(error) => Err(IdentityError::Unchecked(error)),
        }
    }
}

/// In the same words, whatever is wrong with it.
pub(crate) fn rejected() -> IdentityError {
    IdentityError::Unauthenticated("The access token is invalid or its sign-in has ended.".into())
}
