//! `dispatched`, of all that waits: where few tasks wait and all of them may go, one statement reads and marks them.
//!
//! It shows what a look that sees everything shows, for half of what that costs: that finds each strand, its first task and the
//! others in a descent of the index each, which pays where more waits than is read. Where one of them may have to wait for another, none
//! is marked, and the batcher chooses.

use super::DispatchedRow;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::hot::kept;
use crate::leadership::LeaderEpoch;
use crate::malformed;
use crate::statement::repeated;
use crate::task::candidates::{
    CandidateRow, Seen, StrandRows, candidate, key_limit, key_of, priority_of,
};
use domain::batch::Strand;
use domain::fairness::NameKey;
use domain::id::{NodeId, PoolName, TaskId, TenantId};
use domain::placement::Shapes;
use domain::resources::Resources;
use domain::task::State;
use domain::time::millis;
use std::collections::HashMap;
use std::time::Duration;

/// What is read in one walk, and when all of it goes.
#[derive(Debug, Clone, Copy)]
pub struct Few<'a> {
    /// Tasks, at most.
    pub most: u64,
    /// Room they may take together, in basic tasks, and go without a choice.
    pub slots: u64,
    /// Tenants whose tasks may go without a choice, ...
    pub free: &'a [TenantId],
    /// ... where all that is read are no more than as many more as each of those may run.
    pub each: u64,
    /// Per dimension the most any executor could ever hold.
    pub largest: Resources,
    /// Sizes for which there is no room.
    pub lacks: &'a Shapes,
}

/// All that is ready in `pool`, each strand in the order of its deadlines, and what of it was marked as [`dispatched`](super::dispatched()) marks:
/// all that can be worked with, or nothing. `None`: more than `few.most` are ready.
///
/// Nothing is marked where there may be something to choose (a task that is late, flexible, too large or has a concurrency key, or is of somebody
/// who is not in `few.free`), nor where `node` is not the batcher of `epoch` any more. Of a strand that finds no room no
/// tasks are shown. Leaves out what is about to expire.
///
/// # Errors
/// When the database cannot answer.
#[expect(clippy::too_many_lines, reason = "one statement, its values and its rows")]
pub async fn all_dispatched(
    db: &SchedulerDb,
    (node, epoch): (NodeId, LeaderEpoch),
    pool: &PoolName,
    few: Few<'_>,
    sweep_age: Duration,
) -> Result<Option<(Seen, Vec<DispatchedRow>)>, StoreError> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    // Which tasks those are is found out below, too late to leave them.
    let free = if few.lacks.is_empty() { few.free } else { &[] };
    let free: Vec<_> = free.iter().map(|tenant| tenant.uuid()).collect();
    let largest = few.largest.dimensions().map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    let mut rows = repeated(|| async {
        let query = sqlx::query!(
            r#"with few as materialized (
                    select o.ctid as place, o.tenant_id, o.strand, o.id, o.start_deadline, o.start_deadline < now() as late,
                        o.expire_if_late and o.first_started_at is null as expires, o.run_at, o.cpu_millis, o.memory_mib, o.disk_mib, o.iops,
                        o.ports, o.slots, o.cap_ms, o.prepaid, o.name_key, o.priority, o.flexible, o.concurrency_key
                    from task o
                    where o.pool = $1 and o.state = 'ready'
                    order by o.state, o.tenant_id, o.strand, o.start_deadline, o.id limit $2
                ), judged as materialized (
                    select count(*) <= $16 and sum(f.slots) <= $5 and bool_and(coalesce(f.tenant_id = any ($6) and not f.late and not f.flexible
                        and f.concurrency_key is null and f.slots > 0 and f.cpu_millis <= $7 and f.memory_mib <= $8 and f.disk_mib <= $9
                        and f.iops <= $10 and f.ports <= $11, false)) as all_go
                    from few f
                ), lead as materialized (
                    -- Locked only where something goes.
                    select from leadership
                    where (select all_go from judged)
                        and role = 'batcher' and holder = $12 and epoch = $13 and expires_at > clock_timestamp()
                    for share
                ), marked as (
                    update task t set state = 'queued', dispatch_epoch = t.dispatch_epoch + 1, prepaid = true,
                        wake_at = now() + $14 * interval '1 millisecond'
                    from (select f.place from few f order by f.tenant_id, f.id) i
                    where t.ctid = i.place and t.state = $15::text::task_state and exists (select from lead) and berth_task_is_sound(t)
                    returning i.place, t.dispatch_epoch
                )
                select now() as "now!", f.tenant_id as "tenant_id?", f.strand as "strand?", f.id as "id?", f.late as "late?",
                    f.expires as "expires?", k.running as "running?", m.dispatch_epoch as "dispatch_epoch?",
                    -- Times that no clock shows would not survive being read.
                    least(greatest(f.run_at, $3), $4) as "run_at?", least(greatest(f.start_deadline, $3), $4) as "start_deadline?",
                    f.cpu_millis as "cpu_millis?", f.memory_mib as "memory_mib?", f.disk_mib as "disk_mib?", f.iops as "iops?",
                    f.ports as "ports?", f.slots as "slots?", f.cap_ms as "cap_ms?", f.prepaid as "prepaid?", f.name_key as "name_key?",
                    f.priority as "priority?", f.flexible as "flexible?", f.concurrency_key as "key?"
                from (select) one
                left join few f on true
                left join marked m on m.place = f.place
                left join lateral (
                    select l.running from concurrency_limit l where l.tenant_id = f.tenant_id and l.key = f.concurrency_key limit 1
                ) k on f.concurrency_key is not null"#,
            pool.as_str(),
            number(few.most.saturating_add(1)),
            malformed::LEAST,
            malformed::MOST,
            number(few.slots),
            &free,
            largest[0],
            largest[1],
            largest[2],
            largest[3],
            largest[4],
            node.uuid(),
            epoch.0,
            millis(sweep_age) as f64,
            State::Ready.as_str(),
            number(few.most.min(few.each))
        );
        Ok(kept!(db.dispatch(), "all_dispatched", query.fetch_all))
    })
    .await?;
    if rows.len() as u64 > few.most {
        return Ok(None);
    }
    // The statement promises no order; and mostly it comes in this one.
    rows.sort_by_key(|r| (r.tenant_id, r.strand, r.start_deadline, r.id));
    let now = rows.first().map(|row| row.now).unwrap_or_default();
    let mut seen = Seen { now, strands: Vec::new(), next: None, partly: HashMap::new() };
    let mut marked = Vec::new();
    for row in rows {
        let (Some(tenant), Some(strand), Some(id), Some(late)) =
            (row.tenant_id, row.strand, row.id, row.late)
        else {
            continue;
        };
        let (at, running) = ((TenantId(tenant), Strand(strand)), row.running);
        let task: CandidateRow = candidate!(row, id, row.key);
        let of = |dispatch_epoch| DispatchedRow { tenant: at.0, task: task.task, dispatch_epoch };
        marked.extend(row.dispatch_epoch.map(of));
        if seen.strands.last().is_none_or(|strand| (strand.tenant, strand.strand) != at) {
            // All of a strand are of one size.
            let fits = task.resources.fits_in(few.largest) && !few.lacks.covers(task.resources);
            seen.strands.push(StrandRows {
                tenant: at.0,
                strand: at.1,
                key: task.key.clone().map(|key| (key, key_limit(running, at.0).into())),
                lacks_room: !fits,
                rows: Vec::new(),
                more_late: false,
                more_on_time: false,
            });
        }
        let Some(strand) = seen.strands.last_mut() else { continue };
        let stays = !late || row.expires == Some(false);
        if stays && !strand.lacks_room {
            strand.rows.push(task);
        }
    }
    Ok(Some((seen, marked)))
}
