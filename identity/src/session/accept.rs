//! Accepts an invitation: its token sets a first password.

use super::sessions::Sessions;
use crate::error::IdentityError;
use crate::one_time::{Purpose, presented};
use crate::peer::Peer;
use domain::audit::By;
use secrecy::{ExposeSecret, SecretString};
use store::user::Accepted;

impl Sessions {
    /// Sets the password of whoever was invited with this token.
    ///
    /// # Errors
    /// `Unauthenticated` for a token that is not good; `NoSignIn`; when too many passwords wait; what the database said.
    pub async fn accept(
        &self,
        token: &SecretString,
        password: SecretString,
        peer: Option<Peer>,
        by: By,
    ) -> Result<Accepted, IdentityError> {
        self.require_sign_in()?;
        let hash = presented(Purpose::Invitation, token.expose_secret()).ok_or_else(refused)?;
        let turn = self.passwords.turn(peer).await?;
        // Hashing is work, and is done for nobody who has made a token up.
        if !store::user::invited(&self.db, &hash).await? {
            return Err(refused());
        }
        let password = self.passwords.hash(&turn, password).await?;
        store::user::accept(&self.db, &hash, &password, by).await?.ok_or_else(refused)
    }
}

fn refused() -> IdentityError {
    IdentityError::Unauthenticated(
        "The invitation is invalid or was already used; ask for a new one.".into(),
    )
}
