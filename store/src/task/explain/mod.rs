//! What is known of one task and of what stands before it, for whoever asks why it waits.
//!
//! Read in a tenant's request, so each statement is bounded: the task's row, the figures that batcher and resource managers
//! keep, and counts that end somewhere. What follows from it is decided in [`domain::explain`].

mod before;
mod ended;
mod gate;
mod held;
mod key;
mod live;
mod most;
mod parents;
mod rooms;
mod running;
mod unsent;

use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};
use domain::batch::Candidate;
use domain::explain::{Facts, LimitUse, Ready, Reason, Rooms, Waits};
use domain::id::TaskId;
use domain::task::State;
use live::Live;
use sqlx::PgConnection;

pub use unsent::{UnsentDue, UnsentTask};

/// What is known of the task; `None` where this tenant has none of that id.
///
/// # Errors
/// When the database cannot answer, or takes longer than a read may.
pub async fn explain(
    db: &ApiDb,
    scope: &TenantScope,
    id: TaskId,
) -> Result<Option<Facts>, StoreError> {
    let mut tx = super::scoped_read(db, scope).await?;
    // First among the live: a task only ever moves from there to history.
    let Some(task) = live::read(&mut tx, scope, id).await? else {
        return ended::read(&mut tx, scope, id).await;
    };
    let own = task.own(&mut tx, scope).await?;
    let held = match task.state {
        State::Retrying => held::read(&mut tx, scope, &task).await?,
        _ => None,
    };
    let (state, at) = (task.state, task.at);
    let expires_at = task.expires.then_some(task.start_deadline);
    let waits = match state {
        State::Scheduled | State::Ready | State::Retrying => {
            Some(waits(&mut tx, scope, task).await?)
        }
        _ => None,
    };
    Ok(Some(Facts { id, state, at, expires_at, own, held, waits }))
}

/// Facts about `task` as if it had just been submitted, and how many slots of its pool come free a second,
/// where its batcher has said so in the last seconds.
///
/// # Errors
/// When the database cannot answer, or takes longer than a read may.
pub async fn explain_unsent(
    db: &ApiDb,
    scope: &TenantScope,
    task: &UnsentTask,
) -> Result<(Facts, Option<f64>), StoreError> {
    let mut tx = super::scoped_read(db, scope).await?;
    let (live, pool_rate) = live::read_unsent(&mut tx, scope, task).await?;
    let (id, state, at) = (live.id, live.state, live.at);
    let own = (state == State::Scheduled).then_some(Reason::Due { at: live.run_at });
    let waits = Some(waits(&mut tx, scope, live).await?);
    Ok((Facts { id, state, at, expires_at: None, own, held: None, waits }, pool_rate))
}

async fn waits(
    tx: &mut PgConnection,
    scope: &TenantScope,
    task: Live,
) -> Result<Waits, StoreError> {
    let rooms = rooms::read(tx, &task.pool).await?;
    let ready = match task.state {
        State::Ready => Some(ready(tx, scope, &task, &rooms).await?),
        _ => None,
    };
    Ok(Waits {
        resources: task.resources,
        driver: task.driver,
        standing: task.standing,
        suspended_at: task.suspended_at,
        pool: task.pool,
        paused: task.paused,
        rooms,
        ready,
    })
}

async fn ready(
    tx: &mut PgConnection,
    scope: &TenantScope,
    task: &Live,
    rooms: &Rooms,
) -> Result<Ready, StoreError> {
    let (turn, others_before) = before::read(tx, scope, task, rooms).await?;
    let mut key = match &task.concurrency_key {
        Some(key) => Some(key::read(tx, scope, key).await?),
        None => None,
    };
    if let Some(key) = &mut key {
        key.others_before = others_before;
    }
    // The batcher does not look at the tasks of a tenant that may run none.
    let at_limit = task.running_tasks == 0 || task.tenant.is_some_and(|tenant| tenant.at_limit);
    // To it, one that may not run is at a limit of 0.
    let limit = if task.standing.may_run() && at_limit {
        let held = running::held(tx, scope).await?;
        Some(LimitUse { held, limit: task.running_tasks })
    } else {
        None
    };
    let spare_until = || Candidate::spare_until(task.run_at, task.start_deadline);
    Ok(Ready { key, limit, spare_until: task.flexible.then(spare_until), turn })
}
