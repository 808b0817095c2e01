//! A store in memory: tasks and their leases, for the statements of [`LeaseStore`].
//!
//! States move by `domain::task::next`, the table that the real statements are compared with. A test may let the next call of a
//! statement fail, or do something while it is under way.

use super::FakeTask;
use crate::lease_store::{LeaseStore, TransitionResults};
use bus::Hint;
use domain::epoch::Epoch;
use domain::id::{NodeId, SessionId, TaskId, TenantId};
use domain::task::{AttemptOutcome, Dispatch, Event, LeaseKey, Run, State, next};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::lease::LiveLease;
use store::session::SessionOwner;
use store::task::transition::{
    Claim, EndedAttempt, FailedAttempt, LapsedLease, Placed, SessionEpoch, TransitionResult,
};

#[derive(Clone, Default)]
pub(crate) struct FakeStore(Arc<Mutex<Tables>>);

#[derive(Default)]
struct Tables {
    tasks: BTreeMap<(TenantId, TaskId), FakeTask>,
    sessions: HashMap<SessionId, (Epoch, SessionOwner)>,
    failures: HashMap<&'static str, StoreError>,
    meanwhile: HashMap<&'static str, Box<dyn FnOnce() + Send>>,
    calls: Vec<(&'static str, usize)>,
}

impl FakeStore {
    /// A session that this resource manager owns under `epoch`.
    pub(crate) fn open(&self, session: SessionId, epoch: Epoch, owner: SessionOwner) {
        self.0.lock().sessions.insert(session, (epoch, owner));
    }

    /// Adds a task and returns the hint of it.
    pub(crate) fn add(&self, task: FakeTask) -> Hint {
        let (tenant, id) = (TenantId::fresh(), TaskId::fresh());
        let hint = Hint {
            dispatch: Dispatch { tenant, task: id, epoch: task.dispatch_epoch },
            resources: task.resources,
            start_deadline_unix_ms: 0,
            driver: task.driver,
        };
        self.0.lock().tasks.insert((tenant, id), task);
        hint
    }

    /// The task as it is now.
    pub(crate) fn task(&self, hint: &Hint) -> FakeTask {
        self.0.lock().tasks[&(hint.dispatch.tenant, hint.dispatch.task)].clone()
    }

    pub(crate) fn state(&self, hint: &Hint) -> State {
        self.task(hint).state
    }

    /// Changes a task without the code under test.
    pub(crate) fn change(&self, hint: &Hint, change: impl FnOnce(&mut FakeTask)) {
        change(self.0.lock().tasks.get_mut(&(hint.dispatch.tenant, hint.dispatch.task)).unwrap());
    }

    /// The next call of `statement` fails, before it has any effect.
    pub(crate) fn fail(&self, statement: &'static str, error: StoreError) {
        self.0.lock().failures.insert(statement, error);
    }

    /// `action` happens as the next call of `statement` begins.
    pub(crate) fn meanwhile(
        &self,
        statement: &'static str,
        action: impl FnOnce() + Send + 'static,
    ) {
        self.0.lock().meanwhile.insert(statement, Box::new(action));
    }

    /// Each call since the last time, with its number of rows.
    pub(crate) fn calls(&self) -> Vec<(&'static str, usize)> {
        std::mem::take(&mut self.0.lock().calls)
    }

    fn begin(&self, statement: &'static str, rows: usize) -> Result<(), StoreError> {
        let (meanwhile, failure) = {
            let mut tables = self.0.lock();
            tables.calls.push((statement, rows));
            (tables.meanwhile.remove(statement), tables.failures.remove(statement))
        };
        if let Some(action) = meanwhile {
            action();
        }
        failure.map_or(Ok(()), Err)
    }

    fn end(
        &self,
        statement: &'static str,
        event: Event,
        ended: &[EndedAttempt],
        waits: &[Duration],
    ) -> TransitionResults {
        self.begin(statement, ended.len())?;
        let mut tables = self.0.lock();
        let waits = waits.iter().copied().chain(std::iter::repeat(Duration::ZERO));
        let answer = |(ended, wait): (&EndedAttempt, Duration)| {
            let answer = tables.end(ended.lease, event, ended.outcome, wait);
            if answer == TransitionResult::Applied(State::Succeeded)
                && let Some(task) = tables.tasks.get_mut(&(ended.lease.tenant, ended.lease.task))
            {
                task.values.extend(ended.value.clone());
            }
            answer
        };
        Ok(ended.iter().zip(waits).map(answer).collect())
    }
}

impl Tables {
    fn end(
        &mut self,
        lease: LeaseKey,
        event: Event,
        outcome: AttemptOutcome,
        wait: Duration,
    ) -> TransitionResult {
        let Some(task) = self.tasks.get_mut(&(lease.tenant, lease.task)) else {
            return TransitionResult::NotFound;
        };
        if task.lease == Some(lease)
            && let Some(to) = next(task.state, event)
        {
            task.state = to;
            task.lease = None;
            task.wait = wait;
            task.failures += u32::from(event == Event::AttemptFailed);
            task.ends.push((lease, outcome));
            return TransitionResult::Applied(to);
        }
        if task.ends.contains(&(lease, outcome)) {
            return TransitionResult::Repeated;
        }
        TransitionResult::Stale { actual: task.state, leased: task.lease == Some(lease) }
    }

    fn place(&mut self, claim: &Claim) -> Option<Placed> {
        let Dispatch { tenant, task: id, epoch } = claim.dispatch;
        let task = self.tasks.get_mut(&(tenant, id))?;
        if task.dispatch_epoch != epoch {
            return None;
        }
        task.state = next(task.state, Event::Placed)?;
        task.attempt += 1;
        let lease = LeaseKey { tenant, task: id, attempt: task.attempt, session: claim.session };
        (task.lease, task.assignment) = (Some(lease), claim.assignment);
        task.port_first = claim.port_first;
        Some(Placed {
            lease,
            assignment: claim.assignment,
            run: task.run.clone(),
            retry: task.retry.clone(),
            cap: Duration::from_secs(60),
            failures: task.failures,
            max_attempts: task.max_attempts,
            at_most_once: task.at_most_once,
            traceparent: None,
            due_at: None,
            schedule_name: None,
            waited_ms: 0,
        })
    }
}

impl LeaseStore for FakeStore {
    async fn placed(
        &self,
        _: NodeId,
        sessions: &[SessionEpoch],
        claims: &[Claim],
        _: Duration,
    ) -> Result<Vec<Placed>, StoreError> {
        self.begin("placed", claims.len())?;
        let mut tables = self.0.lock();
        let is_owned = |tables: &Tables, session: SessionId| {
            sessions.iter().any(|held| {
                held.session == session
                    && tables.sessions.get(&session).is_some_and(|(epoch, _)| *epoch == held.epoch)
            })
        };
        let mut placed = Vec::new();
        for claim in claims {
            if is_owned(&tables, claim.session) {
                placed.extend(tables.place(claim));
            }
        }
        Ok(placed)
    }

    async fn unplaced(&self, dispatches: &[Dispatch]) -> Result<u64, StoreError> {
        self.begin("unplaced", dispatches.len())?;
        let mut tables = self.0.lock();
        let mut moved = 0;
        for Dispatch { tenant, task: id, epoch } in dispatches {
            if let Some(task) = tables.tasks.get_mut(&(*tenant, *id))
                && task.dispatch_epoch == *epoch
                && let Some(to) = next(task.state, Event::Unplaced)
            {
                task.state = to;
                moved += 1;
            }
        }
        Ok(moved)
    }

    async fn live(&self, sessions: &[SessionId]) -> Result<Vec<LiveLease>, StoreError> {
        self.begin("live", sessions.len())?;
        let tables = self.0.lock();
        let live = |task: &FakeTask| {
            let key = task.lease.filter(|lease| sessions.contains(&lease.session))?;
            Some(LiveLease {
                key,
                assignment: task.assignment,
                resources: task.resources,
                port_first: task.port_first,
                slots: task.resources.slots(),
                failures: task.failures,
                max_attempts: task.max_attempts,
                retry: task.retry.clone(),
                target: task.run.known().and_then(Run::target),
                traceparent: None,
                at_most_once: task.at_most_once,
                cap: Duration::from_secs(60),
                cancelling: task.state == State::Cancelling,
            })
        };
        Ok(tables.tasks.values().filter_map(live).collect())
    }

    async fn owners(
        &self,
        sessions: &[SessionId],
    ) -> Result<HashMap<SessionId, SessionOwner>, StoreError> {
        self.begin("owners", sessions.len())?;
        let tables = self.0.lock();
        let owner = |id: &SessionId| tables.sessions.get(id).map(|(_, owner)| (*id, owner.clone()));
        Ok(sessions.iter().filter_map(owner).collect())
    }

    async fn called(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("called", Event::Called, ended, &[])
    }

    async fn completed(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("completed", Event::Completed, ended, &[])
    }

    async fn attempt_failed(&self, failed: &[FailedAttempt]) -> TransitionResults {
        let ended: Vec<_> = failed.iter().map(|failed| failed.ended.clone()).collect();
        let waits: Vec<_> = failed.iter().map(|failed| failed.retry_after).collect();
        let answers = self.end("attempt_failed", Event::AttemptFailed, &ended, &waits)?;
        let mut tables = self.0.lock();
        for (failed, answer) in failed.iter().zip(&answers) {
            let lease = failed.ended.lease;
            if *answer == TransitionResult::Applied(State::Retrying)
                && let Some(task) = tables.tasks.get_mut(&(lease.tenant, lease.task))
            {
                task.held_for = failed.held.as_ref().map(|held| Arc::clone(&held.target));
            }
        }
        Ok(answers)
    }

    async fn attempts_exhausted(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("attempts_exhausted", Event::AttemptsExhausted, ended, &[])
    }

    async fn attempt_aborted(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("attempt_aborted", Event::AttemptAborted, ended, &[])
    }

    async fn attempt_killed(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("attempt_killed", Event::AttemptKilled, ended, &[])
    }

    async fn handed_back(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("handed_back", Event::HandedBack, ended, &[])
    }

    async fn not_started(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("not_started", Event::NotStarted, ended, &[])
    }

    async fn stopped(&self, ended: &[EndedAttempt]) -> TransitionResults {
        self.end("stopped", Event::Stopped, ended, &[])
    }

    async fn lease_lapsed(&self, leases: &[LapsedLease]) -> TransitionResults {
        self.begin("lease_lapsed", leases.len())?;
        let mut tables = self.0.lock();
        let lapse = |lease: &LapsedLease| {
            let event =
                if lease.at_most_once { Event::LeaseLapsedForGood } else { Event::LeaseLapsed };
            tables.end(lease.key, event, AttemptOutcome::Lost, Duration::ZERO)
        };
        Ok(leases.iter().map(lapse).collect())
    }

    async fn returned_again(
        &self,
        ended: &[EndedAttempt],
        waits: &[Duration],
    ) -> TransitionResults {
        self.end("returned_again", Event::ReturnedAgain, ended, waits)
    }
}
