//! What would stand before a task that is not submitted yet.

use super::{live, waits};
use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};
use domain::batch::Priority;
use domain::explain::{Facts, Reason};
use domain::id::PoolName;
use domain::resources::Resources;
use domain::task::State;
use domain::time::Timestamp;
use std::time::Duration;

/// A task that is not submitted, as far as it decides when it would start.
#[derive(Debug, Clone, PartialEq)]
pub struct UnsentTask {
    /// Its pool.
    pub pool: PoolName,
    /// What it needs.
    pub resources: Resources,
    /// Its driver.
    pub driver: &'static str,
    /// Its priority.
    pub priority: Priority,
    /// Only on spare room, until it is nearly late.
    pub flexible: bool,
    /// Its concurrency key.
    pub concurrency_key: Option<String>,
    /// When it is due.
    pub due: UnsentDue,
    /// How long after that it may start.
    pub delay_tolerance: Duration,
}

/// When a task is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsentDue {
    /// After so long.
    In(Duration),
    /// At a time.
    At(Timestamp),
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
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let (live, pool_rate) = live::read_unsent(&mut tx, scope, task).await?;
    let (id, state, at) = (live.id, live.state, live.at);
    let own = (state == State::Scheduled).then_some(Reason::Due { at: live.run_at });
    let waits = Some(waits(&mut tx, scope, live).await?);
    Ok((Facts { id, state, at, expires_at: None, own, held: None, waits }, pool_rate))
}
