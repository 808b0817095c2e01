//! One pass over all checks.
//!
//! Each part runs under a savepoint and a time limit of its own: one that takes too long, or fails, is told as not seen, and the
//! others are looked at all the same.

use super::connect::DoctorDb;
use super::tasks::Unplaceable;
use super::{
    Found, attempts, capacity, clock, database, executors, fires, leases, limits, owners, tasks,
};
use crate::StoreError;
use crate::statement::patient;
use domain::doctor::{Check, Line, Seen};
use domain::id::PoolName;
use domain::time::millis;
use runtime::clock::monotonic;
use runtime::config::LimitsConfig;
use runtime::error_chain::ErrorChain;
use sqlx::{Acquire, PgConnection};
use std::time::Duration;

/// More pools than an installation has.
const MOST_POOLS: i64 = 1000;

/// How closely is looked, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// What should have happened so long ago, and has not, is a finding.
    pub overdue: Duration,
    /// The longest that one statement may run.
    pub statement: Duration,
    /// When so much time is used up no further part is begun.
    pub whole: Duration,
    /// Rows of each table of history that are looked at, about; where there are fewer, all.
    pub sample: u32,
    /// Transactions open for longer are findings.
    pub transaction: Duration,
    /// Transactions without a statement for longer are findings.
    pub idle: Duration,
    /// Tables with more dead rows than this, and more than live ones, are findings, where none were cleaned up for `unvacuumed`.
    pub dead_rows: i64,
    /// See `dead_rows`.
    pub unvacuumed: Duration,
    /// Clocks further apart are a finding.
    pub clocks: Duration,
    /// Days ahead of which there must be partitions.
    pub days_ahead: u16,
}

impl Look {
    /// For a person who asks: up to half a minute.
    #[must_use]
    pub fn of_a_person(limits: &LimitsConfig) -> Self {
        Self {
            overdue: Duration::from_secs(60),
            statement: Duration::from_secs(10),
            whole: Duration::from_secs(20),
            sample: 50_000,
            transaction: Duration::from_secs(300),
            idle: Duration::from_secs(60),
            dead_rows: 200_000,
            unvacuumed: Duration::from_secs(600),
            clocks: Duration::from_secs(2),
            // The last day is made in the minute after midnight.
            days_ahead: u16::try_from(limits.partitions_ahead_days)
                .unwrap_or(u16::MAX)
                .saturating_sub(1),
        }
    }

    /// For each minute, beside everything else: a few seconds at most.
    #[must_use]
    pub fn of_a_minute(limits: &LimitsConfig) -> Self {
        Self {
            statement: Duration::from_secs(2),
            whole: Duration::from_secs(6),
            // Ten times as many took two cores for a quarter of a second, and every task in it waited.
            sample: 500,
            ..Self::of_a_person(limits)
        }
    }
}

/// Checks that one function answers for, together.
#[derive(Debug, Clone, Copy)]
enum Part {
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
    Schedules,
    Fires,
    Owners,
    Limits,
    Bloat,
    Transactions,
    Partitions,
    Clock,
}

impl Part {
    /// What is live first: a finding there is urgent.
    const ALL: [Self; 18] = [
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
        Self::Limits,
        Self::Bloat,
        Self::Attempts,
        Self::Usage,
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
            Self::Schedules => &fires::SCHEDULES,
            Self::Fires => &fires::FIRES,
            Self::Owners => &owners::CHECKS,
            Self::Limits => &limits::CHECKS,
            Self::Bloat => &[Check::Bloat],
            Self::Transactions => &database::TRANSACTIONS,
            Self::Partitions => &database::PARTITIONS,
            Self::Clock => &[Check::ClockOffset],
        }
    }

    async fn look(self, tx: &mut PgConnection, how: &Look) -> Result<Vec<Found>, StoreError> {
        match self {
            Self::Waiting => tasks::waiting(tx, how).await,
            Self::Unwoken => tasks::without_wake(tx).await,
            Self::Unseen => tasks::unseen(tx, how).await,
            Self::Unplaceable => Ok(found(tasks::unplaceable(tx, how).await?)),
            Self::Stalled => executors::stalled(tx, how).await,
            Self::Quarantined => executors::quarantined(tx).await,
            Self::Leases => leases::look(tx, how).await,
            Self::Capacity => capacity::look(tx).await,
            Self::Attempts => attempts::look(tx, how).await,
            Self::Usage => attempts::usage(tx, how).await,
            Self::Schedules => fires::schedules(tx, how).await,
            Self::Fires => fires::look(tx, how).await,
            Self::Owners => owners::look(tx, how).await,
            Self::Limits => limits::look(tx).await,
            Self::Bloat => database::bloat(tx, how).await,
            Self::Transactions => database::transactions(tx, how).await,
            Self::Partitions => database::partitions(tx, how).await,
            Self::Clock => clock::look(tx, how).await,
        }
    }
}

/// Looks at all that the database can tell; in the order of [`Check::ALL`], without [`Check::QueueArguments`].
///
/// # Errors
/// When the database cannot be reached, or is lost on the way.
pub async fn look(db: &DoctorDb, how: &Look) -> Result<Vec<Line>, StoreError> {
    let began = monotonic();
    let mut lines = Vec::with_capacity(Check::ALL.len());
    let mut tx = db.begin().await?;
    for part in Part::ALL {
        let found = if began.elapsed() >= how.whole {
            Err("there was no time left".to_owned())
        } else {
            match seen(&mut tx, part, how).await {
                Ok(found) => Ok(found),
                // The connection is gone, and what was seen says nothing any more.
                Err(error @ (StoreError::Unavailable(_) | StoreError::Busy)) => return Err(error),
                Err(StoreError::Timeout) => Err("it took too long".to_owned()),
                Err(error) => Err(ErrorChain(&error).to_string()),
            }
        };
        lines.extend(
            part.checks().iter().map(|check| Line { check: *check, seen: of(*check, &found) }),
        );
    }
    patient("doctor.end", tx.rollback()).await?;
    lines.sort_by_key(|line| line.check);
    Ok(lines)
}

fn found(unplaceable: Vec<Unplaceable>) -> Vec<Found> {
    let found = |of_pool: Unplaceable| Found {
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
pub async fn unplaceable(db: &DoctorDb, how: &Look) -> Result<Vec<Unplaceable>, StoreError> {
    let mut tx = db.begin().await?;
    settle(&mut tx, how.statement).await?;
    let found = tasks::unplaceable(&mut tx, how).await;
    patient("doctor.end", tx.rollback()).await?;
    found
}

fn of(check: Check, found: &Result<Vec<Found>, String>) -> Seen {
    match found {
        Err(why) => Seen::NotSeen(why.clone()),
        Ok(found) => {
            let mine = found.iter().filter(|found| found.check == check && found.count > 0);
            let count = mine.clone().map(|found| found.count).sum();
            let example = mine.clone().find_map(|found| found.example.clone());
            Found { check, count, example }.into()
        }
    }
}

/// Looks at one part, under a savepoint.
async fn seen(tx: &mut PgConnection, part: Part, how: &Look) -> Result<Vec<Found>, StoreError> {
    let mut point = patient("doctor.savepoint", tx.begin()).await?;
    settle(&mut point, how.statement).await?;
    let found = part.look(&mut point, how).await;
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
