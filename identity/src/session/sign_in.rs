//! Signs a user in with a password.
//!
//! The rule: whoever guesses learns nothing. An unknown tenant, an unknown address and a wrong password are the same answer after
//! the same work.

use super::sessions::{Session, Sessions};
use crate::attempts::Trying;
use crate::error::IdentityError;
use crate::one_time::{Purpose, generate};
use crate::peer::Peer;
use crate::token::Bearer;
use domain::audit::By;
use domain::id::SignInId;
use domain::name::TenantName;
use secrecy::SecretString;
use store::sign_in::NewSignIn;

/// Longest text that is looked at.
const MAX_TEXT: usize = 1024;

/// A user's tenant, address and password, as they were sent.
#[derive(Debug)]
pub struct Password<'a> {
    /// The tenant's name.
    pub tenant: &'a str,
    /// The user's e-mail address.
    pub email: &'a str,
    /// The password.
    pub password: SecretString,
}

impl Sessions {
    /// Signs in, from `peer` where that is known.
    ///
    /// # Errors
    /// `Unauthenticated`; `TooManyAttempts`; `NoSignIn`; when too many passwords wait; what the database said.
    pub async fn sign_in(
        &self,
        sent: Password<'_>,
        peer: Option<Peer>,
        by: By,
    ) -> Result<Session, IdentityError> {
        self.require_sign_in()?;
        let (tenant, email) = (sent.tenant, sent.email.trim().to_lowercase());
        let plain = |text: &str| text.len() <= MAX_TEXT && !text.contains('\0');
        if !plain(tenant) || !plain(&email) {
            return Err(refused());
        }
        // Counted by what the name is taken for, or each way to write it would have tries of its own.
        let name_key = TenantName::key_of(tenant);
        let mut counted = self.attempts.begin(Trying { tenant: &name_key, email: &email, peer })?;
        let turn = self.passwords.turn(peer).await?;
        self.attempts.count(&self.db, &mut counted).await?;
        let account = store::sign_in::account(&self.db, tenant, &email).await?;
        let hash = account.as_ref().map(|account| account.password_hash.clone());
        let right = self.passwords.is_right(&turn, sent.password, hash).await?;
        let known = account.as_ref().map(|account| (account.tenant, account.user));
        let Some(account) = account.filter(|_| right) else {
            let peer = peer.map(|peer| peer.to_string());
            store::sign_in::refused(&self.db, known, peer, by).await?;
            return Err(refused());
        };
        self.attempts.right(&self.db, &counted).await?;
        let refresh = generate(Purpose::Refresh)?;
        let new = NewSignIn {
            id: SignInId::fresh(),
            tenant: account.tenant,
            user: account.user,
            token_version: account.token_version,
            refresh_hash: refresh.hash,
            life: self.refresh_token_life,
        };
        let bearer = Bearer { sign_in: new.id, tenant: new.tenant, user: new.user };
        store::sign_in::begin(&self.db, new, by).await?;
        self.session(bearer, refresh.text)
    }
}

fn refused() -> IdentityError {
    IdentityError::Unauthenticated("Wrong tenant, address or password.".into())
}
