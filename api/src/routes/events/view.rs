//! An event as it is shown.

use crate::problem::{Code, Problem};
use api_types::Event;
use domain::access::PermissionSet;
use domain::event::{About, EventContent, EventFilter, EventRecord, permission_of};

/// A record, and what is content of it.
pub(super) struct Shown {
    record: EventRecord,
    content: EventContent,
}

impl Shown {
    pub(super) fn of(record: EventRecord) -> Self {
        let content = record.content();
        Self { record, content }
    }

    /// As a CloudEvent of `source`.
    pub(super) fn event(self, source: &str) -> Event {
        Event::of(&self.record, self.content, source)
    }
}

/// Whether the caller asks for it, and may see it.
pub(super) fn is_for(may: PermissionSet, filter: &EventFilter, shown: &Shown) -> bool {
    filter.fits(&About::of(&shown.record, &shown.content))
        && may.contains(permission_of(&shown.content.event_type))
}

/// An event as JSON.
///
/// # Errors
/// `internal`, which would be a bug.
pub(super) fn line(event: &Event) -> Result<String, Problem> {
    serde_json::to_string(event)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))
}
