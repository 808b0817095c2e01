//! The only reader of clocks.
//!
//! Roles pass the time on as a value. Deadlines and terms use `monotonic`, which no one can set back;
//! `wall` is for showing and for logs: due times and leases are decided by the database's clock.
//! All of it follows tokio's virtual clock in tests.

use domain::time::Timestamp;
use std::time::Duration;
pub use tokio::time::Instant;
pub use tokio::time::error::Elapsed;

/// A point on the monotonic clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the clock the others are told to use")]
pub fn monotonic() -> Instant {
    Instant::now()
}

/// This machine's idea of the date and time, UTC.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the clock the others are told to use")]
pub fn wall() -> Timestamp {
    chrono::Utc::now()
}

/// Waits. In a loop prefer `tick::Ticker`, which also ends on shutdown.
#[expect(clippy::disallowed_methods, reason = "this is the wait the others are told to use")]
pub async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Waits until `deadline`; returns at once when it has passed.
pub async fn sleep_until(deadline: Instant) {
    tokio::time::sleep_until(deadline).await;
}

/// The future's output, unless `limit` passes first; then the future is dropped.
///
/// # Errors
/// `Elapsed` when the limit passed.
pub async fn timeout<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    tokio::time::timeout(limit, future).await
}
