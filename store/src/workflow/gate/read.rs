//! Reads what is needed to open gates. The caller has locked the tasks.

use crate::StoreError;
use crate::statement::named;
use crate::workflow::run::ends;
use domain::id::{TaskId, TenantId, WorkflowRunId};
use domain::task::Run;
use domain::time::Timestamp;
use domain::workflow::Gate;
use serde_json::Value;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

pub(super) type Key = (TenantId, TaskId);

/// A task whose gate is to be opened.
#[derive(Debug)]
pub(super) struct GatedTask {
    pub key: Key,
    pub run: WorkflowRunId,
    /// It has become tasks, and they have ended.
    pub is_gathering: bool,
    /// `None` where this release cannot read it.
    pub spec: Option<(Run, Gate)>,
}

/// A run with gates to open.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunOfGates {
    /// Its tasks may be that old.
    pub since: Timestamp,
    /// Tasks that it may have more.
    pub room: i64,
}

/// Locks up to `limit` tasks whose gate is to be opened and that no other transaction holds, in the order of their keys.
pub(super) async fn lock(tx: &mut PgConnection, limit: i64) -> Result<Vec<GatedTask>, StoreError> {
    let query = sqlx::query!(
        r#"select g.tenant_id as "tenant_id!", g.id as "id!", g.run_id as "run_id!", g.gate as "state!", s.run as "run?", s.gate as "gate?"
            from (
                select l.tenant_id, l.id, l.run_id, l.gate from task l
                where l.gate in ('closed', 'items') and l.gate is not null and l.needs is null and l.wake_at <= now()
                order by l.wake_at limit $1 for update skip locked) g
            cross join lateral (select f.run, f.gate from task_spec f where f.id = g.id limit 1) s
            order by g.tenant_id, g.id"#,
        limit
    );
    let rows = named("gate.lock", query.fetch_all(tx)).await?;
    let read = |run: Option<String>, gate: Option<String>| {
        Some((Run::from_json(&run?).ok()?, serde_json::from_str(&gate?).ok()?))
    };
    let gated = rows.into_iter().map(|row| GatedTask {
        key: (TenantId(row.tenant_id), TaskId(row.id)),
        run: WorkflowRunId(row.run_id),
        is_gathering: row.state == "items",
        spec: read(row.run, row.gate),
    });
    Ok(gated.collect())
}

/// The runs of `tasks` that are not stopped.
pub(super) async fn runs(
    tx: &mut PgConnection,
    tasks: &[GatedTask],
) -> Result<HashMap<WorkflowRunId, RunOfGates>, StoreError> {
    let mut keys: Vec<(Uuid, Uuid)> =
        tasks.iter().map(|task| (task.key.0.uuid(), task.run.uuid())).collect();
    keys.sort_unstable();
    keys.dedup();
    let (tenants, ids): (Vec<Uuid>, Vec<Uuid>) = keys.into_iter().unzip();
    let query = sqlx::query!(
        r#"select r.id as "id!", r.tasks_since as "since!", r.most - r.total as "room!"
            from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
            cross join lateral (
                select f.id, f.tasks_since, f.most, f.total from workflow_run f
                where f.tenant_id = i.tenant_id and f.id = i.id and f.stopped_at is null limit 1) r"#,
        &tenants,
        &ids
    );
    let rows = named("gate.runs", query.fetch_all(tx)).await?;
    let run = |since, room| RunOfGates { since, room };
    Ok(rows.into_iter().map(|row| (WorkflowRunId(row.id), run(row.since, row.room))).collect())
}

/// What the tasks returned that the gates of `tasks` read.
pub(super) async fn results(
    tx: &mut PgConnection,
    tasks: &[(&GatedTask, RunOfGates)],
) -> Result<HashMap<Key, Value>, StoreError> {
    let mut wanted: Vec<(TenantId, TaskId, Timestamp)> = Vec::new();
    for (task, run) in tasks {
        let reads = task.spec.iter().flat_map(|(_, gate)| gate.reads());
        wanted.extend(reads.map(|of| (task.key.0, of, run.since)));
    }
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let found = ends(tx, &wanted).await?;
    let mut results = HashMap::new();
    for ((tenant, task, _), end) in wanted.iter().zip(found) {
        let value = end.and_then(|(_, value)| serde_json::from_str(&value?).ok());
        results.extend(value.map(|value| ((*tenant, *task), value)));
    }
    Ok(results)
}
