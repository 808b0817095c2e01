//! From how a command or an HTTP call ended to what is reported.
//!
//! Pure. What we did to it comes before what it did: a program that answers our SIGTERM with exit code
//! 0 was stopped, not successful. One that ended before anybody asked keeps its true outcome.

use crate::command::CommandEnd;
use crate::http::HttpEnd;
use crate::supervise::{Cause, Ended, Status};
use domain::task::AttemptOutcome;
use domain::time::format_duration;
use std::time::Duration;

/// Why we asked an attempt to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Its owner cancelled it.
    Stop,
    /// We are draining and its time is up.
    Drain,
    /// The lease is no longer ours.
    Fence,
}

/// Of an HTTP call that has waited for its turn until its cap was over.
const NO_TURN: &str = "waited to look up a host name until its execution cap was over: too many names of its tenant are \
     looked up at once (`executor.max_lookups_per_tenant`)";

/// The result-to-be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) outcome: AttemptOutcome,
    /// Of a command; of an HTTP call the status of its last answer.
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) reason: String,
    /// The called server asked for this wait before another attempt.
    pub(super) retry_after: Option<Duration>,
}

impl Ending {
    /// An ending without a process.
    pub(super) fn plain(outcome: AttemptOutcome, reason: impl Into<String>) -> Self {
        Self { outcome, exit_code: None, signal: None, reason: reason.into(), retry_after: None }
    }

    /// We ended it, for this reason.
    pub(super) fn ours(why: Why) -> Self {
        match why {
            Why::Stop => Self::plain(AttemptOutcome::Stopped, "stopped on request"),
            Why::Drain => Self::plain(AttemptOutcome::HandedBack, "the executor is stopping"),
            Why::Fence => Self::plain(AttemptOutcome::Lost, "the executor lost its lease"),
        }
    }

    /// It passed its cap.
    pub(super) fn over_cap(cap: Duration) -> Self {
        let reason = format!(
            "over its execution cap of {}; raise `execution_cap` (--execution-cap)",
            format_duration(cap)
        );
        Self::plain(AttemptOutcome::KilledCap, reason)
    }

    /// What a command's end means, when `why` is what we asked of it and `cap` is its cap.
    pub(super) fn of_command(end: CommandEnd, why: Option<Why>, cap: Duration) -> Self {
        match end {
            CommandEnd::Ended(ended) => Self::of_process(ended, why, cap),
            CommandEnd::Refused(error) => {
                Self::plain(AttemptOutcome::Failed, format!("could not be started: {error}"))
            }
            CommandEnd::Unable(error) => match why {
                Some(why) => Self::ours(why),
                None => Self::plain(AttemptOutcome::NotStarted, error),
            },
            CommandEnd::TooLate => Self::ours(why.unwrap_or(Why::Fence)),
            CommandEnd::SupervisorLost => match why {
                Some(why) => Self::ours(why),
                None => Self::plain(AttemptOutcome::Failed, "its supervisor process was killed"),
            },
        }
    }

    /// What an HTTP call's end means, when `why` is what we asked of it and `cap` is its cap.
    pub(super) fn of_http(end: HttpEnd, why: Option<Why>, cap: Duration) -> Self {
        match end {
            HttpEnd::Answered { status, succeeded: true, .. } => Self {
                exit_code: Some(status.into()),
                ..Self::plain(AttemptOutcome::Succeeded, "")
            },
            HttpEnd::Answered { status, retry_after, .. } => Self {
                exit_code: Some(status.into()),
                retry_after,
                ..Self::plain(AttemptOutcome::Failed, format!("answered {status}"))
            },
            HttpEnd::Failed { reason, status } => Self {
                exit_code: status.map(i32::from),
                ..Self::plain(AttemptOutcome::Failed, reason)
            },
            HttpEnd::OverCap => Self::over_cap(cap),
            HttpEnd::NoTurn { asked } => match (why, asked) {
                (Some(why), _) => Self::ours(why),
                (None, false) => Self::plain(AttemptOutcome::NotStarted, NO_TURN),
                (None, true) => Self::plain(AttemptOutcome::HandedBack, NO_TURN),
            },
            HttpEnd::Cut => Self::ours(why.unwrap_or(Why::Fence)),
        }
    }

    fn of_process(ended: Ended, why: Option<Why>, cap: Duration) -> Self {
        let (exit_code, signal) = match ended.status {
            Status::Exited(code) => (Some(code), None),
            Status::Signalled(signal) => (None, Some(signal)),
        };
        let ending = match ended.cause {
            Cause::Itself => match ended.status {
                Status::Exited(0) => Self::plain(AttemptOutcome::Succeeded, ""),
                Status::Exited(code) => {
                    Self::plain(AttemptOutcome::Failed, format!("ended with exit code {code}"))
                }
                Status::Signalled(signal) => {
                    Self::plain(AttemptOutcome::Failed, format!("ended by signal {signal}"))
                }
            },
            Cause::Cap => Self::over_cap(cap),
            Cause::Passed(passed) => {
                Self::plain(AttemptOutcome::KilledResources, passed.to_string())
            }
            // SIGTERM to the supervisor, by hand, is a request to stop as well.
            Cause::Stop => Self::ours(why.unwrap_or(Why::Stop)),
            Cause::Kill | Cause::Lease | Cause::AgentGone => Self::ours(why.unwrap_or(Why::Fence)),
        };
        Self { exit_code, signal, ..ending }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::Passed;

    fn outcome(status: Status, cause: Cause, why: Option<Why>) -> AttemptOutcome {
        let end = CommandEnd::Ended(Ended { status, cause });
        Ending::of_command(end, why, Duration::from_secs(1)).outcome
    }

    #[test]
    fn what_ended_by_itself_keeps_its_outcome_whatever_was_asked_later() {
        for why in [None, Some(Why::Stop), Some(Why::Drain), Some(Why::Fence)] {
            assert_eq!(outcome(Status::Exited(0), Cause::Itself, why), AttemptOutcome::Succeeded);
            assert_eq!(outcome(Status::Exited(3), Cause::Itself, why), AttemptOutcome::Failed);
            assert_eq!(outcome(Status::Signalled(9), Cause::Itself, why), AttemptOutcome::Failed);
        }
    }

    #[test]
    fn an_http_call_is_what_its_answer_says_unless_it_was_cut() {
        let second = Duration::from_secs(1);
        let of = |end, why| Ending::of_http(end, why, second);
        let answered =
            |status, succeeded| HttpEnd::Answered { status, succeeded, retry_after: Some(second) };
        let good = of(answered(204, true), Some(Why::Stop));
        assert_eq!((good.outcome, good.exit_code), (AttemptOutcome::Succeeded, Some(204)));
        assert_eq!((good.retry_after, good.reason.as_str()), (None, ""));
        let bad = of(answered(503, false), None);
        assert_eq!((bad.outcome, bad.exit_code), (AttemptOutcome::Failed, Some(503)));
        assert_eq!((bad.retry_after, bad.reason.as_str()), (Some(second), "answered 503"));
        let capped = of(HttpEnd::OverCap, None);
        let reason = "over its execution cap of 1s; raise `execution_cap` (--execution-cap)";
        assert_eq!((capped.outcome, capped.reason.as_str()), (AttemptOutcome::KilledCap, reason));
        for (asked, outcome) in
            [(false, AttemptOutcome::NotStarted), (true, AttemptOutcome::HandedBack)]
        {
            assert_eq!(of(HttpEnd::NoTurn { asked }, None).outcome, outcome);
            assert_eq!(
                of(HttpEnd::NoTurn { asked }, Some(Why::Stop)).outcome,
                AttemptOutcome::Stopped
            );
        }
        assert_eq!(of(HttpEnd::Cut, Some(Why::Stop)).outcome, AttemptOutcome::Stopped);
        assert_eq!(of(HttpEnd::Cut, Some(Why::Drain)).outcome, AttemptOutcome::HandedBack);
        assert_eq!(of(HttpEnd::Cut, None).outcome, AttemptOutcome::Lost);
    }

    #[test]
    fn what_we_ended_is_ours_even_with_exit_code_0() {
        let zero = Status::Exited(0);
        assert_eq!(outcome(zero, Cause::Cap, None), AttemptOutcome::KilledCap);
        assert_eq!(outcome(zero, Cause::Stop, Some(Why::Stop)), AttemptOutcome::Stopped);
        assert_eq!(outcome(zero, Cause::Stop, Some(Why::Drain)), AttemptOutcome::HandedBack);
        assert_eq!(outcome(zero, Cause::Lease, None), AttemptOutcome::Lost);
        assert_eq!(outcome(zero, Cause::Kill, Some(Why::Fence)), AttemptOutcome::Lost);
    }

    #[test]
    fn what_wanted_too_much_is_told_with_what_it_wanted() {
        for (passed, reason) in [
            (
                Passed::Memory(64 << 20),
                "memory: over its 64 MiB; choose a larger `tier` (--tier) or raise `resources.memory_mib`",
            ),
            (
                Passed::Pids(512),
                "pids: over its 512 processes and threads; the operator sets this limit for all tasks (`executor.max_processes`)",
            ),
            (
                Passed::Disk(1 << 30),
                "disk: over its 1024 MiB; choose a larger `tier` (--tier) or raise `resources.disk_mib`",
            ),
            (
                Passed::Inodes(1000),
                "inodes: over its 1000 files and folders; the operator sets this limit for all tasks (`executor.max_files`)",
            ),
            (
                Passed::OpenFiles(4096),
                "open files: 4096 in one process; the operator sets this limit for all tasks (`executor.max_open_files`)",
            ),
        ] {
            let ended = Ended { status: Status::Signalled(9), cause: Cause::Passed(passed) };
            let ending = Ending::of_command(CommandEnd::Ended(ended), None, Duration::from_secs(1));
            assert_eq!(ending.outcome, AttemptOutcome::KilledResources);
            assert_eq!((ending.reason.as_str(), ending.signal), (reason, Some(9)));
        }
    }
}
