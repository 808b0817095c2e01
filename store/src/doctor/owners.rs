//! Who must be there: the batcher, and an owner of each shard of schedules.
//!
//! Handing over takes moments, so that only what is missing for long counts.

use super::Check;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::time::millis;
use sqlx::PgConnection;

pub(super) const CHECKS: [Check; 3] =
    [Check::BatcherMissing, Check::ShardsUnowned, Check::SchedulesHeld];

/// A batcher writes down how pools stand each second; one that gave its row up leaves no other trace of when.
pub(super) async fn check(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select
                (select count(*) from leadership l where l.role = 'batcher' and l.expires_at < now() - interval '10 seconds'
                    and not exists (select from pool_turn u where u.at > now() - $1 * interval '1 millisecond')) as "batcher!",
                (select count(*) from schedule_shard s where not exists (
                    select from scheduler_node n where (n.id = s.owner or s.owner is null)
                        and n.expires_at > now() - $1 * interval '1 millisecond')) as "shards!",
                (select min(s.shard) from schedule_shard s where not exists (
                    select from scheduler_node n where (n.id = s.owner or s.owner is null)
                        and n.expires_at > now() - $1 * interval '1 millisecond')) as shard,
                berth_schedules_held() as held"#,
        millis(options.overdue) as f64
    );
    let row = patient("doctor.owners", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![
        Finding {
            check: Check::BatcherMissing,
            count: row.batcher,
            example: Some("batcher".to_owned()),
        },
        Finding {
            check: Check::ShardsUnowned,
            count: row.shards,
            example: row.shard.map(|shard| format!("shard {shard}")),
        },
        Finding {
            check: Check::SchedulesHeld,
            count: i64::from(row.held.is_some()),
            example: row.held,
        },
    ])
}
