//! The due time that an attempt is for, and the schedule that made its task.
//!
//! A command finds them in its environment, an HTTP call carries them in its headers. A resource manager of an earlier release names
//! neither.

use domain::time::{Timestamp, format_time};
use protocol::Assignment;

/// As it is told to what is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// RFC 3339, UTC.
    pub(crate) at: Option<String>,
    /// Name of the schedule.
    pub(crate) schedule: Option<String>,
}

impl Due {
    /// Takes it out of an assignment.
    pub(crate) fn of(assignment: &mut Assignment) -> Self {
        let at = assignment.due_at_us.and_then(Timestamp::from_timestamp_micros);
        Self { at: at.map(format_time), schedule: assignment.schedule.take() }
    }
}
