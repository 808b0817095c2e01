//! From how an HTTP call ended to what is reported.
//!
//! Pure.

use super::end::{HttpEnd, Judged};
use crate::driver::{Ended, Ending, Why};
use domain::task::AttemptOutcome;
use std::time::Duration;

/// Of a call that has waited for its turn until its cap was over.
const NO_TURN: &str = "waited to look up a host name until its execution cap was over: too many names of its tenant are \
     looked up at once (`executor.max_lookups_per_tenant`)";

/// What the end of a call with this `cap` means.
pub(super) fn ended(end: HttpEnd, cap: Duration) -> Ended {
    match end {
        HttpEnd::Answered { status, judged: Judged::Good(value) } => Ended::by_itself(Ending {
            exit_code: Some(status.into()),
            value,
            ..Ending::plain(AttemptOutcome::Succeeded, "")
        }),
        HttpEnd::Answered { status, judged: Judged::Called } => Ended::by_itself(Ending {
            exit_code: Some(status.into()),
            called: true,
            ..Ending::plain(AttemptOutcome::Succeeded, "")
        }),
        HttpEnd::Answered { status, judged: Judged::Bad(retry_after) } => {
            Ended::by_itself(Ending {
                exit_code: Some(status.into()),
                retry_after,
                ..Ending::plain(AttemptOutcome::Failed, format!("answered {status}"))
            })
        }
        HttpEnd::Failed { reason, status } => Ended::by_itself(Ending {
            exit_code: status.map(i32::from),
            ..Ending::plain(AttemptOutcome::Failed, reason)
        }),
        HttpEnd::OverCap => Ended::by_itself(Ending::over_cap(cap)),
        HttpEnd::NoTurn { asked: false } => {
            Ended::cut(Ending::plain(AttemptOutcome::NotStarted, NO_TURN))
        }
        HttpEnd::NoTurn { asked: true } => {
            Ended::cut(Ending::plain(AttemptOutcome::HandedBack, NO_TURN))
        }
        HttpEnd::Cut => Ended::cut(Ending::ours(Why::Fence)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::task::ResultValue;

    #[test]
    fn an_http_call_is_what_its_answer_says_unless_it_was_cut() {
        let second = Duration::from_secs(1);
        let of = |end, why| ended(end, second).under(why);
        let answered = |status, judged| HttpEnd::Answered { status, judged };
        let value = ResultValue::read(b"1").ok();
        let good = of(answered(204, Judged::Good(value.clone())), Some(Why::Stop));
        assert_eq!((good.outcome, good.exit_code), (AttemptOutcome::Succeeded, Some(204)));
        assert_eq!((good.retry_after, good.reason.as_str()), (None, ""));
        assert!(value.is_some() && good.value == value);
        let called = of(answered(202, Judged::Called), None);
        assert!(called.called && !good.called && called.outcome == AttemptOutcome::Succeeded);
        let bad = of(answered(503, Judged::Bad(Some(second))), None);
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
}
