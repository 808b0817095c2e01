//! Where the unread tasks of a tenant may be in its order.

use super::{ConcurrencyKey, Turn, Window};

/// Whether the next task may be an unread one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    Not,
    /// Tasks wait; whether they may start is unknown.
    Perhaps,
    /// More tasks like those that were read.
    Surely,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Unread {
    /// Unread tasks at any position.
    anywhere: bool,
    /// Strands with more tasks after these positions.
    after: Vec<(Turn, Option<ConcurrencyKey>)>,
    /// Strands with more late tasks.
    late: Vec<Option<ConcurrencyKey>>,
}

impl Unread {
    /// Tasks wait at unknown positions.
    pub(super) fn something() -> Self {
        Self { anywhere: true, ..Self::default() }
    }

    pub(super) fn more(&mut self, window: &Window) {
        if window.more_late {
            self.late.push(window.key.clone());
        }
        if let Some(last) = window.tasks.last().filter(|_| window.more_on_time) {
            self.after.push((last.turn(), window.key.clone()));
        }
    }

    pub(super) fn hold_back(&mut self, key: &ConcurrencyKey) {
        self.after.retain(|(_, of)| of.as_ref() != Some(key));
        self.late.retain(|of| of.as_ref() != Some(key));
    }

    /// Whether an unread on-time task may be ahead of `turn`.
    pub(super) fn may_be_before(&self, turn: &Turn) -> bool {
        self.after.iter().any(|(after, _)| after < turn)
    }

    pub(super) const fn is_on_time(&self) -> bool {
        !self.after.is_empty()
    }

    pub(super) const fn is_late(&self) -> bool {
        !self.late.is_empty()
    }

    pub(super) const fn is_nothing(&self) -> bool {
        !self.anywhere && self.after.is_empty() && self.late.is_empty()
    }
}
