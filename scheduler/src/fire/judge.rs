//! Decides the outcome of due times, with the rules of `domain::schedule::decide` on locked rows.

use super::parsed::ParsedCache;
use super::pools::Pools;
use super::rooms::Rooms;
use super::versions::{Judged, Versions};
use domain::id::{PoolName, TaskId, WorkflowRunId};
use domain::pool::PoolUser;
use domain::schedule::{Coming, Decision, FireTemplate, Made, Next, Outcome, Situation, decide};
use parking_lot::Mutex;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, Facts, FiredRuns, Unreadable, Verdict, VerdictRow};

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

    /// How many tasks more `user` may have in `pools`.
    pub(super) fn room(&self, user: PoolUser<'_>, pools: &[&PoolName]) -> u64 {
        let admitted = pools.iter().all(|pool| self.pools.admit(pool, user));
        if admitted { self.rooms.of(user.tenant) } else { 0 }
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
        let makes = Makes::of(facts, &judged.template);
        let decision = self.decide(facts, (&versions, &judged), &makes);
        let rows: Vec<_> = decision
            .rows
            .iter()
            .map(|row| VerdictRow {
                due_at: row.due_at,
                outcome: row.outcome,
                made: row.outcome.makes_task().then(|| makes.fresh()),
                detail: makes.detail(row.outcome),
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
            runs: makes.into_runs(),
            cancel: decision.cancel,
            next: next.map(|next| (next.due_at, next.fire_at)),
            awaits,
            fires: decision.fires,
            settled: versions.settled(next),
        })
    }

    fn decide(
        &self,
        facts: &Facts,
        (versions, judged): (&Versions<'_>, &Judged),
        makes: &Makes,
    ) -> Decision {
        let Due { due_at, fire_at, .. } = facts.due;
        let user = PoolUser { tenant: facts.due.tenant, plan: &facts.plan };
        let pool_granted = makes.pools(&judged.template).all(|pool| self.pools.admit(pool, user));
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
                can_start: !matches!(makes, Makes::Nothing(_)),
                misfire: judged.misfire,
                misfire_after: self.misfire_after,
                overlap: judged.overlap,
                can_queue: judged.template.can_queue(),
                live: &facts.live,
                queued: facts.queued,
                room: makes.room(room),
                at_once: makes.at_once(),
                now: facts.now,
            });
            let made = decision.rows.iter().filter(|row| row.outcome.makes_task()).count();
            (decision, made as u64 * makes.tasks())
        })
    }
}

/// What the due times of a schedule make.
enum Makes {
    Tasks,
    Runs(Box<FiredRuns>),
    /// No run can be started, and why.
    Nothing(String),
}

impl Makes {
    fn of(facts: &Facts, template: &FireTemplate) -> Self {
        let Some(start) = template.workflow() else { return Self::Tasks };
        let input = start.input.as_deref();
        // Of the same version as the template.
        let runs = facts.starts.as_ref().map(|starts| starts.runs(input));
        match runs.unwrap_or_else(|| Err("its workflow was not read".to_owned())) {
            Ok(runs) => Self::Runs(Box::new(runs)),
            Err(why) => Self::Nothing(why),
        }
    }

    fn fresh(&self) -> Made {
        match self {
            Self::Runs(_) => Made::Run(WorkflowRunId::fresh()),
            Self::Tasks | Self::Nothing(_) => Made::Task(TaskId::fresh()),
        }
    }

    /// What is said of a due time with this outcome.
    fn detail(&self, outcome: Outcome) -> Option<String> {
        match (self, outcome) {
            (Self::Nothing(why), Outcome::WorkflowUnavailable) => Some(why.clone()),
            (Self::Runs(runs), Outcome::ShedQuota) => Some(match runs.room {
                0 => "the quota `workflow_runs` is used up".to_owned(),
                _ => format!("the quota `backlog` has no room for {} tasks", runs.tasks()),
            }),
            _ => None,
        }
    }

    /// The pools of its tasks.
    fn pools<'a>(&'a self, template: &'a FireTemplate) -> impl Iterator<Item = &'a PoolName> {
        let of_runs = match self {
            Self::Runs(runs) => runs.pools(),
            Self::Tasks | Self::Nothing(_) => Default::default(),
        };
        template.task().map(|task| &task.pool).into_iter().chain(of_runs)
    }

    /// For how many fires there is room where the tenant may have `tasks` more.
    fn room(&self, tasks: u64) -> u64 {
        match self {
            Self::Runs(runs) => runs.room_with(tasks),
            Self::Tasks | Self::Nothing(_) => tasks,
        }
    }

    /// Tasks of one fire.
    fn tasks(&self) -> u64 {
        match self {
            Self::Runs(runs) => runs.tasks(),
            Self::Tasks | Self::Nothing(_) => 1,
        }
    }

    fn at_once(&self) -> u64 {
        match self {
            Self::Runs(runs) => runs.at_once(),
            Self::Tasks | Self::Nothing(_) => u64::MAX,
        }
    }

    fn into_runs(self) -> Option<FiredRuns> {
        match self {
            Self::Runs(runs) => Some(*runs),
            Self::Tasks | Self::Nothing(_) => None,
        }
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
        runs: None,
        cancel: Vec::new(),
        next: None,
        awaits: None,
        fires: facts.fires,
        settled: Vec::new(),
    }
}

/// What follows a decision: a due time, or the end of a task or run.
fn next(
    facts: &Facts,
    versions: &Versions<'_>,
    decision: &Decision,
    rows: &[VerdictRow],
) -> (Option<Coming>, Option<Made>) {
    match decision.next {
        Next::At(coming) => (Some(coming), None),
        Next::Over => (None, None),
        Next::AfterEnd => {
            let made = rows.iter().rev().find_map(|row| row.made);
            match made.or_else(|| facts.live.last().copied()) {
                Some(made) => (None, Some(made)),
                // It made nothing and has nothing: as if one had ended now.
                None => (versions.after_end(facts.now), None),
            }
        }
    }
}
