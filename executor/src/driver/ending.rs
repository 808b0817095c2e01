//! How an attempt ended, and what of that is reported.
//!
//! What the agent did to it comes before what it did: a program that answers SIGTERM with exit code 0 was stopped, not
//! successful. One that ended before anybody asked keeps its true outcome.

use domain::task::{AttemptOutcome, ResultValue};
use domain::time::format_duration;
use runtime::clock::Instant;
use std::time::Duration;

/// Why the agent asked an attempt to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Its owner cancelled it.
    Stop,
    /// The executor drains and its time is up.
    Drain,
    /// The lease is no longer the executor's.
    Fence,
}

/// The result-to-be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) outcome: AttemptOutcome,
    /// Of a command; of an HTTP call the status of its last answer.
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) reason: String,
    /// The called server asked for this wait before another attempt.
    pub(crate) retry_after: Option<Duration>,
    /// What it returned; only of one that succeeded.
    pub(crate) value: Option<ResultValue>,
    /// It succeeded in that its task was taken on elsewhere, and is to be completed from there.
    pub(crate) called: bool,
}

/// How an attempt ended, by its driver's word. Nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    ending: Ending,
    /// It was ended: if the agent asked for that, the agent's reason counts.
    cut: bool,
    /// From when it is billed. None: nothing of it is.
    pub(crate) billed_from: Option<Instant>,
}

impl Ending {
    /// An ending without a process.
    pub(crate) fn plain(outcome: AttemptOutcome, reason: impl Into<String>) -> Self {
        let (exit_code, signal, retry_after, value) = (None, None, None, None);
        let reason = reason.into();
        Self { outcome, exit_code, signal, reason, retry_after, value, called: false }
    }

    /// The agent ended it, for this reason.
    pub(crate) fn ours(why: Why) -> Self {
        match why {
            Why::Stop => Self::plain(AttemptOutcome::Stopped, "stopped on request"),
            Why::Drain => Self::plain(AttemptOutcome::HandedBack, "the executor is stopping"),
            Why::Fence => Self::plain(AttemptOutcome::Lost, "the executor lost its lease"),
        }
    }

    /// It passed its cap.
    pub(crate) fn over_cap(cap: Duration) -> Self {
        let reason = format!(
            "over its execution cap of {}; raise `execution_cap` (--execution-cap)",
            format_duration(cap)
        );
        Self::plain(AttemptOutcome::KilledCap, reason)
    }
}

impl Ended {
    /// It ended by itself, or for a reason of its own, whatever was asked later.
    pub(crate) const fn by_itself(ending: Ending) -> Self {
        Self { ending, cut: false, billed_from: None }
    }

    /// It was ended; `unasked` is how, if not by the agent.
    pub(crate) const fn cut(unasked: Ending) -> Self {
        Self { ending: unasked, cut: true, billed_from: None }
    }

    /// Billed from then on; not at all without.
    pub(crate) fn billed(self, from: Option<Instant>) -> Self {
        Self { billed_from: from, ..self }
    }

    /// What is reported, where the agent asked it to end because of `why`.
    pub(crate) fn under(self, why: Option<Why>) -> Ending {
        match why.filter(|_| self.cut) {
            Some(why) => {
                let Ending { exit_code, signal, .. } = self.ending;
                Ending { exit_code, signal, ..Ending::ours(why) }
            }
            None => self.ending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_reason_counts_only_for_what_was_cut() {
        let code = Ending { exit_code: Some(3), ..Ending::ours(Why::Fence) };
        let cut = Ended::cut(code.clone());
        assert_eq!(cut.clone().under(None), code);
        let stopped = cut.under(Some(Why::Stop));
        assert_eq!((stopped.outcome, stopped.exit_code), (AttemptOutcome::Stopped, Some(3)));
        let failed = Ending::plain(AttemptOutcome::Failed, "why");
        for why in [None, Some(Why::Stop), Some(Why::Drain), Some(Why::Fence)] {
            assert_eq!(Ended::by_itself(failed.clone()).under(why), failed);
        }
    }
}
