//! Who may say how an attempt ended: whoever has the token that its call carried.

use crate::error::IdentityError;
use domain::id::TaskId;
use domain::task::{CompletionToken, LeaseKey};
use secrecy::{ExposeSecret, SecretString};
use store::TenantScope;
use store::connect::ApiDb;
use store::task::granted;

/// One text for every token that is not good, so that nobody learns which tasks there are.
const NOT_GOOD: &str = "The completion token is not valid for this task. The call of the task carried it as `Berth-Completion-Token`; \
     each attempt has its own.";

/// The right to end one attempt.
#[derive(Debug, Clone, Copy)]
pub struct Completer {
    scope: TenantScope,
    lease: LeaseKey,
}

impl Completer {
    /// Whoever has `token`, which must be of an attempt of `task`; the attempt may be over.
    ///
    /// # Errors
    /// [`IdentityError::Unauthenticated`] for any other token; what the database said.
    pub async fn authenticate(
        db: &ApiDb,
        task: TaskId,
        token: &SecretString,
    ) -> Result<Self, IdentityError> {
        let refused = || IdentityError::Unauthenticated(NOT_GOOD.into());
        let token: CompletionToken = token.expose_secret().parse().map_err(|_| refused())?;
        // Only to read whose token it would be; nothing of it is told unless it is.
        let scope = TenantScope::authenticated(token.tenant());
        let lease = granted(db, &scope, task, token.attempt()).await?;
        let lease = lease.filter(|lease| token.is_of(lease)).ok_or_else(refused)?;
        Ok(Self { scope, lease })
    }

    /// The tenant whose task it is.
    #[must_use]
    pub const fn scope(&self) -> &TenantScope {
        &self.scope
    }

    /// The attempt's lease, as it was granted.
    #[must_use]
    pub const fn lease(&self) -> LeaseKey {
        self.lease
    }
}
