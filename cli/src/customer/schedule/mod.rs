//! `berth schedule`: put, edit, get, list, delete, pause, resume, trigger, backfill, fires, preview.

mod backfill;
mod calendar;
mod change;
mod diff;
mod edit;
mod fires;
mod list;
mod misfire;
mod preview;
mod put;
mod show;
mod timing;
mod words;
mod workflow;

pub use backfill::{BackfillArguments, run as backfill};
pub use change::{
    DeleteArguments, NameArguments, PauseArguments, delete, get, pause, resume, trigger,
};
pub(super) use diff::storable;
pub use edit::{EditArguments, run as edit};
pub use fires::{FiresArguments, run as fires};
pub use list::{ScheduleListArguments, run as list};
pub use preview::{PreviewArguments, run as preview};
pub use put::{PutArguments, run as put};
pub(super) use put::{from_file, what};
pub(super) use show::{exact, name};
pub(super) use timing::{FIELDS, TimingArguments, WHEN};
pub(super) use workflow::WorkflowArguments;
