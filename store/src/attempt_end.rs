//! What attempts took, from the resource managers to the batcher: so that tenants are charged what they used.
//!
//! Not the record of it, which is in `attempt`: a word that is lost costs fairness for a while, and nothing else.

use crate::StoreError;
use crate::connect::{RmDb, SchedulerDb};
use crate::own::on_own;
use crate::statement::named;
use domain::fairness::Doubtful;
use domain::id::{NodeId, TaskId};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

/// Bytes of an end: the task's id, and the milliseconds it used.
const BYTES: usize = 20;
/// Ends in a row, at most.
const ROW: usize = 50_000;

/// What the last attempt of a task used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedTime {
    /// The task.
    pub task: TaskId,
    /// From its claim to its end; reported in whole milliseconds, up to 49 days.
    pub used: Duration,
}

/// `ends` as words, each of which is a row.
#[must_use]
pub fn words(ends: &[UsedTime]) -> Vec<Vec<u8>> {
    ends.chunks(ROW).map(|ends| ends.iter().flat_map(bytes).collect()).collect()
}

/// `owner` tells what attempts used, as its words `seq` and following.
///
/// # Errors
/// When the database cannot answer.
pub async fn tell(db: &RmDb, owner: NodeId, seq: i64, words: &[Vec<u8>]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "insert into attempt_end (owner, seq, ends)
            select $1, $2 + i.place - 1, i.ends from unnest($3::bytea[]) with ordinality as i(ends, place)
            on conflict do nothing",
        owner.uuid(),
        seq,
        words
    );
    named("attempt_end.tell", query.execute(db.pool())).await?;
    Ok(())
}

/// What was told in the last 10 s and not `heard`, which is the last word of each owner; it follows.
///
/// # Errors
/// When the database cannot answer.
pub async fn read(
    db: &SchedulerDb,
    heard: &mut HashMap<NodeId, i64>,
) -> Result<Vec<UsedTime>, StoreError> {
    let (owners, seqs): (Vec<_>, Vec<_>) =
        heard.iter().map(|(owner, seq)| (owner.uuid(), *seq)).unzip();
    let query = sqlx::query!(
        "select e.owner, e.seq, e.ends from attempt_end e
            left join unnest($1::uuid[], $2::bigint[]) as h(owner, seq) on h.owner = e.owner
            where e.at > now() - interval '10 seconds' and (h.seq is null or e.seq > h.seq)",
        &owners,
        &seqs
    );
    let rows = on_own!(db.dispatch(), "attempt_end.read", query.fetch_all);
    let mut ends = Vec::new();
    for row in rows {
        let last = heard.entry(NodeId(row.owner)).or_insert(row.seq);
        *last = row.seq.max(*last);
        ends.extend(row.ends.as_chunks::<BYTES>().0.iter().map(end));
    }
    Ok(ends)
}

/// Deletes what is older than a minute; says how many rows.
///
/// # Errors
/// When the database cannot answer.
pub async fn prune(db: &SchedulerDb) -> Result<u64, StoreError> {
    let query = sqlx::query!("delete from attempt_end where at < now() - interval '1 minute'");
    Ok(named("attempt_end.prune", query.execute(db.pool())).await?.rows_affected())
}

/// Of those of `tasks` that are in neither the broker's hands nor an executor's: what the last attempt
/// since their dispatch used; nothing where there was none.
///
/// # Errors
/// When the database cannot answer.
pub async fn unreported(db: &SchedulerDb, tasks: &[Doubtful]) -> Result<Vec<UsedTime>, StoreError> {
    let tenants: Vec<_> = tasks.iter().map(|one| one.tenant.uuid()).collect();
    let ids: Vec<_> = tasks.iter().map(|one| one.task.uuid()).collect();
    let since: Vec<_> = tasks.iter().map(|one| one.since).collect();
    let query = sqlx::query!(
        r#"select i.id as "id!", coalesce(a.usage_ms, 0) as "used_ms!"
            from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as i(tenant_id, id, since)
            left join lateral (select x.state from task x where x.tenant_id = i.tenant_id and x.id = i.id limit 1) t on true
            left join lateral (select e.usage_ms from attempt e
                where e.tenant_id = i.tenant_id and e.task_id = i.id and e.ended_at > i.since
                    and e.ended_at > now() - interval '2 days'
                order by e.attempt desc limit 1) a on true
            where t.state is null or t.state not in ('queued', 'running', 'cancelling')"#,
        &tenants,
        &ids,
        &since
    );
    let rows = on_own!(db.dispatch(), "attempt_end.unreported", query.fetch_all);
    let used = |ms: i64| Duration::from_millis(ms.unsigned_abs());
    let ends = rows.into_iter();
    Ok(ends.map(|row| UsedTime { task: TaskId(row.id), used: used(row.used_ms) }).collect())
}

fn bytes(UsedTime { task, used }: &UsedTime) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..16].copy_from_slice(task.uuid().as_bytes());
    let millis = u32::try_from(used.as_millis()).unwrap_or(u32::MAX);
    bytes[16..].copy_from_slice(&millis.to_be_bytes());
    bytes
}

fn end(bytes: &[u8; BYTES]) -> UsedTime {
    let (id, millis) = bytes.split_at(16);
    let id = <[u8; 16]>::try_from(id).unwrap_or_default();
    let millis = <[u8; 4]>::try_from(millis).unwrap_or_default();
    UsedTime {
        task: TaskId(Uuid::from_bytes(id)),
        used: Duration::from_millis(u32::from_be_bytes(millis).into()),
    }
}
