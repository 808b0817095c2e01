//! Says what becomes of due times: the rules are `domain::schedule::decide`'s, over what the database holds locked.

use super::known::Known;
use super::pools::Pools;
use super::rooms::Rooms;
use super::versions::{Judged, Versions};
use domain::id::{PoolName, TaskId};
use domain::pool::PoolUser;
use domain::schedule::{Coming, Decision, Next, Situation, decide};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, Facts, Unreadable, Verdict, VerdictRow};

pub(crate) struct Judge {
    known: Known,
    rooms: Rooms,
    pools: Pools,
    misfire_after: Duration,
    unreadable: Mutex<Vec<Unreadable>>,
}

impl Judge {
    pub(crate) fn new(misfire_after: Duration) -> Self {
        let (known, rooms, pools) = (Known::default(), Rooms::default(), Pools::default());
        Self { known, rooms, pools, misfire_after, unreadable: Mutex::default() }
    }

    /// Those that could not be read since this was asked last: they are to be paused.
    pub(super) fn unreadable(&self) -> Vec<Unreadable> {
        std::mem::take(&mut *self.unreadable.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Learns what must be known of the tenants of `due`, and of the pools.
    pub(super) async fn prepare(&self, db: &SchedulerDb, due: &[Due]) -> Result<(), StoreError> {
        self.pools.refresh(db).await?;
        self.rooms.look(db, due).await
    }

    /// How many tasks more `user` may have in `pool`.
    pub(super) fn room(&self, user: PoolUser<'_>, pool: &PoolName) -> u64 {
        if self.pools.admit(pool, user) { self.rooms.of(user.tenant) } else { 0 }
    }

    /// What becomes of each of `all`. One that cannot be read is left as it is, harms no other, and is
    /// among [`Self::unreadable`] then.
    pub(super) fn verdicts(&self, all: &[Facts]) -> Vec<Verdict> {
        let unreadable = |facts: &Facts, error: &StoreError| {
            let what =
                if let StoreError::Malformed { what, .. } = error { *what } else { "schedule" };
            let (schedule, version) = (facts.due.schedule, Some(facts.version));
            let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(Unreadable { schedule, version, what });
        };
        let verdict = |facts: &Facts| {
            let verdict = self.verdict(facts);
            verdict.inspect_err(|error| unreadable(facts, error)).ok()
        };
        all.iter().filter_map(verdict).collect()
    }

    fn verdict(&self, facts: &Facts) -> Result<Verdict, StoreError> {
        let versions = Versions::of(facts, &self.known)?;
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
        // What is deleted has no due time behind the deletion.
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
        self.rooms.give(facts.due.tenant, |room| {
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

/// Nothing becomes of what was deleted, or whose tenant was: its due times have no rows.
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

/// What comes after a decision: a due time, or the end of a task.
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
                // It made none and has none: as if one had ended now.
                None => (versions.after_end(facts.now), None),
            }
        }
    }
}
