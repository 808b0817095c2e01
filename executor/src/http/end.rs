//! How an attempt ended, and why there was no whole answer.

use domain::target::RefusedTarget;
use domain::task::ResultValue;
use egress::Failure;
use std::io;
use std::time::Duration;

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HttpEnd {
    /// There was an answer, and this is what the task's rule makes of it.
    Answered { status: u16, judged: Judged },
    /// There was no whole answer: why, for people.
    Failed { reason: String, status: Option<u16> },
    /// It passed its cap and was cut off.
    OverCap,
    /// Its cap was over while it waited for its turn to look a name up; `asked` when an answer had led it there.
    NoTurn { asked: bool },
    /// It was cut off because the agent asked, or the lease was over.
    Cut,
}

/// What an answer means to its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judged {
    /// A success, which returns this.
    Good(Option<ResultValue>),
    /// A success: the task was taken on, and is to be completed.
    Called,
    /// None; the wait that the server asks for.
    Bad(Option<Duration>),
}

impl HttpEnd {
    /// What becomes of an attempt without a whole answer.
    pub(super) fn of_failure(failure: &Failure) -> Self {
        if matches!(failure, Failure::Withdrawn) {
            return Self::Cut;
        }
        let reason = match hint(failure) {
            Some(hint) => format!("{failure}{hint}"),
            None => failure.to_string(),
        };
        Self::Failed { status: failure.status(), reason }
    }
}

/// Which setting it is about, and whose.
fn hint(failure: &Failure) -> Option<&'static str> {
    match failure {
        Failure::Timeout(_) => Some("; raise `run.http.timeout`"),
        Failure::Refused { refused: RefusedTarget::Internal(_), .. } => {
            Some("; HTTP tasks of this pool reach public addresses only")
        }
        Failure::Name { error, .. } if error.kind() == io::ErrorKind::TimedOut => {
            Some(" (`executor.lookup_timeout`, the same for all tasks)")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(failure: &Failure) -> String {
        match HttpEnd::of_failure(failure) {
            HttpEnd::Failed { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_failure_names_the_setting_that_it_is_about() {
        let failure = Failure::Timeout(Duration::from_secs(3));
        let text = "no whole answer within its timeout of 3s; raise `run.http.timeout`";
        assert_eq!(reason(&failure), text);
        let host = || "a.example".to_owned();
        let failure =
            Failure::Refused { host: host(), refused: RefusedTarget::Internal("loopback") };
        assert_eq!(
            reason(&failure),
            "a.example was refused: its address is loopback; HTTP tasks of this pool reach public addresses only"
        );
        let late = |kind| Failure::Name { host: host(), error: io::Error::new(kind, "why") };
        assert_eq!(
            reason(&late(io::ErrorKind::TimedOut)),
            "the name a.example cannot be resolved: why (`executor.lookup_timeout`, the same for all tasks)"
        );
        let plain = "the name a.example cannot be resolved: why";
        assert_eq!(reason(&late(io::ErrorKind::NotFound)), plain);
        assert_eq!(HttpEnd::of_failure(&Failure::Withdrawn), HttpEnd::Cut);
    }
}
