//! Workflows: definitions under their names, runs of them, and what the nodes of runs wait for.
//!
//! A run is its row and its tasks, stored together. Its tasks are released and end as any task; what is more is here: gates that are opened
//! ([`gate`]), signals and approvals, and the count of ended tasks that ends the run ([`run::count_ends`]).

mod approval;
mod definition;
pub mod gate;
mod held;
pub mod run;
mod signal;

pub use approval::{ApprovalAnswer, Decision, decide};
pub use definition::{
    DeleteAnswer, PutAnswer, PutWorkflow, VersionRecord, WorkflowRecord, delete, get, list, put,
    version, versions,
};
pub(crate) use definition::{keep, read_plan};
pub use held::{HeldByTenant, held};
pub use signal::{SentSignal, SignalAnswer, forget_expired_signals, send_signal};
