//! Runs all checks.
//!
//! Each group of checks runs in a savepoint and with a time limit of its own. If it fails or takes too long, its checks are
//! reported as not checked, and the other groups still run.

use super::connect::DoctorDb;
use super::options::DoctorOptions;
use super::tasks::Unplaceable;
use super::{
    Check, CheckOutcome, CheckResult, Finding, attempts, capacity, clock, database, executors,
    fires, leases, owners, rollup, spend, tasks,
};
use crate::StoreError;
use crate::statement::patient;

use domain::id::PoolName;
use domain::time::millis;
use runtime::clock::monotonic;
use runtime::error_chain::ErrorChain;
use sqlx::{Acquire, PgConnection};
use std::time::Duration;

/// More pools than an installation has.
const MOST_POOLS: i64 = 1000;

/// Checks that one function runs together.
#[derive(Debug, Clone, Copy)]
enum Group {
    Waiting,
    Unwoken,
    Unseen,
    Unplaceable,
    Stalled,
    Quarantined,
    Leases,
    Capacity,
    Attempts,
    Usage,
    Counted,
    Spend,
    Schedules,
    Fires,
    Owners,
    Bloat,
    Transactions,
    Partitions,
    Clock,
}

impl Group {
    /// Live rows first: a failure there is urgent.
    const ALL: [Self; 19] = [
        Self::Waiting,
        Self::Stalled,
        Self::Quarantined,
        Self::Leases,
        Self::Capacity,
        Self::Owners,
        Self::Clock,
        Self::Transactions,
        Self::Partitions,
        Self::Schedules,
        Self::Unseen,
        Self::Unplaceable,
        Self::Bloat,
        Self::Attempts,
        Self::Usage,
        Self::Counted,
        Self::Spend,
        Self::Fires,
        Self::Unwoken,
    ];

    const fn checks(self) -> &'static [Check] {
        match self {
            Self::Waiting => &tasks::WAITING,
            Self::Unwoken => &[Check::TasksWithoutWake],
            Self::Unseen => &[Check::ReadyUnseen],
            Self::Unplaceable => &[Check::TasksUnplaceable],
            Self::Stalled => &[Check::PlacementStalled],
            Self::Quarantined => &[Check::ExecutorsQuarantined],
            Self::Leases => &leases::CHECKS,
            Self::Capacity => &capacity::CHECKS,
            Self::Attempts => &attempts::CHECKS,
            Self::Usage => &attempts::USAGE,
            Self::Counted => &rollup::CHECKS,
            Self::Spend => &[Check::SpendCapWrong],
            Self::Schedules => &fires::SCHEDULES,
            Self::Fires => &fires::FIRES,
            Self::Owners => &owners::CHECKS,
            Self::Bloat => &[Check::Bloat],
            Self::Transactions => &database::TRANSACTIONS,
            Self::Partitions => &database::PARTITIONS,
            Self::Clock => &[Check::ClockOffset],
        }
    }

    async fn run(
        self,
        tx: &mut PgConnection,
        options: &DoctorOptions,
    ) -> Result<Vec<Finding>, StoreError> {
        match self {
            Self::Waiting => tasks::waiting(tx, options).await,
            Self::Unwoken => tasks::without_wake(tx).await,
            Self::Unseen => tasks::unseen(tx, options).await,
            Self::Unplaceable => Ok(found(tasks::unplaceable(tx, options).await?)),
            Self::Stalled => executors::stalled(tx, options).await,
            Self::Quarantined => executors::quarantined(tx).await,
            Self::Leases => leases::check(tx, options).await,
            Self::Capacity => capacity::check(tx).await,
            Self::Attempts => attempts::check(tx, options).await,
            Self::Usage => attempts::usage(tx, options).await,
            Self::Counted => rollup::check(tx, options).await,
            Self::Spend => spend::check(tx, options).await,
            Self::Schedules => fires::schedules(tx, options).await,
            Self::Fires => fires::check(tx, options).await,
            Self::Owners => owners::check(tx, options).await,
            Self::Bloat => database::bloat(tx, options).await,
            Self::Transactions => database::transactions(tx, options).await,
            Self::Partitions => database::partitions(tx, options).await,
            Self::Clock => clock::check(tx, options).await,
        }
    }
}

/// Runs every check of the database and returns the results in the order of [`Check::ALL`], without [`Check::QueueArguments`].
///
/// # Errors
/// When the database cannot be reached, or the connection is lost.
pub async fn run_checks(
    db: &DoctorDb,
    options: &DoctorOptions,
) -> Result<Vec<CheckResult>, StoreError> {
    let began = monotonic();
    let mut results = Vec::with_capacity(Check::ALL.len());
    let mut tx = db.begin().await?;
    for group in Group::ALL {
        let found = if began.elapsed() >= options.whole {
            Err("there was no time left".to_owned())
        } else {
            match run_group(&mut tx, group, options).await {
                Ok(found) => Ok(found),
                // The connection is gone, and what was seen says nothing any more.
                Err(error @ (StoreError::Unavailable(_) | StoreError::Busy)) => return Err(error),
                Err(StoreError::Timeout) => Err("it took too long".to_owned()),
                Err(error) => Err(ErrorChain(&error).to_string()),
            }
        };
        results.extend(
            group
                .checks()
                .iter()
                .map(|check| CheckResult { check: *check, outcome: outcome(*check, &found) }),
        );
    }
    patient("doctor.end", tx.rollback()).await?;
    results.sort_by_key(|result| result.check);
    Ok(results)
}

fn found(unplaceable: Vec<Unplaceable>) -> Vec<Finding> {
    let found = |of_pool: Unplaceable| Finding {
        check: Check::TasksUnplaceable,
        count: i64::try_from(of_pool.tasks).unwrap_or(i64::MAX),
        example: Some(match of_pool.short_of {
            Some(dimension) => format!("{}, for want of {dimension}", of_pool.example),
            None => of_pool.example,
        }),
    };
    unplaceable.into_iter().map(found).collect()
}

/// Tasks that have been ready for long and fit none of their pool's executors, by pool; pools without any are left out.
///
/// # Errors
/// When the database cannot answer, or takes longer for it than `how` allows.
pub async fn unplaceable(
    db: &DoctorDb,
    options: &DoctorOptions,
) -> Result<Vec<Unplaceable>, StoreError> {
    let mut tx = db.begin().await?;
    settle(&mut tx, options.statement).await?;
    let found = tasks::unplaceable(&mut tx, options).await;
    patient("doctor.end", tx.rollback()).await?;
    found
}

fn outcome(check: Check, found: &Result<Vec<Finding>, String>) -> CheckOutcome {
    match found {
        Err(why) => CheckOutcome::NotChecked(why.clone()),
        Ok(found) => {
            let mine = found.iter().filter(|found| found.check == check && found.count > 0);
            let count = mine.clone().map(|found| found.count).sum();
            let example = mine.clone().find_map(|found| found.example.clone());
            Finding { check, count, example }.into()
        }
    }
}

/// Runs one group in a savepoint.
async fn run_group(
    tx: &mut PgConnection,
    group: Group,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let mut point = patient("doctor.savepoint", tx.begin()).await?;
    settle(&mut point, options.statement).await?;
    let found = group.run(&mut point, options).await;
    patient("doctor.release", point.rollback()).await?;
    found
}

/// The role's sessions are set for small statements on the hot path; these are others.
async fn settle(tx: &mut PgConnection, limit: Duration) -> Result<(), StoreError> {
    let query = sqlx::query_scalar!(
        r#"select set_config('statement_timeout', $1, true) || set_config('lock_timeout', '500ms', true)
            || set_config('enable_seqscan', 'on', true) || set_config('enable_hashjoin', 'on', true)
            || set_config('enable_mergejoin', 'on', true) || set_config('enable_bitmapscan', 'on', true)
            || set_config('plan_cache_mode', 'force_custom_plan', true)"#,
        millis(limit).to_string()
    );
    patient("doctor.settle", query.fetch_optional(tx)).await.map(|_| ())
}

/// The pools, whose queues are to be looked at.
///
/// # Errors
/// When the database cannot answer.
pub async fn pools(db: &DoctorDb) -> Result<Vec<PoolName>, StoreError> {
    let query = sqlx::query_scalar!("select name from pool order by name limit $1", MOST_POOLS);
    let names = patient("doctor.pools", query.fetch_all(db.pool())).await?;
    Ok(names.into_iter().filter_map(|name| name.parse().ok()).collect())
}
