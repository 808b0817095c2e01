//! `berth workflow`: put, get, list, delete and check of definitions; run, runs, show, graph, cancel and rerun of their runs.

mod cancel;
mod check;
mod delete;
mod draw;
mod file;
mod get;
mod graph;
mod list;
mod located;
mod name;
mod notes;
mod ordered;
mod put;
mod rerun;
mod run;
mod runs;
mod show;
mod watch;

pub use cancel::{CancelArguments, run as cancel};
pub use check::{CheckArguments, run as check};
pub use delete::{DeleteArguments, run as delete};
pub(super) use file::documents;
pub(crate) use file::json as json_file;
pub use get::{GetArguments, run as get};
pub use graph::{GraphArguments, run as graph};
pub use list::{ListArguments, run as list};
pub(super) use located::{Located, Position};
pub(super) use name::name;
pub(super) use ordered::Ordered;
pub use put::{PutArguments, run as put};
pub use rerun::{RerunArguments, run as rerun};
pub(super) use run::new_run;
pub use run::{RunArguments, run};
pub use runs::{RunsArguments, run as runs};
pub use show::{ShowArguments, run as show};
