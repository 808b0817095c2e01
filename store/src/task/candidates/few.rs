//! Where few tasks wait all of them are read in one walk.
//!
//! It shows what a look that sees everything shows, for half of what that costs: that finds each strand, its first task and the
//! others in a descent of the index each, which pays where more waits than is read.

use super::{CandidateRow, Seen, StrandRows, candidate, key_limit, key_of, priority_of};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::hot::kept;
use crate::malformed;
use domain::batch::Strand;
use domain::fairness::NameKey;
use domain::id::{PoolName, TaskId, TenantId};
use domain::placement::Shapes;
use domain::resources::Resources;
use std::collections::HashMap;
use std::time::Duration;

/// All that is ready in `pool`, each strand in the order of its deadlines; `None`: that is more than `most`. Of a strand that finds no
/// room, by `largest` (per dimension the most any executor could ever hold) and `lacks`, no tasks. Leaves out what is about to expire.
///
/// # Errors
/// When the database cannot answer.
pub async fn all_ready(
    db: &SchedulerDb,
    pool: &PoolName,
    most: u64,
    largest: Resources,
    lacks: &Shapes,
) -> Result<Option<Seen>, StoreError> {
    let query = sqlx::query!(
        r#"select now() as "now!", t.tenant_id as "tenant_id?", t.strand as "strand?", t.id as "id?",
                t.start_deadline < now() as "late?", t.expires as "expires?", k.running as "running?",
                least(greatest(t.run_at, $3), $4) as "run_at?", least(greatest(t.start_deadline, $3), $4) as "start_deadline?",
                t.cpu_millis as "cpu_millis?", t.memory_mib as "memory_mib?", t.disk_mib as "disk_mib?", t.iops as "iops?",
                t.ports as "ports?", t.slots as "slots?", t.cap_ms as "cap_ms?", t.prepaid as "prepaid?", t.name_key as "name_key?",
                t.priority as "priority?", t.flexible as "flexible?", t.concurrency_key as "key?"
            from (select) one
            left join lateral (
                select o.tenant_id, o.strand, o.id, o.start_deadline, o.expire_if_late and o.first_started_at is null as expires, o.run_at,
                    o.cpu_millis, o.memory_mib, o.disk_mib, o.iops, o.ports, o.slots, o.cap_ms, o.prepaid, o.name_key, o.priority,
                    o.flexible, o.concurrency_key
                from task o
                where o.pool = $1 and o.state = 'ready'
                order by o.state, o.tenant_id, o.strand, o.start_deadline, o.id limit $2
            ) t on true
            left join lateral (
                select l.running from concurrency_limit l where l.tenant_id = t.tenant_id and l.key = t.concurrency_key limit 1
            ) k on t.concurrency_key is not null"#,
        pool.as_str(),
        i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX),
        malformed::LEAST,
        malformed::MOST
    );
    let mut rows = kept!(db.dispatch(), "task.all_ready", query.fetch_all);
    if rows.len() as u64 > most {
        return Ok(None);
    }
    // The statement promises no order; and mostly it comes in this one.
    rows.sort_by_key(|r| (r.tenant_id, r.strand, r.start_deadline, r.id));
    let now = rows.first().map(|row| row.now).unwrap_or_default();
    let mut seen = Seen { now, strands: Vec::new(), next: None, partly: HashMap::new() };
    for row in rows {
        let (Some(tenant), Some(strand), Some(id), Some(late)) =
            (row.tenant_id, row.strand, row.id, row.late)
        else {
            continue;
        };
        let (at, running) = ((TenantId(tenant), Strand(strand)), row.running);
        let task: CandidateRow = candidate!(row, id, row.key);
        if seen.strands.last().is_none_or(|strand| (strand.tenant, strand.strand) != at) {
            // All of a strand are of one size.
            let fits = task.resources.fits_in(largest) && !lacks.covers(task.resources);
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
    Ok(Some(seen))
}
