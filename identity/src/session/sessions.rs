//! What signing in needs, shared by all requests of a process, and what whoever signs in gets.

use crate::attempts::Attempts;
use crate::error::IdentityError;
use crate::fair_queue::FairQueue;
use crate::key::KeyHasher;
use crate::one_time::{Purpose, generate};
use crate::password::{PasswordError, Passwords};
use crate::peer::Peer;
use crate::token::{Bearer, Tokens};
use chrono::TimeDelta;
use domain::id::PlanName;
use runtime::clock::wall;
use runtime::config::AuthConfig;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;
use store::connect::SubmitDb;
use store::user::Entry;

/// Refreshes at once: the connections for signing in that comparing passwords leaves.
const REFRESHES: usize = 2;

/// Signs users in and keeps them signed in.
#[derive(Debug)]
pub struct Sessions {
    /// For those who have no credential yet.
    pub(super) db: SubmitDb,
    pub(super) attempts: Attempts,
    pub(super) passwords: Passwords,
    /// Those who stay signed in.
    pub(super) refreshes: FairQueue,
    pub(super) refresh_token_life: Duration,
    /// Where users can sign in.
    tokens: Option<Arc<Tokens>>,
    invitation_life: Duration,
    /// The plan of customers who sign up; none where nobody can.
    sign_up_plan: Option<PlanName>,
}

/// An access token and a refresh token.
#[derive(Debug)]
pub struct Session {
    /// The bearer.
    pub bearer: Bearer,
    /// The access token.
    pub access_token: String,
    /// Until that expires.
    pub expires_in: Duration,
    /// Works once.
    pub refresh_token: SecretString,
}

impl Sessions {
    /// Without `tokens` nobody can sign in. `db` is for those who have no credential yet.
    ///
    /// # Errors
    /// When passwords cannot be hashed.
    pub fn new(
        config: &AuthConfig,
        hasher: &KeyHasher,
        tokens: Option<Arc<Tokens>>,
        db: SubmitDb,
    ) -> Result<Self, PasswordError> {
        Ok(Self {
            db,
            attempts: Attempts::new(hasher),
            passwords: Passwords::new()?,
            refreshes: FairQueue::new(REFRESHES),
            refresh_token_life: config.refresh_token_life,
            tokens,
            invitation_life: config.invitation_life,
            sign_up_plan: config.sign_up_plan.clone(),
        })
    }

    /// Refuses where users cannot sign in. Asked before anything of a request is read.
    ///
    /// # Errors
    /// `NoSignIn`.
    pub fn require_sign_in(&self) -> Result<(), IdentityError> {
        self.tokens().map(drop)
    }

    /// The plan of those who sign up.
    ///
    /// # Errors
    /// `NoSignIn`, `NoSignUp`.
    pub fn require_sign_up(&self) -> Result<&PlanName, IdentityError> {
        self.require_sign_in()?;
        self.sign_up_plan.as_ref().ok_or(IdentityError::NoSignUp)
    }

    /// The hash to store of a new password.
    ///
    /// # Errors
    /// When too many are waiting, or the system gives no random bytes.
    pub async fn hash(
        &self,
        password: SecretString,
        peer: Option<Peer>,
    ) -> Result<String, IdentityError> {
        let turn = self.passwords.turn(peer).await?;
        Ok(self.passwords.hash(&turn, password).await?)
    }

    /// An invitation, and its token.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn invitation(&self) -> Result<(Entry, SecretString), IdentityError> {
        let token = generate(Purpose::Invitation)?;
        let life = TimeDelta::from_std(self.invitation_life).unwrap_or_default();
        let entry = Entry::Invitation { hash: token.hash, expires_at: wall() + life };
        Ok((entry, token.text))
    }

    /// Issues the access token of a sign-in.
    pub(super) fn session(
        &self,
        bearer: Bearer,
        refresh_token: SecretString,
    ) -> Result<Session, IdentityError> {
        let tokens = self.tokens()?;
        let access_token = tokens.issue(bearer, wall())?;
        Ok(Session { bearer, access_token, expires_in: tokens.life(), refresh_token })
    }

    fn tokens(&self) -> Result<&Tokens, IdentityError> {
        self.tokens.as_deref().ok_or(IdentityError::NoSignIn)
    }
}
