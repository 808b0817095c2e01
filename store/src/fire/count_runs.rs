//! How the runs end of schedules that pause when too many fail one after the other.
//!
//! Such a run names its schedule (`workflow_run.counted_by`) until its end is counted, in the transaction that counts it: each end counts
//! once, however many schedulers run. The schedule's row is locked before the run's, as by a fire.

use super::count_ends::{CONSUMER, CountedEnds, End, lock};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::event::Cursor;
use crate::statement::{named, repeated};
use domain::id::{ScheduleId, WorkflowRunId};
use domain::schedule::Made;
use domain::workflow::RunState;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What ended of one schedule: the tenants and ids of the runs, and how.
#[derive(Default)]
struct Ended {
    keys: Vec<(Uuid, Uuid)>,
    ends: Vec<End>,
}

/// Counts the next ends of schedules' runs, at most `limit`, each once; nothing while another scheduler counts.
///
/// # Errors
/// When the database cannot answer. Repeating it counts nothing twice.
pub async fn count_run_ends(db: &SchedulerDb, limit: i64) -> Result<CountedEnds, StoreError> {
    repeated(|| async {
        let mut counted = CountedEnds::default();
        let mut tx = named("begin", db.pool().begin()).await?;
        let ended = next_ends(&mut tx, limit).await?;
        // Only one counts, who has the cursor, so that none counts what another has.
        if ended.is_empty() || Cursor::lock(&mut tx, CONSUMER).await?.is_none() {
            return Ok(counted);
        }
        for (schedule, mut of) in next_ends(&mut tx, limit).await? {
            counted.ends += of.ends.len();
            of.ends.sort_by_key(|end| end.seq);
            if let Some(found) = lock(&mut tx, schedule).await? {
                counted.paused.extend(found.count(&mut tx, &of.ends).await?);
            }
            forget(&mut tx, of.keys).await?;
        }
        named("commit", tx.commit()).await?;
        Ok(counted)
    })
    .await
}

async fn next_ends(
    tx: &mut PgConnection,
    limit: i64,
) -> Result<BTreeMap<ScheduleId, Ended>, StoreError> {
    let query = sqlx::query!(
        r#"select tenant_id, id, counted_by as "schedule!", state, finished_at as "finished_at!" from workflow_run
            where counted_by is not null and finished_at is not null order by finished_at limit $1"#,
        limit
    );
    let mut ended = BTreeMap::<_, Ended>::new();
    for row in named("fire.next_run_ends", query.fetch_all(tx)).await? {
        let schedule = ScheduleId(row.schedule);
        let state: RunState = row.state.parse().map_err(|()| StoreError::Malformed {
            what: "state",
            row: WorkflowRunId(row.id).to_string(),
            value: row.state,
        })?;
        let of = ended.entry(schedule).or_default();
        of.keys.push((row.tenant_id, row.id));
        let seq = row.finished_at.timestamp_micros();
        let made = Made::Run(WorkflowRunId(row.id));
        of.ends.push(End { seq, made, state: state.as_of_task() });
    }
    Ok(ended)
}

/// These runs are counted.
async fn forget(tx: &mut PgConnection, mut keys: Vec<(Uuid, Uuid)>) -> Result<(), StoreError> {
    keys.sort_unstable();
    let (tenants, ids): (Vec<Uuid>, Vec<Uuid>) = keys.into_iter().unzip();
    let query = sqlx::query!(
        "update workflow_run r set counted_by = null from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
            where r.tenant_id = any (array[i.tenant_id]) and r.id = i.id",
        &tenants,
        &ids
    );
    named("fire.count_run_ends", query.execute(tx)).await.map(|_| ())
}
