//! What tasks wrote to standard output and error.

mod begin;
mod chunk;
mod follow;
mod insert;
mod position;
mod quota;
mod read;
mod tail;

pub use begin::{since, tail};
pub use chunk::OutputChunk;
pub use follow::{Pulse, pulses};
pub use insert::{NewChunk, insert};
pub use position::OutputPosition;
pub use quota::{forget, kept};
pub use read::{OutputFilter, OutputPage, read};

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

    const fn numbered(number: i16) -> Self {
        if number == 2 { Self::Stderr } else { Self::Stdout }
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
