//! Stores tasks that may meet others: by unique key, or by idempotency key.
//!
//! Keys go in first, then the tasks whose key is new, all `on conflict do nothing`, in sorted order; within one slice the
//! earlier wins. Who loses reads what won. A concurrent winner is waited for inside the database, so the loser finds it.
//! What was inserted is asked for as `coalesce (id in (...), false)`: that stays one hashed look-up, where a join would
//! compare every row with every other.

use super::links::TaskLinks;
use super::row::SubmittedTask;
use super::{Created, NewTask, SubmitAnswer};
use crate::StoreError;
use crate::statement::named;
use domain::id::TaskId;
use domain::task::State;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// Most tasks have nothing to do with others, and so the statement without keys has no column for it.
pub(super) fn needs_guard<'a>(tasks: impl IntoIterator<Item = &'a NewTask>) -> bool {
    tasks.into_iter().any(|task| task.idempotency.is_some() || !stands_alone(task))
}

/// Whether a task has to do with others by its idempotency key at most. Then one statement decides whether it is new.
#[must_use]
pub fn stands_alone(task: &NewTask) -> bool {
    task.unique_key.is_none()
        && task.rerun_of.is_none()
        && task.depends_on.is_none()
        && task.node.is_none()
}

/// Stores those of the tasks, which [`stands_alone`] is true of, whose keys are new and whose tenants have no spend cap, in one statement;
/// the others get no answer.
pub(super) async fn insert_keyed(
    connection: &mut PgConnection,
    tasks: &[&NewTask],
) -> Result<Vec<Option<SubmitAnswer>>, StoreError> {
    let mut answers = vec![None; tasks.len()];
    for row in stored(connection, tasks, &[], Caps::None).await? {
        let place = usize::try_from(row.place - 1).ok().and_then(|place| answers.get_mut(place));
        *place.ok_or(StoreError::Contended)? = row.stored.then(|| row.created());
    }
    Ok(answers)
}

/// Of which tenants tasks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caps {
    /// Of those without spend caps.
    None,
    /// Of all: what they reserve was decided.
    Decided,
}

struct GuardedRow {
    place: i64,
    created_at: Timestamp,
    run_at: Timestamp,
    start_deadline: Timestamp,
    key_is_new: bool,
    stored: bool,
    waits: bool,
}

impl crate::statement::RowCount for GuardedRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl GuardedRow {
    fn created(&self) -> SubmitAnswer {
        let is_ready = self.run_at <= self.created_at && !self.waits;
        SubmitAnswer::Created(Created {
            created_at: self.created_at,
            run_at: self.run_at,
            start_deadline: self.start_deadline,
            state: if is_ready { State::Ready } else { State::Scheduled },
            waits: self.waits,
        })
    }
}

async fn stored(
    tx: &mut PgConnection,
    tasks: &[&NewTask],
    links: &[TaskLinks],
    caps: Caps,
) -> Result<Vec<GuardedRow>, StoreError> {
    let rows: Vec<SubmittedTask<'_>> =
        tasks.iter().map(|task| SubmittedTask::from(*task)).collect();
    let query = sqlx::query_as!(
        GuardedRow,
        r#"with input as materialized (
                select i.*, now() as created_at, coalesce(i.at, now() + i.delay_ms * interval '1 millisecond') as run_at
                from unnest($1::submission[], $2::task_links[], $3::text[]) with ordinality i
                where $4 or not exists (select from spend_cap c where c.tenant_id = i.tenant_id)
            ), keyed as (
                insert into idempotency (tenant_id, route, key, body_hash, task_id)
                select tenant_id, route, key, body_hash, id from input where key is not null
                order by tenant_id, route, key, ordinality
                on conflict do nothing
                returning task_id
            ), live as (
                insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, priority, flexible, concurrency_key, strand,
                    name_key, driver, unique_key, needs, undecided, release_delay_ms, doomed_by, children, run_id, gate, reservation, wake_at)
                select i.tenant_id, i.id,
                    i.pool,
                    (case when i.needs is null and i.gate is null and i.run_at <= i.created_at then 'ready' else 'scheduled' end)::task_state,
                    i.tier::task_tier, i.cpu_millis, i.memory_mib, i.disk_mib, i.iops, i.ports, i.slots, i.run_at,
                    i.run_at + i.tolerance_ms * interval '1 millisecond', i.cap_ms, i.max_attempts, i.expire_if_late, i.at_most_once,
                    i.priority, i.flexible, i.concurrency_key, i.strand, coalesce(hashtextextended(i.name, 0), 0), i.driver,
                    i.unique_key, i.needs, i.undecided, i.release_delay_ms, i.doomed_by, i.children,
                    i.run_id, case when i.gate is not null then 'closed' end, i.unnest::jsonb,
                    case when i.needs is not null then case when i.doomed_by is not null then i.created_at end
                        when i.gate is not null or i.run_at > i.created_at then i.run_at
                        when i.expire_if_late then i.run_at + i.tolerance_ms * interval '1 millisecond' end
                from input i
                where i.key is null or coalesce(i.id in (select k.task_id from keyed k), false)
                order by i.tenant_id, i.unique_key, i.ordinality
                on conflict (tenant_id, unique_key) where unique_key is not null do nothing
                returning id
            ), spec as (
                insert into task_spec (id, tenant_id, created_at, run_at, name, run, retry, labels, delay_tolerance_ms,
                    traceparent, key_id, priority, flexible, concurrency_key, schedule_id, due_at, schedule_name,
                    rerun_of, depends_on, run_id, node, gate)
                select i.id, i.tenant_id, i.created_at, i.run_at, i.name, i.run, i.retry, i.labels::jsonb, i.tolerance_ms,
                    i.traceparent, i.key_id, i.priority, i.flexible, i.concurrency_key, i.schedule_id, i.due_at,
                    i.schedule_name, i.rerun_of, i.depends_on, i.run_id, i.node, i.gate
                from input i where coalesce(i.id in (select l.id from live l), false)
            )
            select i.ordinality as "place!", i.created_at as "created_at!", i.run_at as "run_at!",
                i.run_at + i.tolerance_ms * interval '1 millisecond' as "start_deadline!",
                i.key is null or coalesce(i.id in (select k.task_id from keyed k), false) as "key_is_new!",
                coalesce(i.id in (select l.id from live l), false) as "stored!", i.needs is not null or i.gate is not null as "waits!"
            from input i order by i.ordinality"#,
        &rows as &[SubmittedTask<'_>],
        links as &[TaskLinks],
        &reservations(tasks) as &[Option<String>],
        caps == Caps::Decided
    );
    named("submit_guarded", query.fetch_all(tx)).await
}

/// `links` are of `tasks`, in their order; none at all where no task has any.
pub(super) async fn insert(
    tx: &mut PgConnection,
    tasks: &[&NewTask],
    links: &[TaskLinks],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let rows = stored(tx, tasks, links, Caps::Decided).await?;
    // Holders first: a later task of this slice with the same idempotency key must read the holder, too.
    let lost_unique = rows
        .iter()
        .zip(tasks)
        .filter(|(row, _)| row.key_is_new && !row.stored)
        .map(|(_, task)| *task);
    let by_unique = holders(tx, lost_unique.collect()).await?;
    let lost_key = rows.iter().zip(tasks).filter(|(row, _)| !row.key_is_new).map(|(_, task)| *task);
    let by_key = first_answers(tx, lost_key.collect()).await?;
    rows.into_iter()
        .zip(tasks)
        .map(|(row, task)| {
            if row.stored {
                Ok(row.created())
            } else if row.key_is_new {
                // The holder ended between the two statements: the same call stores it now.
                by_unique.get(&task.id).cloned().ok_or(StoreError::Contended)
            } else {
                by_key.get(&task.id).cloned().ok_or(StoreError::Contended)
            }
        })
        .collect()
}

fn reservations(tasks: &[&NewTask]) -> Vec<Option<String>> {
    tasks.iter().map(|task| task.reservation_json()).collect()
}

/// For tasks whose idempotency key was used before: what it stands for.
async fn first_answers(
    tx: &mut PgConnection,
    lost: Vec<&NewTask>,
) -> Result<HashMap<TaskId, SubmitAnswer>, StoreError> {
    if lost.is_empty() {
        return Ok(HashMap::new());
    }
    let keys: Vec<_> = lost.iter().filter_map(|t| t.idempotency.as_ref().map(|k| (t, k))).collect();
    let tenants: Vec<Uuid> = keys.iter().map(|(t, _)| t.tenant.uuid()).collect();
    let ids: Vec<Uuid> = keys.iter().map(|(t, _)| t.id.uuid()).collect();
    let routes: Vec<String> = keys.iter().map(|(_, k)| k.route.clone()).collect();
    let names: Vec<String> = keys.iter().map(|(_, k)| k.key.clone()).collect();
    let query = sqlx::query!(
        r#"select i.id as "id!", k.body_hash as "body_hash!", k.task_id as "task_id?"
            from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as i(tenant_id, id, route, key)
            cross join lateral (select f.body_hash, f.task_id from idempotency f
                where f.tenant_id = i.tenant_id and f.route = i.route and f.key = i.key limit 1) k"#,
        &tenants,
        &ids,
        &routes,
        &names
    );
    let rows = named("submit.first_answers", query.fetch_all(tx)).await?;
    let hashes: HashMap<Uuid, [u8; 32]> =
        keys.iter().map(|(t, k)| (t.id.uuid(), k.body_hash)).collect();
    let answer = |id: Uuid, hash: &[u8], first: Option<Uuid>| match first {
        Some(first) if hashes.get(&id).is_some_and(|own| own == hash) => {
            SubmitAnswer::Replayed(TaskId(first))
        }
        _ => SubmitAnswer::KeyReused,
    };
    Ok(rows
        .into_iter()
        .map(|row| (TaskId(row.id), answer(row.id, &row.body_hash, row.task_id)))
        .collect())
}

/// For tasks whose unique key is taken: by whom. Their idempotency rows are made to name the holder.
async fn holders(
    tx: &mut PgConnection,
    lost: Vec<&NewTask>,
) -> Result<HashMap<TaskId, SubmitAnswer>, StoreError> {
    if lost.is_empty() {
        return Ok(HashMap::new());
    }
    let tenants: Vec<Uuid> = lost.iter().map(|t| t.tenant.uuid()).collect();
    let ids: Vec<Uuid> = lost.iter().map(|t| t.id.uuid()).collect();
    let unique: Vec<String> =
        lost.iter().map(|t| t.unique_key.clone().unwrap_or_default()).collect();
    let query = sqlx::query!(
        r#"select i.id as "id!", t.id as "holder!"
            from unnest($1::uuid[], $2::uuid[], $3::text[]) as i(tenant_id, id, unique_key)
            cross join lateral (select h.id from task h
                where h.tenant_id = i.tenant_id and h.unique_key = i.unique_key limit 1) t"#,
        &tenants,
        &ids,
        &unique
    );
    let rows = named("submit.holders", query.fetch_all(&mut *tx)).await?;
    let held: HashMap<Uuid, Uuid> = rows.into_iter().map(|row| (row.id, row.holder)).collect();
    let keyed: Vec<_> = lost
        .iter()
        .filter_map(|t| Some((t, t.idempotency.as_ref()?, held.get(&t.id.uuid())?)))
        .collect();
    if !keyed.is_empty() {
        let tenants: Vec<Uuid> = keyed.iter().map(|(t, _, _)| t.tenant.uuid()).collect();
        let routes: Vec<String> = keyed.iter().map(|(_, k, _)| k.route.clone()).collect();
        let names: Vec<String> = keyed.iter().map(|(_, k, _)| k.key.clone()).collect();
        let holders: Vec<Uuid> = keyed.iter().map(|(_, _, holder)| **holder).collect();
        let query = sqlx::query!(
            "update idempotency k set task_id = i.holder
                from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[]) as i(tenant_id, route, key, holder)
                where k.tenant_id = any (array[i.tenant_id]) and k.route = i.route and k.key = i.key",
            &tenants,
            &routes,
            &names,
            &holders
        );
        named("submit.name_holders", query.execute(tx)).await?;
    }
    Ok(held
        .into_iter()
        .map(|(id, holder)| (TaskId(id), SubmitAnswer::Existing(TaskId(holder))))
        .collect())
}
