//! A task in JSON: whether what a client sends makes sense (`check`), what it gets back (`view`).

mod check;
mod dependencies;
mod findings;
mod http;
mod offline;
mod pool;
mod run;
mod text;
mod view;
mod warning;

pub(crate) use check::read_labels;
pub use check::{Origin, Rules};
pub use dependencies::{Links, Siblings, UNKNOWN_PARENT};
pub use findings::Findings;
pub use offline::OfflineRules;
pub use pool::usable;
pub(crate) use text::{check_tenant_name, duration, read, short_text};
pub use view::{task, task_without_run};
pub use warning::Need;
pub(crate) use warning::{no_pool, schedules_held, warnings};
