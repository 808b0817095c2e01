//! What is known of a schedule that is to be fired: how it is, and how it was before it was changed.

use super::Due;
use super::starts::Starts;
use domain::id::PlanName;
use domain::schedule::{Made, Overlap};
use domain::tenant::TenantState;
use domain::time::Timestamp;

/// A schedule whose due time is to be decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The due time for which it was checked.
    pub due: Due,
    /// How that tenant stands.
    pub tenant_state: TenantState,
    /// The plan that it is on.
    pub plan: PlanName,
    /// Since when it stands so; `None`: since it was made.
    pub state_since: Option<Timestamp>,
    /// How it stood before, the first first, where due times of then have come.
    pub past_states: Vec<PastState>,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: i64,
    /// Earlier versions by which due times may be judged, the first first.
    pub spans: Vec<Span>,
    /// There are such.
    pub has_spans: bool,
    /// When its owner deleted it: it is there only for what came before.
    pub deleted_at: Option<Timestamp>,
    /// What decides when, as JSON.
    pub timing: String,
    /// Since when that is so; `None`: since it was made.
    pub timing_since: Option<Timestamp>,
    /// What a fire makes, as JSON.
    pub template: String,
    /// What is done with due times that were not fired in time, as JSON.
    pub misfire: String,
    /// What is done while an earlier task of it lives.
    pub overlap: Overlap,
    /// It is paused.
    pub paused: bool,
    /// How its tasks end is counted.
    pub counts_ends: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// By what it was made.
    pub created_by: String,
    /// Due times that made something.
    pub fires: u64,
    /// Where it starts runs, by the version by which is judged: of which workflow.
    pub starts: Option<Starts>,
    /// Its tasks and runs that live, oldest first; where an overlap asks for them, else its latest, whether they live or not.
    pub live: Vec<Made>,
    /// So many of `live` run one after the other, by a concurrency key of the schedule's own; only where they are known to live.
    pub queued: usize,
    /// The database's time.
    pub now: Timestamp,
}

/// A version of a schedule before an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The version.
    pub version: i64,
    /// The instant of the edit: what was to be fired up to then is judged by this version.
    pub until: Timestamp,
    /// Since when its timing was what it is; `None`: since the schedule was made.
    pub timing_since: Option<Timestamp>,
    /// What decided when, as JSON.
    pub timing: String,
    /// What a fire made, as JSON; only of the version by which is judged now.
    pub template: Option<String>,
    /// The workflow of which it started runs.
    pub workflow: Option<String>,
    /// What was done with due times that were not fired in time, as JSON.
    pub misfire: String,
    /// What was done while an earlier task lived.
    pub overlap: Overlap,
    /// It was paused.
    pub paused: bool,
}

/// How a tenant stood, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastState {
    /// How.
    pub state: TenantState,
    /// Until when.
    pub until: Timestamp,
}
