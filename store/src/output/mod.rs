//! What tasks wrote to standard output and error.

mod follow;
mod insert;
mod quota;
mod read;

pub use follow::{FollowPosition, Pulse, pulses, read_from, wanted};
pub use insert::{NewChunk, insert};
pub use quota::{forget, kept};
pub use read::{OutputChunk, OutputFilter, OutputPage, OutputPosition, read};

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    pub(crate) const fn number(self) -> i16 {
        match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}
