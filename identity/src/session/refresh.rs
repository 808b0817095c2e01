//! Keeps a user signed in: a refresh token for new tokens. It works once; its reuse ends the sign-in, since it may be stolen.

use super::sessions::{Session, Sessions};
use crate::error::IdentityError;
use crate::one_time::{Purpose, generate, presented};
use crate::peer::Peer;
use crate::token::Bearer;
use domain::audit::By;
use secrecy::{ExposeSecret, SecretString};
use store::sign_in::{Refreshed, TokenSwap};

impl Sessions {
    /// New tokens for a refresh token.
    ///
    /// # Errors
    /// `Unauthenticated` for one that is unknown, used or over; `NoSignIn`; what the database said.
    pub async fn refresh(
        &self,
        token: &SecretString,
        peer: Option<Peer>,
        by: By,
    ) -> Result<Session, IdentityError> {
        self.require_sign_in()?;
        let old = presented(Purpose::Refresh, token.expose_secret()).ok_or_else(refused)?;
        let new = generate(Purpose::Refresh)?;
        // Not in the line of those who sign in: who is in already stays in while others knock.
        let _turn = self.refreshes.turn(peer).await;
        let life = self.refresh_token_life;
        let swap = TokenSwap { old: &old, new: &new.hash };
        match store::sign_in::refresh(&self.db, swap, life, by).await? {
            Refreshed::Done { sign_in, tenant, user } => {
                self.session(Bearer { sign_in, tenant, user }, new.text)
            }
            Refreshed::Reused(id) => {
                tracing::warn!(sign_in.id = %id, "A refresh token came twice: the sign-in `{id}` is over");
                Err(refused())
            }
            Refreshed::Refused => Err(refused()),
        }
    }
}

fn refused() -> IdentityError {
    IdentityError::Unauthenticated("The refresh token is invalid; sign in again.".into())
}
