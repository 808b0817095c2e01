//! What an attempt runs, between `domain` and the stream.
//!
//! The resource manager writes it, the executor reads it, once each. To an executor of a release before these messages,
//! and where a release cannot read what is stored, it goes as the stored JSON.

use crate::{Assignment, CommandRun, HttpRun, NoopRun, assignment, http_run};
use domain::task::{CompleteOn, Run, StoredRun};
use prost::Message;
use std::time::Duration;

/// Why an assignment's run cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnreadableRun {
    /// It is of another driver than this release knows, which is named where it is known; another executor may have it.
    UnknownDriver(Option<String>),
    /// It would fail everywhere.
    Malformed(String),
}

impl std::error::Error for UnreadableRun {}

impl std::fmt::Display for UnreadableRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownDriver(Some(name)) => write!(f, "this executor has no driver `{name}`"),
            Self::UnknownDriver(None) => write!(f, "this executor does not know the run's driver"),
            Self::Malformed(why) => write!(f, "malformed run: {why}"),
        }
    }
}

/// What an executor can read, by its `Hello`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindsOfRuns {
    /// Messages in place of the stored JSON.
    pub typed: bool,
    /// Calls that are completed later.
    pub callbacks: bool,
}

impl assignment::Run {
    /// `run` for an executor that reads these `kinds` of runs.
    #[must_use]
    pub fn new(run: StoredRun, kinds: KindsOfRuns) -> Self {
        match run {
            // It would end the task with the answer. That driver it does not know, so that another executor gets it.
            StoredRun::Read(Run::Http(run)) if !run.complete.is_answer() && !kinds.callbacks => {
                Self::RunJson(r#"{"http_with_callback":{}}"#.to_owned())
            }
            StoredRun::Read(run) if kinds.typed => run.into(),
            StoredRun::Read(run) => Self::RunJson(run.to_json()),
            StoredRun::Unread(text) => Self::RunJson(text),
        }
    }
}

impl From<Run> for assignment::Run {
    fn from(run: Run) -> Self {
        match run {
            Run::Command(run) => {
                Self::Command(CommandRun { argv: run.argv, env: run.env, stdin: run.stdin })
            }
            Run::Http(run) => Self::Http(HttpRun {
                method: run.method.as_str().to_owned(),
                url: run.url,
                headers: run.headers,
                body: run
                    .body
                    .map(http_run::Body::Text)
                    .or_else(|| run.body_base64.map(http_run::Body::Base64)),
                success: run.success.to_string(),
                timeout_ms: run.timeout.map(millis),
                callback: !run.complete.is_answer(),
            }),
            Run::Noop(run) => Self::Noop(NoopRun { sleep_ms: millis(run.sleep) }),
        }
    }
}

impl TryFrom<assignment::Run> for Run {
    type Error = UnreadableRun;

    fn try_from(run: assignment::Run) -> Result<Self, UnreadableRun> {
        match run {
            assignment::Run::RunJson(text) => from_json(&text),
            assignment::Run::Command(run) => Ok(Self::Command(domain::task::CommandRun {
                argv: run.argv,
                env: run.env,
                stdin: run.stdin,
            })),
            assignment::Run::Http(run) => http(run).map(Self::Http),
            assignment::Run::Noop(run) => {
                let sleep = Duration::from_millis(run.sleep_ms);
                Ok(Self::Noop(domain::task::NoopRun { sleep }))
            }
        }
    }
}

impl Assignment {
    /// Takes what it runs.
    ///
    /// # Errors
    /// When this release cannot read it.
    pub fn take_run(&mut self) -> Result<Run, UnreadableRun> {
        // It may be in a field that a later release has.
        self.run.take().ok_or(UnreadableRun::UnknownDriver(None))?.try_into()
    }

    /// Bytes that it takes of a message of several.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let bytes = self.encoded_len();
        1 + prost::length_delimiter_len(bytes) + bytes
    }
}

fn from_json(text: &str) -> Result<Run, UnreadableRun> {
    Run::from_json(text).map_err(|error| match Run::unknown_driver(text) {
        Some(name) => UnreadableRun::UnknownDriver(Some(name)),
        None => UnreadableRun::Malformed(error.to_string()),
    })
}

fn http(run: HttpRun) -> Result<domain::task::HttpRun, UnreadableRun> {
    let malformed = |error: &dyn std::fmt::Display, field: &str| {
        UnreadableRun::Malformed(format!("{field} {error}"))
    };
    let (body, body_base64) = match run.body {
        Some(http_run::Body::Text(text)) => (Some(text), None),
        Some(http_run::Body::Base64(text)) => (None, Some(text)),
        None => (None, None),
    };
    Ok(domain::task::HttpRun {
        method: run.method.parse().map_err(|error| malformed(&error, "method"))?,
        url: run.url,
        headers: run.headers,
        body,
        body_base64,
        success: run.success.parse().map_err(|error| malformed(&error, "success"))?,
        timeout: run.timeout_ms.map(Duration::from_millis),
        complete: if run.callback { CompleteOn::Callback } else { CompleteOn::Answer },
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: [&str; 6] = [
        r#"{"command":{"argv":["bash","-c","echo hi"],"env":{"A":"1"},"stdin":""}}"#,
        r#"{"command":{"argv":["true"]}}"#,
        r#"{"http":{"method":"POST","url":"https://a/","headers":{"A":"1"},"body":"x","success":"2xx,404","timeout":"5s"}}"#,
        r#"{"http":{"method":"GET","url":"https://a/","body_base64":"eA==","success":"2xx"}}"#,
        r#"{"http":{"method":"GET","url":"https://a/","success":"2xx","complete":"callback"}}"#,
        r#"{"noop":{"sleep":"1m30s250ms"}}"#,
    ];

    #[test]
    fn a_run_comes_back_as_it_was_sent_to_executors_of_this_release_and_of_earlier_ones() {
        for text in RUNS {
            let run = Run::from_json(text).unwrap();
            for typed in [true, false] {
                let sent = assignment::Run::new(
                    StoredRun::Read(run.clone()),
                    KindsOfRuns { typed, callbacks: true },
                );
                assert_eq!(matches!(sent, assignment::Run::RunJson(_)), !typed, "{text}");
                let sent = Assignment { run: Some(sent), ..Assignment::default() };
                let mut come = Assignment::decode(&*sent.encode_to_vec()).unwrap();
                assert_eq!(come.take_run(), Ok(run.clone()), "{text}");
            }
        }
    }

    /// An executor of an earlier release reads field 3 and no other.
    #[test]
    fn what_cannot_be_read_goes_as_it_is_stored() {
        for text in ["", "{\"noop\":", r#"{"container":{"image":"x"}}"#] {
            let sent = assignment::Run::new(
                StoredRun::read(text.to_owned()),
                KindsOfRuns { typed: true, callbacks: true },
            );
            assert_eq!(sent, assignment::Run::RunJson(text.to_owned()));
            let bytes = Assignment { run: Some(sent), ..Assignment::default() }.encode_to_vec();
            assert_eq!(
                bytes,
                [&[0x1a, u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat()
            );
        }
    }

    #[test]
    fn an_executor_that_would_end_the_task_with_the_answer_does_not_know_the_driver() {
        let run = Run::from_json(RUNS[4]).unwrap();
        let kinds = KindsOfRuns { typed: true, callbacks: false };
        let sent = assignment::Run::new(StoredRun::Read(run), kinds);
        let unknown = UnreadableRun::UnknownDriver(Some("http_with_callback".to_owned()));
        assert_eq!(Run::try_from(sent), Err(unknown));
    }

    #[test]
    fn an_unknown_driver_is_told_from_a_malformed_run() {
        let read = |text: &str| Run::try_from(assignment::Run::RunJson(text.to_owned()));
        let unknown = UnreadableRun::UnknownDriver(Some("container".to_owned()));
        assert_eq!(read(r#"{"container":{"image":"x"}}"#), Err(unknown));
        for text in [
            "",
            "[]",
            "{}",
            r#"{"noop":{},"command":{}}"#,
            "{\"command\"",
            r#"{"command":{"argv":7}}"#,
        ] {
            let refused = read(text);
            assert!(matches!(refused, Err(UnreadableRun::Malformed(_))), "{text}");
            assert!(refused.unwrap_err().to_string().starts_with("malformed run: "), "{text}");
        }
        let later = Assignment::default().take_run();
        assert_eq!(later, Err(UnreadableRun::UnknownDriver(None)));
    }
}
