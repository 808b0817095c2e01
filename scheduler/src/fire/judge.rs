//! Decides the outcome of due times, with the rules of `domain::schedule::decide` on locked rows.

use super::parsed::ParsedCache;
use super::pools::Pools;
use super::rooms::Rooms;
use super::versions::{Judged, Versions};
use domain::id::{PoolName, TaskId};
use domain::pool::PoolUser;
use domain::schedule::{Coming, Decision, Next, Situation, decide};
use parking_lot::Mutex;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, Facts, Unreadable, Verdict, VerdictRow};

pub(crate) struct Judge {
    parsed: ParsedCache,
    rooms: Rooms,
    pools: Pools,
    misfire_after: Duration,
    unreadable: Mutex<Vec<Unreadable>>,
}

impl Judge {
    pub(crate) fn new(misfire_after: Duration) -> Self {
        let (parsed, rooms, pools) = (ParsedCache::default(), Rooms::default(), Pools::default());
        Self { parsed, rooms, pools, misfire_after, unreadable: Mutex::default() }
    }

    /// Drains the versions that could not be parsed, to pause their schedules.
    pub(super) fn unreadable(&self) -> Vec<Unreadable> {
        std::mem::take(&mut *self.unreadable.lock())
    }

    /// Reads quotas of the tenants of `due`, and pools, if the cached values are too old.
    pub(super) async fn prepare(&self, db: &SchedulerDb, due: &[Due]) -> Result<(), StoreError> {
        self.pools.refresh(db).await?;
        self.rooms.refresh(db, due).await
    }

    /// How many tasks more `user` may have in `pool`.
    pub(super) fn room(&self, user: PoolUser<'_>, pool: &PoolName) -> u64 {
        if self.pools.admit(pool, user) { self.rooms.of(user.tenant) } else { 0 }
    }

    /// The outcome of each of `all`. One that cannot be parsed is left unchanged and added to [`Self::unreadable`].
    pub(super) fn verdicts(&self, all: &[Facts]) -> Vec<Verdict> {
        let unreadable = |facts: &Facts, error: &StoreError| {
            let what =
                if let StoreError::Malformed { what, .. } = error { *what } else { "schedule" };
            let (schedule, version) = (facts.due.schedule, Some(facts.version));
            let mut all = self.unreadable.lock();
            all.push(Unreadable { schedule, version, what });
        };
        let verdict = |facts: &Facts| {
            let verdict = self.verdict(facts);
            verdict.inspect_err(|error| unreadable(facts, error)).ok()
        };
        all.iter().filter_map(verdict).collect()
    }

    fn verdict(&self, facts: &Facts) -> Result<Verdict, StoreError> {
        let versions = Versions::of(facts, &self.parsed)?;
        let Some(judged) = versions.judged(facts.due.fire_at)? else {
            return Ok(over(facts));
        };
        let decision = self.decide(facts, &versions, &judged);
        let rows: Vec<_> = decision
            .rows
            .iter()
            .map(|row| VerdictRow {
                due_at: row.due_at,
                outcome: row.outcome,
                task: row.outcome.makes_task().then(TaskId::fresh),
                delay: row.delay,
                queued: row.queued,
            })
            .collect();
        let (mut next, awaits) = next(facts, &versions, &decision, &rows);
        // A deleted schedule has no due time after its deletion.
        next = next.filter(|next| facts.deleted_at.is_none_or(|at| next.fire_at <= at));
        Ok(Verdict {
            schedule: facts.due.schedule,
            rows,
            version: judged.version,
            overlap: judged.overlap,
            template: Some(judged.template),
            cancel: decision.cancel,
            next: next.map(|next| (next.due_at, next.fire_at)),
            awaits,
            fires: decision.fires,
            settled: versions.settled(next),
        })
    }

    fn decide(&self, facts: &Facts, versions: &Versions<'_>, judged: &Judged) -> Decision {
        let Due { due_at, fire_at, .. } = facts.due;
        let user = PoolUser { tenant: facts.due.tenant, plan: &facts.plan };
        let pool_granted = self.pools.admit(&judged.template.pool, user);
        self.rooms.reserve(facts.due.tenant, |room| {
            let decision = decide(&Situation {
                schedule: facts.due.schedule,
                sources: versions.sources(),
                next: Coming { fire_at, due_at },
                until: judged.until,
                fixed_delay: versions.fixed_delay(),
                max_fires: judged.max_fires,
                fires: facts.fires,
                paused: judged.paused,
                suspended: judged.suspended,
                pool_granted,
                misfire: judged.misfire,
                misfire_after: self.misfire_after,
                overlap: judged.overlap,
                can_queue: judged.template.concurrency_key.is_none(),
                live: &facts.live,
                queued: facts.queued,
                room,
                now: facts.now,
            });
            let made = decision.rows.iter().filter(|row| row.outcome.makes_task()).count();
            (decision, made as u64)
        })
    }
}

/// A deleted schedule or tenant: its due times have no rows.
fn over(facts: &Facts) -> Verdict {
    Verdict {
        schedule: facts.due.schedule,
        rows: Vec::new(),
        version: facts.version,
        overlap: facts.overlap,
        template: None,
        cancel: Vec::new(),
        next: None,
        awaits: None,
        fires: facts.fires,
        settled: Vec::new(),
    }
}

/// What follows a decision: a due time, or the end of a task.
fn next(
    facts: &Facts,
    versions: &Versions<'_>,
    decision: &Decision,
    rows: &[VerdictRow],
) -> (Option<Coming>, Option<TaskId>) {
    match decision.next {
        Next::At(coming) => (Some(coming), None),
        Next::Over => (None, None),
        Next::AfterEnd => {
            let made = rows.iter().rev().find_map(|row| row.task);
            match made.or_else(|| facts.live.last().copied()) {
                Some(task) => (None, Some(task)),
                // It created no task and has none: as if one had ended now.
                None => (versions.after_end(facts.now), None),
            }
        }
    }
}
