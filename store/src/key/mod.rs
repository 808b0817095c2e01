//! API keys: who a request comes from.

mod create;
mod create_own;
mod find;
mod get;
mod info;
mod list;
mod purge;
mod revoke;
mod rotate;
mod touch;

pub use create::{NewKey, create};
pub use create_own::{Created, NewOwnKey, create_own};
pub use find::{KeyRecord, find};
pub use get::get;
pub use info::KeyInfo;
pub use list::{KeyPosition, list};
pub use purge::purge;
pub use revoke::revoke;
pub(crate) use revoke::revoke_of_user;
pub use rotate::{NewSecret, Rotated, Rotation, rotate};
pub use touch::touch_last_used;
