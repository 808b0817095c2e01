//! The ledger's file: appended to by commands, read by the test.
//!
//! The rule: one line is one `write` to a file opened with `O_APPEND`; the kernel then keeps lines whole.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use super::line::Line;
use super::runs::Runs;
use crate::program;

/// A ledger file.
#[derive(Clone, Debug)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// A ledger at this path; the file is made by the first line.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line, in one write.
    pub fn append(&self, line: &Line) -> anyhow::Result<()> {
        let text = format!("{line}\n");
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        let written = file.write(text.as_bytes())?;
        if written != text.len() {
            bail!("only {written} of {} bytes went into the ledger", text.len());
        }
        Ok(())
    }

    /// The command line of a task that writes itself down, works for `duration` and ends with `exit_code`. Task and
    /// attempt come from `BERTH_TASK_ID` and `BERTH_ATTEMPT`, which the executor sets.
    pub fn command(&self, duration: Duration, exit_code: u8) -> anyhow::Result<Vec<String>> {
        Ok(self.command_of(&program::find("testkit", "ledger-stamp")?, duration, exit_code))
    }

    /// The same where the path of `ledger-stamp` is known.
    pub fn command_of(&self, stamp: &Path, duration: Duration, exit_code: u8) -> Vec<String> {
        let paths = [stamp, &self.path].map(|path| path.to_string_lossy().into_owned());
        let numbers = [duration.as_millis().to_string(), exit_code.to_string()];
        paths.into_iter().chain(numbers).collect()
    }

    /// All lines so far, in the order they were written. A file that does not exist yet is an empty ledger.
    pub fn lines(&self) -> anyhow::Result<Vec<Line>> {
        let text = match fs::read_to_string(&self.path) {
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.with_context(|| format!("reading {}", self.path.display()))?,
        };
        if !text.is_empty() && !text.ends_with('\n') {
            bail!("the last line of the ledger is torn: {:?}", text.lines().last());
        }
        text.lines().map(Line::parse).collect()
    }

    /// The lines put together to runs.
    pub fn runs(&self) -> anyhow::Result<Runs> {
        Runs::from_lines(self.lines()?)
    }
}
