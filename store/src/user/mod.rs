//! Users: a tenant's people, and what they may do there.

mod accept;
mod change;
mod create;
mod get;
mod info;
mod list;
mod password;
mod put;

pub use accept::{Accepted, accept, invited};
pub use change::{Change, Changed, WantedChange, change};
pub use create::{Created, Entry, NewUser, create};
pub use get::{find_by_email, get};
pub use info::{UserInfo, UserState};
pub use list::list;
pub use password::{NewPassword, change_password, password_hash};
pub use put::{PutUser, UserStored, WhichUser, put};
