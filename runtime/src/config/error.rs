//! Why settings are not usable, said so that the reader knows which key to change and where.
//!
//! All problems of a load are reported at once: nobody wants to restart ten times. No message ever
//! holds the value of a secret.

use std::fmt;

/// One setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `section.key`.
    pub key: String,
    /// Where the value came from: `the environment variable BERTH_…`, `the file …` or `the defaults`.
    pub origin: String,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({}): {}", self.key, self.origin, self.message)
    }
}

/// Why the settings could not be loaded or one of them not be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file named by `--config` or `BERTH_CONFIG` cannot be read.
    #[error("cannot read the configuration file {path}: {source}")]
    File {
        /// The path as it was given.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file is not TOML.
    #[error("{path} is not valid TOML: {message}")]
    Syntax {
        /// The path as it was given.
        path: String,
        /// Line, column and reason.
        message: String,
    },
    /// Settings that are unknown, of the wrong type or out of range; at least one.
    #[error("{}", lines(.0))]
    Invalid(Vec<Problem>),
    /// A setting that this role needs was not given, or is not good enough.
    #[error("`{key}` {message}; set it in the configuration file or as {variable}")]
    Missing {
        /// `section.key`.
        key: &'static str,
        /// What is wanted.
        message: String,
        /// The environment variable that sets it.
        variable: String,
    },
    /// Fault points were asked for in a build that has none.
    #[error(
        "BERTH_FAULTS or BERTH_FAULTS_FILE is set, but this build has no fault points (feature `fault-points`)"
    )]
    NoFaultPoints,
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
