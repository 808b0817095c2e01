//! One line of the ledger: parsed, printed, stamped with the time.
//!
//! The rule: both clocks are read by the process that ran, from the kernel. The monotonic one is the same for all
//! processes of a machine, so it decides order; the wall clock only says when.

use anyhow::{Context, bail};
use nix::time::{ClockId, clock_gettime};

/// Whether a command began or came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Written before anything else.
    Start,
    /// Written last; missing when the command was killed.
    End,
}

/// What one write says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The task, as Berth names it.
    pub task: String,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Start or end.
    pub mark: Mark,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub monotonic_ns: i64,
    /// `CLOCK_REALTIME`, in nanoseconds since 1970.
    pub wall_ns: i64,
}

impl Line {
    /// A line stamped with the present time. Fails for a task name that would not be one word.
    pub fn now(task: &str, attempt: u32, mark: Mark) -> anyhow::Result<Self> {
        if task.is_empty() || task.contains(char::is_whitespace) {
            bail!("`{task}` cannot be written to a ledger: it must be one word");
        }
        let (monotonic_ns, wall_ns) =
            (read(ClockId::CLOCK_MONOTONIC)?, read(ClockId::CLOCK_REALTIME)?);
        Ok(Self { task: task.to_owned(), attempt, mark, monotonic_ns, wall_ns })
    }

    /// Reads a line back. A torn or foreign line is an error: it means that writes were mixed.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let fields: Vec<&str> = text.split(' ').collect();
        let &[task, attempt, mark, monotonic_ns, wall_ns] = fields.as_slice() else {
            bail!("`{text}` is no line of a ledger");
        };
        let mark = match mark {
            "start" => Mark::Start,
            "end" => Mark::End,
            other => bail!("`{other}` is neither start nor end in `{text}`"),
        };
        let number = |field: &str| field.parse().with_context(|| format!("`{field}` in `{text}`"));
        Ok(Self {
            task: task.to_owned(),
            attempt: attempt.parse().with_context(|| format!("`{attempt}` in `{text}`"))?,
            mark,
            monotonic_ns: number(monotonic_ns)?,
            wall_ns: number(wall_ns)?,
        })
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = match self.mark {
            Mark::Start => "start",
            Mark::End => "end",
        };
        write!(out, "{} {} {mark} {} {}", self.task, self.attempt, self.monotonic_ns, self.wall_ns)
    }
}

fn read(clock: ClockId) -> anyhow::Result<i64> {
    let time = clock_gettime(clock)?;
    Ok(time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}
