//! From how a command ended to what is reported.
//!
//! Pure.

use super::attempt::CommandEnd;
use crate::driver::{Ended, Ending, Why};
use crate::supervise::{self, Cause, Returned, Status};
use domain::task::{AttemptOutcome, InvalidResult, ResultValue};
use std::time::Duration;

/// What the end of a command with this `cap` means.
pub(super) fn ended(end: CommandEnd, cap: Duration) -> Ended {
    match end {
        CommandEnd::Ended(ended) => of_process(ended, cap),
        CommandEnd::Refused(error) => Ended::by_itself(Ending::plain(
            AttemptOutcome::Failed,
            format!("could not be started: {error}"),
        )),
        CommandEnd::Unable(error) => Ended::cut(Ending::plain(AttemptOutcome::NotStarted, error)),
        CommandEnd::TooLate => Ended::cut(Ending::ours(Why::Fence)),
        CommandEnd::SupervisorLost => {
            Ended::cut(Ending::plain(AttemptOutcome::Failed, "its supervisor process was killed"))
        }
    }
}

fn of_process(ended: supervise::Ended, cap: Duration) -> Ended {
    let (exit_code, signal) = match ended.status {
        Status::Exited(code) => (Some(code), None),
        Status::Signalled(signal) => (None, Some(signal)),
    };
    let with_status = |ending| Ending { exit_code, signal, ..ending };
    let by_itself = |ending| Ended::by_itself(with_status(ending));
    match ended.cause {
        Cause::Itself => by_itself(match ended.status {
            Status::Exited(0) => succeeded(ended.returned),
            Status::Exited(code) => {
                Ending::plain(AttemptOutcome::Failed, format!("ended with exit code {code}"))
            }
            Status::Signalled(signal) => {
                Ending::plain(AttemptOutcome::Failed, format!("ended by signal {signal}"))
            }
        }),
        Cause::Cap => by_itself(Ending::over_cap(cap)),
        Cause::Passed(passed) => {
            by_itself(Ending::plain(AttemptOutcome::KilledResources, passed.to_string()))
        }
        // SIGTERM to the supervisor, by hand, is a request to stop as well.
        Cause::Stop => Ended::cut(with_status(Ending::ours(Why::Stop))),
        Cause::Kill | Cause::Lease | Cause::AgentGone => {
            Ended::cut(with_status(Ending::ours(Why::Fence)))
        }
    }
}

/// A command that wrote a result which cannot be kept has failed: whoever needs the result must not take it for none.
fn succeeded(returned: Option<Returned>) -> Ending {
    let read = match returned {
        None => return Ending::plain(AttemptOutcome::Succeeded, ""),
        Some(Returned::Bytes(bytes)) => {
            ResultValue::read(&bytes).map_err(|error| error.to_string())
        }
        Some(Returned::TooLarge(bytes)) => Err(InvalidResult::TooLarge(bytes).to_string()),
        Some(Returned::Unusable(why)) => Err(why),
    };
    match read {
        Ok(value) => Ending { value: Some(value), ..Ending::plain(AttemptOutcome::Succeeded, "") },
        Err(why) => {
            let reason = format!("its result in $BERTH_RESULT {why}");
            Ending::plain(AttemptOutcome::Failed, reason)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::Passed;

    fn outcome(status: Status, cause: Cause, why: Option<Why>) -> AttemptOutcome {
        let end = CommandEnd::Ended(supervise::Ended { status, cause, returned: None });
        ended(end, Duration::from_secs(1)).under(why).outcome
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
    fn what_we_ended_is_ours_even_with_exit_code_0() {
        let zero = Status::Exited(0);
        assert_eq!(outcome(zero, Cause::Cap, None), AttemptOutcome::KilledCap);
        assert_eq!(outcome(zero, Cause::Stop, Some(Why::Stop)), AttemptOutcome::Stopped);
        assert_eq!(outcome(zero, Cause::Stop, Some(Why::Drain)), AttemptOutcome::HandedBack);
        assert_eq!(outcome(zero, Cause::Lease, None), AttemptOutcome::Lost);
        assert_eq!(outcome(zero, Cause::Kill, Some(Why::Fence)), AttemptOutcome::Lost);
    }

    #[test]
    fn a_result_that_cannot_be_kept_fails_the_attempt_and_says_why() {
        let ending = |returned| {
            let (status, cause) = (Status::Exited(0), Cause::Itself);
            let end = CommandEnd::Ended(supervise::Ended { status, cause, returned });
            ended(end, Duration::from_secs(1)).under(Some(Why::Stop))
        };
        let good = ending(Some(Returned::Bytes(b" {\"a\":1}\n".to_vec())));
        assert_eq!((good.outcome, good.exit_code), (AttemptOutcome::Succeeded, Some(0)));
        assert_eq!(good.value.as_ref().map(ResultValue::as_str), Some("{\"a\":1}"));
        assert_eq!(ending(None).value, None);
        for (returned, reason) in [
            (Returned::Bytes(b"no".to_vec()), "is not JSON: expected ident at line 1 column 2"),
            (Returned::TooLarge(70_000), "has 70000 bytes; at most 65536 are allowed"),
            (Returned::Unusable("is a link".to_owned()), "is a link"),
        ] {
            let bad = ending(Some(returned));
            assert_eq!((bad.outcome, bad.exit_code), (AttemptOutcome::Failed, Some(0)));
            assert_eq!(bad.reason, format!("its result in $BERTH_RESULT {reason}"));
            assert_eq!(bad.value, None);
        }
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
            let (status, cause) = (Status::Signalled(9), Cause::Passed(passed));
            let end = CommandEnd::Ended(supervise::Ended { status, cause, returned: None });
            let ending = ended(end, Duration::from_secs(1)).under(None);
            assert_eq!(ending.outcome, AttemptOutcome::KilledResources);
            assert_eq!((ending.reason.as_str(), ending.signal), (reason, Some(9)));
        }
    }
}
