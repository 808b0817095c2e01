//! Lists a tenant's tasks, newest first, in keyset pages.
//!
//! One statement over the live and the ended, so that a task that ends meanwhile is on the page once. Where a filter may fit few rows,
//! it numbers those that it reads, and the one with the number [`MOST_READ`] is in the answer whether it fits or not: there the page
//! ends.

use super::record::{TaskRecord, TaskRow};
use crate::connect::ApiDb;
use crate::statement::{named, patient};
use crate::{MOST_READ, PageOf, StoreError, TenantScope};
use domain::id::{ScheduleId, TaskId, WorkflowRunId};
use domain::resources::Tier;
use domain::task::State;
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Postgres, QueryBuilder, Row as _};
use uuid::Uuid;

/// Which tasks. Everything left out means all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskFilter {
    /// In one of these states.
    pub states: Vec<State>,
    /// Of this tier.
    pub tier: Option<Tier>,
    /// Of exactly this name.
    pub name: Option<String>,
    /// With all of these labels.
    pub labels: Vec<LabelFilter>,
    /// Made by this schedule.
    pub schedule: Option<ScheduleId>,
    /// Of this workflow run.
    pub workflow_run: Option<WorkflowRunId>,
    /// Submitted at or after this.
    pub created_from: Option<Timestamp>,
    /// Submitted before this.
    pub created_before: Option<Timestamp>,
    /// Not those that ended before this: the plan keeps no more.
    pub ended_from: Option<Timestamp>,
    /// Older than this task: the cursor.
    pub before: Option<TaskId>,
}

/// What a label must be, or must not be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelFilter {
    /// The label's key.
    pub key: String,
    /// The value that it is compared with.
    pub value: String,
    /// It has that value; else it has another value, or the task has no such label.
    pub equal: bool,
}

const LIVE: &str = "t.tenant_id, t.id, s.name, t.pool, t.tier::text, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops,
    t.ports, t.state::text, '' as run, s.retry, s.labels::text,
    s.created_at, t.run_at, t.start_deadline, t.cap_ms,
    t.expire_if_late, coalesce(s.priority, 0::smallint) as priority, coalesce(s.flexible, false) as flexible, s.concurrency_key, t.at_most_once, t.max_attempts, t.attempt, t.failures,
    t.unique_key, t.first_started_at, null::timestamptz as finished_at, null::text as reason, null::integer as exit_code,
    (select e.executor_id from executor_session e where e.id = coalesce((t.called).session, t.session_id)) as executor, s.traceparent, s.schedule_id, s.rerun_of, s.depends_on, s.run_id, s.node,
    s.schedule_name, coalesce(s.due_at, s.run_at) as due_at, s.version";
const ENDED: &str = "t.tenant_id, t.id, s.name, t.pool, t.tier::text, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops,
    t.ports, t.state::text, '' as run, s.retry, s.labels::text,
    s.created_at, t.run_at, t.start_deadline, t.cap_ms,
    t.expire_if_late, coalesce(s.priority, 0::smallint) as priority, coalesce(s.flexible, false) as flexible, s.concurrency_key, t.at_most_once, t.max_attempts, t.attempt, t.failures,
    t.unique_key, t.first_started_at, t.finished_at, t.reason, t.exit_code, null::text as executor, s.traceparent, s.schedule_id, s.rerun_of, s.depends_on, s.run_id, s.node,
    s.schedule_name, coalesce(s.due_at, s.run_at) as due_at, s.version";

/// The ends that the index `task_history_of_failed` holds.
const FAILED: [State; 4] = [State::Failed, State::Aborted, State::Killed, State::Expired];

/// Those of the first page, see [`find_page`].
///
/// # Errors
/// When the database cannot answer.
pub async fn find(
    db: &ApiDb,
    scope: &TenantScope,
    filter: &TaskFilter,
    limit: u32,
) -> Result<Vec<TaskRecord>, StoreError> {
    Ok(find_page(db, scope, filter, limit).await?.rows)
}

/// Tasks newest first, at most `limit`, among the next [`MOST_READ`], without what they run: that may be large, and
/// [`super::add_runs`] reads it where it is asked for.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_page(
    db: &ApiDb,
    scope: &TenantScope,
    filter: &TaskFilter,
    limit: u32,
) -> Result<PageOf<TaskRecord, TaskId>, StoreError> {
    let mut rows = page(db, scope, filter, limit).await?;
    let end = rows.iter().position(|row| row.get::<bool, _>("is_end"));
    if let Some(end) = end {
        // What comes after it was read of the live only, or of the ended only.
        rows.truncate(end + 1);
    }
    let last = rows.last().map(|row| TaskId(row.get::<Uuid, _>("walked")));
    let fitting = rows.iter().filter(|row| row.get::<bool, _>("fits"));
    let read = |row| -> Result<TaskRecord, StoreError> { TaskRow::from_row(row)?.try_into() };
    let tasks = fitting.map(read).collect::<Result<_, _>>()?;
    Ok(match end {
        Some(_) => PageOf::until(last, tasks, limit),
        None => PageOf { rows: tasks, stopped_at: None },
    })
}

/// The next rows of `filter`, as they are.
async fn page(
    db: &ApiDb,
    scope: &TenantScope,
    filter: &TaskFilter,
    limit: u32,
) -> Result<Vec<PgRow>, StoreError> {
    let of = |terminal: bool| {
        filter.states.is_empty()
            || filter.states.iter().any(|state| state.is_terminal() == terminal)
    };
    let mut parts = Vec::new();
    if of(false) {
        parts.push((LIVE, "task"));
    }
    if of(true) {
        parts.push((ENDED, "task_history"));
    }
    let mut query = match filter.schedule {
        // The live ones are few, and looked through as for any other filter.
        Some(schedule) if of(true) => {
            of_schedule(scope, filter, schedule, (parts.as_slice(), limit))
        }
        _ => of_all(scope, filter, (parts.as_slice(), limit)),
    };
    let mut tx = super::scoped_read(db, scope).await?;
    if filter.may_fit_few() {
        // By the key, and no further than the page goes: to read and sort all that it may read can look cheaper.
        let by_key = sqlx::query_scalar!("select set_config('enable_sort', 'off', true)");
        named("task.find_by_key", by_key.fetch_all(&mut *tx)).await?;
    }
    patient("task.find", query.build().fetch_all(&mut *tx)).await
}

impl TaskFilter {
    /// Whether rows may have to be passed over to find one that fits.
    fn may_fit_few(&self) -> bool {
        let Self { states, tier, name, labels, schedule, .. } = self;
        let Self { workflow_run, created_from, created_before, ended_from, .. } = self;
        !states.is_empty()
            || tier.is_some()
            || name.is_some()
            || !labels.is_empty()
            || schedule.is_some()
            || workflow_run.is_some()
            || created_from.is_some()
            || created_before.is_some()
            || ended_from.is_some()
    }
}

/// Columns and the table they are of.
type Part = (&'static str, &'static str);

fn of_all(
    scope: &TenantScope,
    filter: &TaskFilter,
    (parts, limit): (&[Part], u32),
) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::<Postgres>::new("");
    for (at, (columns, table)) in parts.iter().enumerate() {
        query.push(if at == 0 { "(" } else { " union all (" });
        if filter.may_fit_few() {
            push_few_of(&mut query, scope, filter, (*columns, *table));
        } else {
            query.push("select t.id as walked, false as is_end, true as fits, ").push(*columns);
            query.push(" from ").push(*table).push(" t");
            query.push(
                " cross join lateral (select f.* from task_spec f where f.id = t.id limit 1) s",
            );
            query.push(" where t.tenant_id = ").push_bind(scope.tenant().uuid());
            push_range(&mut query, "t.id", filter);
        }
        query.push(" order by t.id desc limit ").push_bind(i64::from(limit)).push(")");
    }
    if parts.len() > 1 {
        query.push(" order by walked desc limit ").push_bind(i64::from(limit));
    }
    query
}

/// Those of a table that fit, among the next [`MOST_READ`], and the last of these.
fn push_few_of(
    query: &mut QueryBuilder<Postgres>,
    scope: &TenantScope,
    filter: &TaskFilter,
    (columns, table): Part,
) {
    query.push("select t.id as walked, t.nth = ").push(MOST_READ).push(" as is_end, j.fits, ");
    query
        .push(columns)
        .push(" from (select r.*, row_number() over (order by r.id desc) as nth from ");
    query.push(table).push(" r where r.tenant_id = ").push_bind(scope.tenant().uuid());
    push_range(query, "r.id", filter);
    if !filter.states.is_empty() && filter.states.iter().all(|state| FAILED.contains(state)) {
        // By the index of these only, which has them in these words.
        query.push(" and r.state in ('failed', 'aborted', 'killed', 'expired')");
    }
    if let Some(from) = filter.ended_from.filter(|_| table == "task_history") {
        // The days before are not read at all.
        query.push(" and r.finished_at >= ").push_bind(from - chrono::TimeDelta::days(1));
    }
    query.push(" order by r.id desc limit ").push(MOST_READ).push(") t");
    query.push(
        " left join lateral (select f.* from task_spec f where f.id = t.id limit 1) s on true",
    );
    query.push(" cross join lateral (select coalesce(s.id is not null");
    push_conditions(query, filter, table);
    query.push(", false) as fits) j where j.fits or t.nth = ").push(MOST_READ);
}

/// The specs of a schedule's tasks, newest first by their index, each with its task: a page costs what it shows, however many tasks
/// the tenant has, and no more than the next [`MOST_READ`].
fn of_schedule(
    scope: &TenantScope,
    filter: &TaskFilter,
    schedule: ScheduleId,
    (parts, limit): (&[Part], u32),
) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::<Postgres>::new("select s.id as walked, s.nth = ");
    query.push(MOST_READ).push(" as is_end, c.id is not null as fits, c.*");
    query.push(" from (select f.*, row_number() over (order by f.id desc) as nth from task_spec f");
    query.push(" where f.tenant_id = ").push_bind(scope.tenant().uuid());
    query.push(" and f.schedule_id = ").push_bind(schedule.uuid());
    push_range(&mut query, "f.id", filter);
    query.push(" order by f.id desc limit ").push(MOST_READ).push(") s left join lateral (");
    for (at, (columns, table)) in parts.iter().enumerate() {
        query.push(if at == 0 { "select " } else { " union all select " });
        query.push(*columns).push(" from ").push(*table).push(" t where t.tenant_id = ");
        query.push_bind(scope.tenant().uuid()).push(" and t.id = s.id");
        push_conditions(&mut query, filter, table);
        if *table == "task_history" {
            // No task ends before it was made: the days before are not looked at.
            query.push(" and t.finished_at >= s.created_at - interval '1 day'");
        }
    }
    query.push(") c on true where c.id is not null or s.nth = ").push(MOST_READ);
    query.push(" order by s.id desc limit ").push_bind(i64::from(limit));
    query
}

/// What the filter says of a task and its spec, but for the range of its id.
fn push_conditions(query: &mut QueryBuilder<Postgres>, filter: &TaskFilter, table: &str) {
    if !filter.states.is_empty() {
        let names: Vec<String> =
            filter.states.iter().map(|state| state.as_str().to_owned()).collect();
        // The cast is on this side, so that the planner knows how many rows are in these states.
        query.push(" and t.state = any (").push_bind(names).push("::text[]::task_state[])");
    }
    if let Some(tier) = filter.tier {
        query.push(" and t.tier = ").push_bind(tier.as_str()).push("::task_tier");
    }
    if let Some(name) = &filter.name {
        query.push(" and s.name = ").push_bind(name.clone());
    }
    for label in &filter.labels {
        let compares = if label.equal { " = " } else { " is distinct from " };
        query.push(" and s.labels ->> ").push_bind(label.key.clone());
        query.push(compares).push_bind(label.value.clone());
    }
    if let Some(schedule) = filter.schedule {
        query.push(" and s.schedule_id = ").push_bind(schedule.uuid());
    }
    if let Some(run) = filter.workflow_run {
        query.push(" and s.run_id = ").push_bind(run.uuid());
    }
    if let Some(from) = filter.created_from {
        query.push(" and s.created_at >= ").push_bind(from);
    }
    if let Some(before) = filter.created_before {
        query.push(" and s.created_at < ").push_bind(before);
    }
    if let Some(from) = filter.ended_from.filter(|_| table == "task_history") {
        query.push(" and t.finished_at >= ").push_bind(from);
    }
}

/// What the filter says of ids. They are made on another clock than `created_at`; a day's leeway keeps the range a range on the key.
fn push_range(query: &mut QueryBuilder<Postgres>, id: &'static str, filter: &TaskFilter) {
    let day = chrono::TimeDelta::days(1);
    let range = [
        (" >= ", filter.created_from.map(|from| first_id_of(from - day))),
        (" < ", filter.created_before.map(|before| first_id_of(before + day))),
        (" < ", filter.before.map(|before| before.uuid())),
    ];
    for (compares, bound) in range {
        if let Some(bound) = bound {
            query.push(" and ").push(id).push(compares).push_bind(bound);
        }
    }
}

/// The least UUIDv7 of a millisecond.
pub(crate) fn first_id_of(at: Timestamp) -> Uuid {
    Uuid::from_u128((at.timestamp_millis().clamp(0, 1 << 47).unsigned_abs() as u128) << 80)
}
