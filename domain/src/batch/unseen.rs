//! Of one tenant's tasks, where those may be that were not looked at.

use super::{ConcurrencyKey, Turn, Window};

/// Whether something that has its turn is unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    Not,
    /// Something waits; whether it may start is not known.
    Perhaps,
    /// More like what was seen.
    Surely,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Unseen {
    /// Somewhere there is something.
    anywhere: bool,
    /// Strands with more after these turns.
    after: Vec<(Turn, Option<ConcurrencyKey>)>,
    /// Strands with more that is late.
    late: Vec<Option<ConcurrencyKey>>,
}

impl Unseen {
    /// Something waits, and nothing more is known.
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

    /// Something that is on time and unseen may have its turn before `turn`.
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
