//! Opens gates.

use super::expand::expand;
use super::gather::gather;
use super::moves::{Moves, over};
use super::read::{GatedTask, Key, RunOfGates, lock, results, runs};
use super::wait::{Waiting, begin};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use crate::task::reserve::reserve;
use crate::task::transition::{
    PreparedTask, expired, prepare_failed_in, prepared_in, skipped_in, wait_over_in,
};
use domain::id::{TaskId, TenantId};
use domain::task::Run;
use domain::workflow::Opening;
use sqlx::{Connection, PgConnection};
use tracing::warn;

/// What one call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenedGates {
    /// Gates that were read.
    pub read: u64,
    /// Tasks that are ready now, with the items of `for_each`.
    pub ready: u64,
    /// Tasks that ended.
    pub ended: u64,
    /// Tasks that wait for a signal or a person now.
    pub waiting: u64,
}

/// Opens up to `limit` gates, and ends up to `limit` nodes whose wait has expired. Wake the batcher where tasks are ready, and the
/// schedulers where some ended.
///
/// # Errors
/// When the database cannot answer; then nothing was opened.
pub async fn open_gates(db: &SchedulerDb, limit: i64) -> Result<OpenedGates, StoreError> {
    let mut opened = repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let tasks = lock(&mut tx, limit).await?;
        if tasks.is_empty() {
            return Ok(OpenedGates::default());
        }
        let opened = open(&mut tx, &tasks).await?;
        named("commit", tx.commit()).await?;
        Ok(opened)
    })
    .await?;
    let query = sqlx::query!(
        "select tenant_id, id from task
            where gate = 'waiting' and gate is not null and needs is null and wake_at <= now() order by wake_at limit $1",
        limit
    );
    let late = named("gate.late", query.fetch_all(db.pool())).await?;
    if !late.is_empty() {
        let keys: Vec<_> =
            late.into_iter().map(|row| (TenantId(row.tenant_id), TaskId(row.id))).collect();
        opened.ended += expired(db, &keys).await?;
        opened.read += keys.len() as u64;
    }
    Ok(opened)
}

async fn open(tx: &mut PgConnection, tasks: &[GatedTask]) -> Result<OpenedGates, StoreError> {
    let mut runs = runs(&mut *tx, tasks).await?;
    // Those of stopped runs are left to be cancelled.
    let of_runs = tasks.iter().filter_map(|task| Some((task, *runs.get(&task.run)?)));
    let of_runs: Vec<(&GatedTask, RunOfGates)> = few_reads(of_runs);
    let results = results(&mut *tx, &of_runs).await?;
    let mut moves = Moves::default();
    for (task, run) in &of_runs {
        let (tenant, id) = task.key;
        if task.is_gathering {
            gather(&mut *tx, task, *run, &mut moves).await?;
            continue;
        }
        let Some((what, gate)) = &task.spec else {
            let why = "what it runs was stored by another version of Berth".to_owned();
            moves.failed.push((tenant, id, why));
            continue;
        };
        let room = runs.get(&task.run).map_or(0, |run| run.room);
        let result = |of: TaskId| results.get(&(tenant, of));
        match gate.open(what, usize::try_from(room).unwrap_or(0), result) {
            Opening::Run(run) => moves.prepared.push(PreparedTask { tenant, task: id, run }),
            Opening::Skip(why) => moves.skipped.push((tenant, id, storable(&why))),
            Opening::Fail(why) => moves.failed.push((tenant, id, storable(&why))),
            Opening::TimeOver => moves.over.push(over(task.key, None, "its time came")),
            Opening::Wait { signal, expires } => {
                moves.waiting.push(Waiting { key: task.key, signal, expires });
            }
            Opening::Each(items) if items.is_empty() => {
                moves.over.push(over(
                    task.key,
                    Some("[]".to_owned()),
                    "its `for_each` has no items",
                ));
            }
            Opening::Each(items) => {
                let stored = match expand_or_undo(&mut *tx, task, items).await? {
                    Expanded::Items(stored) => stored,
                    Expanded::OverCap => {
                        moves.unpaid.push(task.key);
                        continue;
                    }
                    Expanded::Refused => {
                        let why = "its items could not be stored: its pool may have been deleted";
                        moves.failed.push((tenant, id, why.to_owned()));
                        continue;
                    }
                };
                moves.items += stored;
                if let Some(run) = runs.get_mut(&task.run) {
                    run.room -= i64::try_from(stored).unwrap_or(i64::MAX);
                }
            }
        }
    }
    let read = tasks.len() as u64;
    Ok(OpenedGates { read, ..apply(tx, moves).await? })
}

/// The first of `tasks`, at least one, that read no more than 1000 results together: each may have 64 KiB. The others come next.
fn few_reads<'a>(
    tasks: impl Iterator<Item = (&'a GatedTask, RunOfGates)>,
) -> Vec<(&'a GatedTask, RunOfGates)> {
    const MOST: usize = 1000;
    let (mut few, mut reads) = (Vec::new(), 0);
    for (task, run) in tasks {
        reads += task.spec.as_ref().map_or(0, |(_, gate)| gate.reads().count());
        if reads > MOST && !few.is_empty() {
            break;
        }
        few.push((task, run));
    }
    few
}

/// Result of storing the items of a node.
enum Expanded {
    /// So many are stored.
    Items(u64),
    /// A spend cap has no room for all of them.
    OverCap,
    /// The database refuses them.
    Refused,
}

/// Stores items, or nothing. What the database refuses must not keep other gates closed.
async fn expand_or_undo(
    tx: &mut PgConnection,
    task: &GatedTask,
    items: Vec<Run>,
) -> Result<Expanded, StoreError> {
    let mut inner = named("begin", tx.begin()).await?;
    match expand(&mut inner, task, items).await {
        Ok(Some(stored)) => {
            named("commit", inner.commit()).await?;
            Ok(Expanded::Items(stored))
        }
        Ok(None) => {
            named("rollback", inner.rollback()).await?;
            Ok(Expanded::OverCap)
        }
        Err(error @ (StoreError::Database(_) | StoreError::Malformed { .. })) => {
            warn!(task.id = %task.key.1, %error, "Items of `{}` could not be stored; it fails", task.key.1);
            named("rollback", inner.rollback()).await?;
            Ok(Expanded::Refused)
        }
        Err(error) => Err(error),
    }
}

/// Postgres refuses NUL in a text; a reason may quote what a task returned.
fn storable(why: &str) -> String {
    why.replace('\0', "\u{fffd}")
}

async fn apply(tx: &mut PgConnection, mut moves: Moves) -> Result<OpenedGates, StoreError> {
    let mut opened = OpenedGates { ready: moves.items, ..OpenedGates::default() };
    if !moves.waiting.is_empty() {
        let (waiting, over) = begin(&mut *tx, &moves.waiting).await?;
        opened.waiting = waiting;
        moves.over.extend(over);
    }
    if !moves.prepared.is_empty() {
        let keys: Vec<_> = moves.prepared.iter().map(|one| (one.tenant, one.task)).collect();
        let refused = reserve(&mut *tx, &keys).await?;
        let unpaid = moves.prepared.extract_if(.., |one| refused.contains_key(&one.task));
        moves.unpaid.extend(unpaid.map(|one| (one.tenant, one.task)));
        opened.ready += prepared_in(&mut *tx, &moves.prepared).await?;
    }
    if !moves.unpaid.is_empty() {
        wait_for_room(&mut *tx, &moves.unpaid).await?;
    }
    if !moves.skipped.is_empty() {
        opened.ended += skipped_in(&mut *tx, &moves.skipped).await?;
    }
    if !moves.failed.is_empty() {
        opened.ended += prepare_failed_in(&mut *tx, &moves.failed).await?;
    }
    for (gate, over) in [("closed", moves.over), ("items", moves.gathered)] {
        if !over.is_empty() {
            opened.ended += wait_over_in(&mut *tx, gate, &over).await?;
        }
    }
    Ok(opened)
}

/// Lets tasks wait for room in the spend caps of their tenant: they are tried again.
async fn wait_for_room(tx: &mut PgConnection, tasks: &[Key]) -> Result<(), StoreError> {
    let tenants: Vec<_> = tasks.iter().map(|(tenant, _)| tenant.uuid()).collect();
    let ids: Vec<_> = tasks.iter().map(|(_, task)| task.uuid()).collect();
    let query = sqlx::query!(
        "update task t set wake_at = now() + interval '10 seconds' from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
            where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id and t.gate = 'closed'",
        &tenants,
        &ids
    );
    named("gate.wait_for_room", query.execute(tx)).await.map(drop)
}
