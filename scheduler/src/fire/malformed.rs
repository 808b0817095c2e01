//! Pauses schedules that cannot be read, and says so: they would come up at each look.

use super::judge::Unreadable;
use store::StoreError;
use store::connect::SchedulerDb;
use store::malformed::tell;

/// Pauses them, unless their owner has changed them meanwhile.
pub(super) async fn pause_unreadable(
    db: &SchedulerDb,
    all: Vec<Unreadable>,
) -> Result<(), StoreError> {
    for one in all {
        let at = [(one.schedule, Some(one.version))];
        for paused in store::fire::pause_unreadable(db, &at, one.what).await? {
            tell("schedule", &paused.schedule.to_string(), one.what);
        }
    }
    Ok(())
}
