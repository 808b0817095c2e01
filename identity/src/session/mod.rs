//! Users sign in, stay signed in and change their password; customers sign up; invited users set a first password.

mod accept;
mod change_password;
mod refresh;
mod sessions;
mod sign_in;
mod sign_up;

pub use change_password::PasswordChange;
pub use sessions::{Session, Sessions};
pub use sign_in::Password;
pub use sign_up::NewAccount;
