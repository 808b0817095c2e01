//! Why a command did not do what was asked, and with which code the process ends.
//!
//! Made by the commands, shown by `main`. The codes are a contract with scripts: they are listed in `berth --help`
//! and never change their meaning.

use std::process::ExitCode;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Whoever read the output has seen enough and went away: all is well.
    ReaderGone = 0,
    /// It was tried and did not work.
    Failed = 1,
    /// Arguments or settings are not usable; clap ends with the same code.
    Usage = 2,
    /// What was named does not exist.
    NotFound = 3,
    /// The key is missing, wrong or may not do this.
    NotAllowed = 4,
    /// Nothing answers, or it has no time now.
    Unreachable = 5,
    /// The task that was waited for ended without running to its own end.
    NotRun = 6,
    /// The audit is not whole.
    Gap = 7,
    /// What was only to be shown would change something.
    Changes = 8,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A message for the person, what to do next included, and the code for the script.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    /// A failure with its code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// A failure of the general kind.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// What the person must change before it can work.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A failure with its causes in one line.
    pub fn caused(exit: Exit, error: &(dyn std::error::Error + 'static)) -> Self {
        Self::new(exit, runtime::error_chain::ErrorChain(error).to_string())
    }

    /// The reader of the output went away.
    pub fn reader_gone() -> Self {
        Self::new(Exit::ReaderGone, "the reader of the output has closed it")
    }

    /// Whether nothing went wrong: the reader of the output has closed it.
    pub fn is_reader_gone(&self) -> bool {
        self.exit == Exit::ReaderGone
    }

    /// The same, saying more.
    pub fn adding(mut self, text: &str) -> Self {
        self.message.push_str(text);
        self
    }

    /// The code.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl From<runtime::config::ConfigError> for Failure {
    fn from(error: runtime::config::ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}
