//! Due times to come, with what a change of the clocks does to them.

use crate::words::Moment;
use api_types::{DueMark, ScheduleDue};

/// A due time.
pub(super) struct Due {
    pub at: Moment,
    pub local: String,
    pub marks: String,
}

impl Due {
    pub(super) fn of(due: &ScheduleDue) -> Self {
        let words = due.marks.iter().map(|mark| match mark.known() {
            Some(DueMark::Shifted) => "this time of day does not exist: shifted".to_owned(),
            Some(DueMark::Repeated) => "this time comes twice: the first".to_owned(),
            Some(DueMark::Again) => "this time comes twice: the second".to_owned(),
            Some(DueMark::ChangeDay) => "the clocks change on this day".to_owned(),
            None => mark.to_string(),
        });
        let marks = words.collect::<Vec<_>>().join(", ");
        Self { at: Moment(due.at), local: format!("{} {}", due.local, due.abbreviation), marks }
    }
}
