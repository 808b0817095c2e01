//! Keys of the platform's operators.

mod create;
mod find;
mod info;
mod list;
mod revoke;
mod rotate;
mod touch;

pub use create::{NewOperatorKey, create};
pub use find::{OperatorKeyRecord, find};
pub use info::OperatorKeyInfo;
pub use list::list;
pub use revoke::revoke;
pub use rotate::{Rotated, rotate};
pub use touch::touch_last_used;
