//! API keys: who a request comes from.

mod create;
mod find;
mod touch;

pub use create::{NewKey, create};
pub use find::{KeyRecord, find};
pub use touch::touch_last_used;
