//! Jitter of fires.

use crate::id::ScheduleId;
use crate::time::{Timestamp, millis};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Jitter of the fire of `schedule` at `at` within `window`, in whole milliseconds: deterministic and evenly
/// distributed.
#[must_use]
pub fn jitter(schedule: ScheduleId, at: Timestamp, window: Duration) -> Duration {
    let millis = u64::try_from(millis(window)).unwrap_or(0);
    if millis == 0 {
        return Duration::ZERO;
    }
    let hash = Sha256::new()
        .chain_update(schedule.uuid().as_bytes())
        .chain_update(at.timestamp_micros().to_be_bytes())
        .finalize();
    let drawn = hash.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    Duration::from_millis(drawn % (millis + 1))
}
