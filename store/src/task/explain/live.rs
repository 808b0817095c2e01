//! The row of a task that has not ended, with what its tenant and its pool say of it.

use super::unsent::{UnsentDue, UnsentTask};
use super::{gate, parents};
use crate::plan::limits_of;
use crate::statement::patient;
use crate::task::executor_of;
use crate::tenant::state_of;
use crate::{StoreError, TenantScope};
use domain::batch::Priority;
use domain::explain::{Pause, Reason};
use domain::id::{ExecutorId, PoolName, TaskId};
use domain::resources::Resources;
use domain::task::{DriverName, State};
use domain::tenant::TenantState;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// A task that has not ended.
pub(super) struct Live {
    pub id: TaskId,
    pub state: State,
    pub at: Timestamp,
    pub run_at: Timestamp,
    pub start_deadline: Timestamp,
    /// It ends `expired` when it does not start in time.
    pub expires: bool,
    pub resources: Resources,
    pub driver: Option<DriverName>,
    pub priority: Priority,
    pub flexible: bool,
    pub concurrency_key: Option<String>,
    pub pool: PoolName,
    pub paused: Option<Pause>,
    pub standing: TenantState,
    pub suspended_at: Option<Timestamp>,
    /// Tasks that its tenant's plan lets run at once.
    pub running_tasks: u64,
    /// What the batcher said of its tenant in the last seconds.
    pub tenant: Option<TenantFigures>,
    pub attempt: u32,
    failures: u32,
    max_attempts: u32,
    wake_at: Option<Timestamp>,
    /// How many more edges must hold, and how many are undecided.
    needs: Option<(u64, u64)>,
    /// Its gate, and the signal that it waits for.
    gate: Option<String>,
    signal_key: Option<String>,
    placed_at: Option<Timestamp>,
    /// It runs until it is completed.
    called: bool,
    executor: Option<ExecutorId>,
}

/// What the batcher says of a tenant that waits in a pool.
#[derive(Clone, Copy)]
pub(super) struct TenantFigures {
    /// Tenants whose turn comes before its.
    pub before: u32,
    /// Its tasks that had their turn a second.
    pub rate: f64,
    /// It is at its limit on running tasks.
    pub at_limit: bool,
}

pub(super) async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    id: TaskId,
) -> Result<Option<Live>, StoreError> {
    let query = sqlx::query!(
        r#"select now() as "at!", t.state::text as "state!", t.pool, t.run_at, t.start_deadline, t.cpu_millis, t.memory_mib,
                t.disk_mib, t.iops, t.ports, t.driver, t.priority, t.flexible, t.concurrency_key, t.attempt, t.failures, t.max_attempts,
                t.wake_at, t.placed_at, t.needs, t.undecided, t.gate, t.signal_key, (t.expire_if_late and t.first_started_at is null and t.needs is null) as "expires!",
                (select e.executor_id from executor_session e where e.id = coalesce((t.called).session, t.session_id)) as "executor?", (t.called).session is not null as "called!",
                n.state as standing, n.suspended_at, p.limits::text as "limits!", o.paused_at as "paused_at?",
                o.paused_because as "paused_because?", w.before as "before?", w.rate as "rate?", w.held_by as "held_by?"
            from task t
            join tenant n on n.id = $1
            join plan p on p.name = n.plan
            left join pool o on o.name = t.pool
            -- Written each second while there is a batcher and the tenant waits.
            left join tenant_turn w on w.pool = t.pool and w.tenant_id = $1
                and w.at > clock_timestamp() - interval '5 seconds'
            where t.tenant_id = $1 and t.id = $2"#,
        scope.tenant().uuid(),
        id.uuid()
    );
    let Some(row) = patient("task.explain", query.fetch_optional(tx)).await? else {
        return Ok(None);
    };
    let malformed = |what, value: &str| StoreError::Malformed {
        what,
        row: id.to_string(),
        value: value.to_owned(),
    };
    let figures = |(before, rate): (i32, f64)| TenantFigures {
        before: before.unsigned_abs(),
        rate,
        at_limit: row.held_by.as_deref() == Some("limit"),
    };
    Ok(Some(Live {
        id,
        state: row.state.parse().map_err(|_| malformed("state", &row.state))?,
        at: row.at,
        run_at: row.run_at,
        start_deadline: row.start_deadline,
        expires: row.expires,
        resources: Resources::from_dimensions(
            [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports]
                .map(i32::unsigned_abs),
        ),
        driver: row.driver.as_ref().and_then(|driver| driver.parse().ok()),
        priority: priority(row.priority),
        flexible: row.flexible,
        concurrency_key: row.concurrency_key,
        pool: row.pool.parse().map_err(|_| malformed("pool", &row.pool))?,
        paused: row.paused_at.map(|since| Pause { since, because: row.paused_because }),
        standing: state_of(&row.standing, scope.tenant().uuid())?,
        suspended_at: row.suspended_at,
        running_tasks: limits_of(&row.limits)?.running_tasks.into(),
        tenant: row.before.zip(row.rate).map(figures),
        attempt: row.attempt.unsigned_abs(),
        failures: row.failures.unsigned_abs(),
        max_attempts: row.max_attempts.unsigned_abs(),
        wake_at: row.wake_at,
        needs: row.needs.zip(row.undecided).map(|(n, u)| (n.unsigned_abs(), u.unsigned_abs())),
        gate: row.gate,
        signal_key: row.signal_key,
        placed_at: row.placed_at,
        called: row.called,
        executor: executor_of(id, row.executor)?,
    }))
}

/// A task that is not stored, as if it had just been; and how many slots of its pool come free a second, where that is known.
pub(super) async fn read_unsent(
    tx: &mut PgConnection,
    scope: &TenantScope,
    task: &UnsentTask,
) -> Result<(Live, Option<f64>), StoreError> {
    let query = sqlx::query!(
        r#"select now() as "at!", n.state as standing, n.suspended_at, p.limits::text as "limits!", o.paused_at as "paused_at?",
                o.paused_because as "paused_because?", w.before as "before?", w.rate as "rate?", w.held_by as "held_by?",
                x.rate as "pool_rate?"
            from tenant n
            join plan p on p.name = n.plan
            left join pool o on o.name = $2
            left join tenant_turn w on w.pool = $2 and w.tenant_id = $1 and w.at > clock_timestamp() - interval '5 seconds'
            left join pool_turn x on x.pool = $2 and x.at > clock_timestamp() - interval '5 seconds'
            where n.id = $1"#,
        scope.tenant().uuid(),
        task.pool.as_str()
    );
    let row = patient("task.explain_unsent", query.fetch_optional(tx)).await?;
    let row = row.ok_or(StoreError::Contended)?;
    let figures = |(before, rate): (i32, f64)| TenantFigures {
        before: before.unsigned_abs(),
        rate,
        at_limit: row.held_by.as_deref() == Some("limit"),
    };
    let run_at = match task.due {
        UnsentDue::In(delay) => row.at + delay,
        UnsentDue::At(at) => at,
    };
    let live = Live {
        id: TaskId::fresh(),
        state: if run_at > row.at { State::Scheduled } else { State::Ready },
        at: row.at,
        run_at,
        start_deadline: run_at + task.delay_tolerance,
        expires: false,
        resources: task.resources,
        driver: task.driver.parse().ok(),
        priority: task.priority,
        flexible: task.flexible,
        concurrency_key: task.concurrency_key.clone(),
        pool: task.pool.clone(),
        paused: row.paused_at.map(|since| Pause { since, because: row.paused_because }),
        standing: state_of(&row.standing, scope.tenant().uuid())?,
        suspended_at: row.suspended_at,
        running_tasks: limits_of(&row.limits)?.running_tasks.into(),
        tenant: row.before.zip(row.rate).map(figures),
        attempt: 0,
        failures: 0,
        max_attempts: 1,
        wake_at: None,
        needs: None,
        gate: None,
        signal_key: None,
        placed_at: None,
        called: false,
        executor: None,
    };
    Ok((live, row.pool_rate))
}

impl Live {
    /// What the row itself says of where the task is; `None` where it is ready.
    pub async fn own(
        &self,
        tx: &mut PgConnection,
        scope: &TenantScope,
    ) -> Result<Option<Reason>, StoreError> {
        let (attempt, executor) = (self.attempt, self.executor.clone());
        // What is leased has these times; the table's checks see to it.
        let since = self.placed_at.unwrap_or(self.at);
        Ok(match self.state {
            State::Scheduled => Some(match (self.needs, self.gate.as_deref()) {
                (Some((_, open)), Some("items")) => gate::items(tx, scope, self.id, open).await?,
                (Some(counts), _) => parents::read(tx, scope, self.id, counts).await?,
                (None, Some("waiting")) => gate::wait(self.signal_key.clone(), self.wake_at),
                (None, _) => Reason::Due { at: self.run_at },
            }),
            State::Retrying => Some(self.retry(tx, scope).await?),
            State::Queued => Some(Reason::Placing { until: self.wake_at.unwrap_or(self.at) }),
            State::Running if self.called => {
                let until = self.wake_at.unwrap_or(self.at);
                Some(Reason::Completion { attempt, since, until })
            }
            State::Running => Some(Reason::Running { attempt, executor, since }),
            State::Cancelling => Some(Reason::Stopping { attempt, executor, since }),
            _ => None,
        })
    }

    async fn retry(
        &self,
        tx: &mut PgConnection,
        scope: &TenantScope,
    ) -> Result<Reason, StoreError> {
        let query = sqlx::query!(
            "select a.outcome, a.reason from attempt a where a.tenant_id = $1 and a.task_id = $2
                order by a.attempt desc limit 1",
            scope.tenant().uuid(),
            self.id.uuid()
        );
        let last = patient("task.explain_attempt", query.fetch_optional(tx)).await?;
        let (last_outcome, last_reason) = last.map(|row| (row.outcome, row.reason)).unzip();
        Ok(Reason::Retry {
            // One that came back keeps the time for which it was due.
            at: self.wake_at.unwrap_or(self.run_at),
            failures: self.failures,
            max_attempts: self.max_attempts,
            last_outcome: last_outcome.and_then(|outcome| outcome.parse().ok()),
            last_reason: last_reason.flatten(),
        })
    }
}

/// The table's check admits only levels that there are.
pub(super) fn priority(level: i16) -> Priority {
    i8::try_from(level).ok().and_then(Priority::new).unwrap_or_default()
}
