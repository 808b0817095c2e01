//! A task in JSON: what a client sends (`spec`), whether it makes sense (`check`), what it gets back (`view`).

mod check;
mod findings;
mod http;
mod pool;
mod run;
mod spec;
mod text;
mod view;
mod warning;

pub use check::{Origin, Rules};
pub use findings::Findings;
pub use pool::usable;
pub use spec::{CommandSpec, HttpSpec, NoopSpec, ResourcesSpec, RetrySpec, RunSpec, TaskSpec};
pub(crate) use text::{check_tenant_name, duration, short_text, time};
pub use view::{submitted_json, task, task_without_run};
pub use warning::Need;
pub(crate) use warning::{no_pool, schedules_held, warnings};
