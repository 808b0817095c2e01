//! Which part of a task's output is asked for: the parameters that `logs` has in each of its forms.

use crate::call::Call;
use crate::cursor::{Context, List};
use crate::problem::Problem;
use crate::request::{Query, text_time, wrong_parameter};
use domain::id::TaskId;
use domain::time::{Timestamp, parse_duration};
use store::output::{OutputFilter, OutputPosition, Stream};

/// Most lines that `tail` may ask for.
pub(super) const MAX_TAIL: u32 = 10_000;

const SINCE: &str = "must be a time such as 2030-01-31T12:00:00Z (RFC 3339) or an age such as 10m";

/// What the client wants to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LogRange {
    attempt: Option<u32>,
    stream: Option<Stream>,
    tail: Option<u32>,
    since: Option<Timestamp>,
}

impl LogRange {
    /// Takes `attempt`, `stream`, `tail` and `since` out of a query, and says for what a cursor of them is good.
    ///
    /// # Errors
    /// `invalid_parameter`, naming it.
    pub(super) fn take(query: &mut Query, task: TaskId) -> Result<(Self, Context), Problem> {
        let attempt: Option<u32> = query.parsed("attempt", "the number of an attempt")?;
        let stream = match query.one("stream")?.as_deref() {
            None => None,
            Some("stdout") => Some(Stream::Stdout),
            Some("stderr") => Some(Stream::Stderr),
            Some(_) => return Err(wrong_parameter("stream", "must be stdout or stderr")),
        };
        let (tail, since) = (query.one("tail")?, query.one("since")?);
        let range = Self {
            attempt,
            stream,
            tail: tail.as_deref().map(lines).transpose()?,
            since: since.as_deref().map(time).transpose()?,
        };
        let attempt = attempt.map(|n| n.to_string()).unwrap_or_default();
        let parts = [
            task.to_string(),
            attempt,
            stream.map(Stream::as_str).unwrap_or_default().to_owned(),
            tail.unwrap_or_default(),
            since.unwrap_or_default(),
        ];
        Ok((range, Context::new(List::Logs, parts.iter().map(String::as_str))))
    }

    /// What to read, from `from` on.
    pub(super) const fn filter(self, from: OutputPosition) -> OutputFilter {
        OutputFilter { attempt: self.attempt, stream: self.stream, from }
    }

    /// Where it begins. What has been read from there on is a place of its own: `tail` and `since` are not asked again.
    ///
    /// # Errors
    /// What the database said.
    pub(super) async fn begin(self, call: &Call, task: TaskId) -> Result<OutputPosition, Problem> {
        let (db, scope) = (&call.state.api, call.scope());
        let mut from = OutputPosition::default();
        if let Some(at) = self.since {
            from = store::output::since(db, &scope, task, at).await?;
        }
        if let Some(lines) = self.tail {
            from = store::output::tail(db, &scope, task, self.filter(from), lines).await?;
        }
        Ok(from)
    }
}

fn lines(text: &str) -> Result<u32, Problem> {
    let number = text.parse().ok().filter(|lines| *lines <= MAX_TAIL);
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let detail = format!("must be a whole number of lines from 0 to {MAX_TAIL}");
    number.filter(|_| digits).ok_or_else(|| wrong_parameter("tail", &detail))
}

fn time(text: &str) -> Result<Timestamp, Problem> {
    let ago = || {
        let at = runtime::clock::wall().checked_sub_signed(past(text)?);
        // Nothing is older, and the database's years begin somewhere.
        at.map(|at| at.max(Timestamp::UNIX_EPOCH))
    };
    text_time(text).or_else(ago).ok_or_else(|| wrong_parameter("since", SINCE))
}

fn past(text: &str) -> Option<chrono::TimeDelta> {
    chrono::TimeDelta::from_std(parse_duration(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(query: &str) -> Result<LogRange, String> {
        let mut query = Query::parse(query).unwrap();
        let taken = LogRange::take(&mut query, TaskId::fresh());
        taken.map(|(range, _)| range).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn a_time_may_be_given_or_how_long_ago_it_was() {
        let since = |text| range(&format!("since={text}")).unwrap().since.unwrap();
        let given = since("2030-01-31T12:00:00.5%2B01:00");
        assert_eq!(given.to_rfc3339(), "2030-01-31T11:00:00.500+00:00");
        assert_eq!(since("2030-01-31T12:00:00+01:00").to_rfc3339(), "2030-01-31T11:00:00+00:00");
        for (text, seconds) in [("90s", 90), ("1h30m", 5400), ("PT5M", 300), ("0s", 0)] {
            let at = since(text);
            let ago = (runtime::clock::wall() - at).num_seconds();
            assert!((seconds..seconds + 60).contains(&ago), "{text}: {ago}");
        }
        assert_eq!(since("5000000h"), Timestamp::UNIX_EPOCH);
        for bad in ["", "yesterday", "10", "-5m", "2030-01-31", "99999999999h"] {
            assert!(range(&format!("since={bad}")).unwrap_err().contains("query:since"), "{bad}");
        }
    }

    #[test]
    fn lines_are_a_plain_number_up_to_the_most() {
        assert_eq!(range("tail=0").unwrap().tail, Some(0));
        assert_eq!(range("tail=10000").unwrap().tail, Some(10_000));
        for bad in ["", "-1", "%2B5", "10001", "all", "1.5", "99999999999"] {
            assert!(range(&format!("tail={bad}")).unwrap_err().contains("query:tail"), "{bad}");
        }
    }
}
