//! Keys of the platform's operators.

mod create;
mod find;
mod touch;

pub use create::{NewOperatorKey, create};
pub use find::{OperatorKeyRecord, find};
pub use touch::touch_last_used;
