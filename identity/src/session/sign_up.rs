//! Makes a customer of somebody who has no account: a tenant, its owner, and a first sign-in.
//!
//! The rule: nobody learns from it who is a customer by their address. Addresses belong to tenants, and the new one has none yet;
//! that a name is taken cannot be hidden from whoever wants it.

use super::sessions::{Session, Sessions};
use crate::error::IdentityError;
use crate::one_time::{Purpose, generate};
use crate::peer::Peer;
use crate::token::Bearer;
use domain::audit::By;
use domain::id::{SignInId, TenantId, UserId};
use domain::name::TenantName;
use secrecy::SecretString;
use store::sign_in::{NewCustomer, NewSignIn};
use store::tenant::Created;

/// Of a user who has never changed the password.
const FIRST_VERSION: i32 = 1;

/// A customer to be.
#[derive(Debug)]
pub struct NewAccount {
    /// The tenant's name.
    pub tenant: TenantName,
    /// The owner's address, in lower case.
    pub email: String,
    /// The owner's password.
    pub password: SecretString,
}

impl Sessions {
    /// Makes the tenant and its owner, and signs the owner in.
    ///
    /// # Errors
    /// `NoSignIn`, `NoSignUp`; `NameTaken`; `TooManyAttempts`; when too many passwords wait; what the database said.
    pub async fn sign_up(
        &self,
        new: NewAccount,
        peer: Option<Peer>,
        by: By,
    ) -> Result<Session, IdentityError> {
        let plan = self.require_sign_up()?;
        let turn = self.passwords.turn(peer).await?;
        self.attempts.count_sign_up(&self.db, peer).await?;
        let password_hash = self.passwords.hash(&turn, new.password).await?;
        let refresh = generate(Purpose::Refresh)?;
        let sign_in = NewSignIn {
            id: SignInId::fresh(),
            tenant: TenantId::fresh(),
            user: UserId::fresh(),
            token_version: FIRST_VERSION,
            refresh_hash: refresh.hash,
            life: self.refresh_token_life,
        };
        let bearer = Bearer { sign_in: sign_in.id, tenant: sign_in.tenant, user: sign_in.user };
        let (name, email) = (new.tenant, new.email);
        let customer = NewCustomer { name, plan: plan.clone(), email, password_hash, sign_in };
        match store::sign_in::sign_up(&self.db, customer, by).await? {
            Created::Yes => self.session(bearer, refresh.text),
            Created::NameTaken => Err(IdentityError::NameTaken),
            Created::NoSuchPlan => {
                tracing::error!(%plan, "Nobody can sign up: there is no plan `{plan}`, which `auth.sign_up_plan` names");
                Err(IdentityError::NoSignUp)
            }
        }
    }
}
