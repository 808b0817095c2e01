//! Changes a user's own password.
//!
//! The rule: who has found a browser open is not who knows the password. So the old one is asked for, and guesses at it are counted.

use super::sessions::Sessions;
use crate::error::IdentityError;
use crate::peer::Peer;
use domain::id::{SignInId, UserId};
use secrecy::SecretString;
use store::TenantScope;
use store::connect::ApiDb;
use store::user::NewPassword;

/// Whose password, and by what it is replaced.
#[derive(Debug)]
pub struct PasswordChange {
    /// The user.
    pub user: UserId,
    /// The sign-in that asks, which goes on.
    pub sign_in: SignInId,
    /// Where it comes from, if that is known.
    pub peer: Option<Peer>,
    /// The present password, as it was sent.
    pub old: SecretString,
    /// The new one.
    pub new: SecretString,
}

impl Sessions {
    /// Changes it, and returns how many other sign-ins ended.
    ///
    /// # Errors
    /// `WrongPassword`; `TooManyAttempts`; when too many passwords wait; what the database said.
    pub async fn change_password(
        &self,
        db: &ApiDb,
        scope: &TenantScope,
        change: PasswordChange,
    ) -> Result<u64, IdentityError> {
        let PasswordChange { user, sign_in, peer, old: sent, new } = change;
        let turn = self.passwords.turn(peer).await?;
        self.attempts.count_old_password(&self.db, user).await?;
        let old = store::user::password_hash(db, scope, user).await?.unwrap_or_default();
        if old.is_empty() || !self.passwords.is_right(&turn, sent, Some(old.clone())).await? {
            return Err(IdentityError::WrongPassword);
        }
        self.attempts.knew_old_password(&self.db, user).await?;
        let new = self.passwords.hash(&turn, new).await?;
        let password = NewPassword { user, sign_in, old_hash: &old, new_hash: &new };
        let ended = store::user::change_password(db, scope, password).await?;
        // It became another one since it was compared.
        ended.ok_or(IdentityError::WrongPassword)
    }
}
