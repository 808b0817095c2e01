//! Schedules: what decides when tasks are made and runs started, and the ledger of every due time.
//!
//! A schedule's row knows its next due time; the transaction that writes what became of it writes the task and the one after that
//! too. Whoever changes a schedule locks its row, and so does whoever fires it: what an answer told is so for every fire after it.

mod backfill;
mod delete;
mod find;
mod fires;
mod get;
mod held;
mod list;
mod lock;
pub(crate) mod make;
mod pause;
mod put;
mod record;
mod resume;
pub(crate) mod span;
mod trigger;

pub use backfill::{Backfill, BackfillAnswer, BackfillPlan, MOST_BACKFILLED, backfill};
pub use delete::{DeleteAnswer, delete};
pub use find::find_id;
pub use fires::{FireFilter, fires};
pub use get::get;
pub use held::held;
pub use list::{ListLimit, list};
pub use lock::reckoner;
pub use pause::pause;
pub use put::{PutAnswer, PutSchedule, put};
pub(crate) use record::read_text;
pub use record::{
    FireKind, FireRecord, ParseFireKindError, Pause, ScheduleRecord, read_json, read_template,
};
pub use resume::resume;
pub use span::{TimingVersion, sources};
pub use trigger::{Trigger, TriggerAnswer, TriggerRun, trigger, trigger_run};
