//! Who a request comes from, and what it may do: API keys, users, sign-ins, permissions. No web server in it.
//!
//! [`Authenticator`] turns the text of a credential into a [`Caller`], [`OperatorAuthenticator`] into an [`Operator`]; [`Sessions`] signs
//! users in. Used by `api`, and by whatever else serves people. What acts for a tenant takes a `Caller`, what acts for the platform an
//! `Operator`: without one it cannot be called.

mod attempts;
mod authenticate;
pub mod base62;
mod cache;
mod caller;
mod completion;
mod error;
mod fair_queue;
pub mod key;
mod one_time;
mod operator;
mod password;
mod peer;
mod refused;
pub mod rules;
mod session;
mod sign_in;
mod standing;
pub mod token;
mod used;
mod webhook;

pub use authenticate::Authenticator;
pub use caller::{Actor, Caller};
pub use completion::Completer;
pub use domain::access::{OperatorScope, Permission, Scope, ScopeSet};
pub use error::IdentityError;
pub use operator::{Operator, OperatorAuthenticator};
pub use password::PasswordError;
pub use peer::Peer;
pub use session::{NewAccount, Password, PasswordChange, Session, Sessions};
pub use used::UsedKeys;
pub use webhook::signing_secret;
