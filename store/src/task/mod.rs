//! Tasks: submitted, read, chosen, and moved.

mod called;
mod completion;
mod explain;
mod find;
mod get;
mod held;
pub mod lever;
mod queued;
mod record;
pub(crate) mod reserve;
mod result;
mod runs;
mod select_ready;
pub(crate) mod spec;
pub mod submit;
pub mod transition;
mod wake;

pub use called::{EndedCalls, end_called};
pub use completion::{Completion, CompletionAnswer, complete, granted};
pub use explain::{UnsentDue, UnsentTask, explain, explain_unsent};
pub(crate) use find::first_id_of;
pub use find::{LabelFilter, TaskFilter, find, find_page};
pub use get::get;
pub use held::held;
pub use queued::queued;
pub(crate) use record::executor_of;
pub use record::{TaskRecord, TaskReservation};
pub use result::result;
pub use runs::add_runs;
pub use select_ready::{ReadyStrand, ReadyTask, Selection, SelectionQuery, select_ready};
pub use wake::{DueTask, Woken, due_for_a_look, due_within, stale_hints};

pub(crate) use crate::scoped::{scoped, scoped_read};
