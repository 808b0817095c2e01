//! The settling loop: groups all results that arrived while the previous statement was in flight.
//!
//! The reply is sent after the commit. A result that cannot be settled now gets RETRY and stays in its executor's
//! spool; a crash here loses nothing.

use super::next::{Next, next};
use super::reported::Reported;
use crate::ends::Ends;
use crate::fleet::{Fleet, HeldLease, Stream};
use crate::lease_store::LeaseStore;
use crate::metrics::{FOREIGN_RESULTS, LOOP_SECONDS, SETTLE_SIZE, SETTLED};
use crate::output::OutputQueue;
use crate::retry::Budgets;
use crate::trace;
use bus::{Bus, Topic};
use domain::id::SessionId;
use domain::quarantine::Ending;
use domain::task::{AttemptOutcome, Event, LeaseKey, State};
use domain::time::Timestamp;
use protocol::result_answer::Verdict;
use protocol::{ResultAnswer, ResultAnswers, session_bytes};
use runtime::clock;
use runtime::fault::FaultPoint;
use runtime::random::unit;
use runtime::tick::Turns;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use store::StoreError;
use store::task::transition::{EndedAttempt, FailedAttempt, LapsedLease, TransitionResult};
use tokio::sync::mpsc;
use tracing::{Instrument, debug, info_span, warn};

/// Results are received and not written yet.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("resource_manager.settle.before_commit");
/// Results are written and the replies not sent yet.
static COMMITTED: FaultPoint = FaultPoint::new("resource_manager.settle.committed");

/// Bytes of returned values in one statement, about: it must not take long.
const MOST_VALUES: usize = 4 * 1024 * 1024;

pub(crate) struct Settler<S> {
    pub db: S,
    pub fleet: Fleet,
    pub bus: Bus,
    pub output: OutputQueue,
    pub ends: Ends,
    pub budgets: Budgets,
    pub batch: usize,
}

impl<S: LeaseStore> Settler<S> {
    /// Settles until the queue is closed.
    pub(crate) async fn run(self, turns: Turns, mut incoming: mpsc::Receiver<Vec<Reported>>) {
        let mut waiting: Vec<Reported> = Vec::new();
        while let Some(first) = turns.wait(incoming.recv()).await {
            waiting.extend(first);
            while waiting.len() < self.batch {
                let Ok(more) = incoming.try_recv() else { break };
                waiting.extend(more);
            }
            while !waiting.is_empty() {
                let rest = waiting.split_off(group_of(&waiting, self.batch));
                let group = std::mem::replace(&mut waiting, rest);
                let began = clock::monotonic();
                SETTLE_SIZE.observe(group.len() as f64);
                let span = info_span!("task.settle", results = group.len());
                let output = group.iter().map(|reported| reported.after_output).max().unwrap_or(0);
                turns.wait(self.output.stored(output)).await;
                turns.turn(self.settle(group).instrument(span)).await;
                LOOP_SECONDS.with(&["settle"]).observe_duration(began.elapsed());
            }
        }
        turns.end();
    }

    /// Settles results and replies to all; returns whether the database succeeded.
    async fn settle(&self, mut group: Vec<Reported>) -> bool {
        let mut answers: HashMap<u64, (Stream, Vec<ResultAnswer>)> = HashMap::new();
        let learned = match self.foreign(&mut group).await {
            Ok(foreign) => {
                FOREIGN_RESULTS.inc_by(foreign.len() as u64);
                foreign.into_iter().for_each(|r| answer(&mut answers, r, Verdict::Stale));
                self.learn(&mut group).await
            }
            Err(error) => {
                // Their owner is unknown: request them again.
                let others = group.extract_if(.., |reported| reported.of_another.is_some());
                others.for_each(|r| answer(&mut answers, r, Verdict::Retry));
                Err(error)
            }
        };
        if let Err(error) = &learned {
            warn!(%error, "Leases of earlier sessions could not be read; their results are requested again");
        }
        let mut by_event: BTreeMap<Event, Vec<(Reported, Next)>> = BTreeMap::new();
        let mut unknown = Vec::new();
        for reported in group {
            match next(&self.budgets, &reported, unit) {
                Some((event, next)) => by_event.entry(event).or_default().push((reported, next)),
                None => unknown.push(reported),
            }
        }
        let mut due_again = false;
        let mut well = learned.is_ok();
        for (event, results) in by_event {
            due_again |=
                matches!(event, Event::AttemptFailed | Event::LeaseLapsed | Event::ReturnedAgain);
            let began = trace::now();
            let verdicts = self.raise(event, &results).await;
            well &= !verdicts.contains(&Verdict::Retry);
            if let Some(began) = began {
                export(&results, &verdicts, began);
            }
            let applied = results.iter().zip(&verdicts).filter(|(_, v)| **v == Verdict::Applied);
            self.ends.add(applied.map(|((reported, _), _)| &reported.ended));
            for ((reported, _), verdict) in results.into_iter().zip(verdicts) {
                answer(&mut answers, reported, verdict);
            }
        }
        for reported in unknown {
            // No longer held by its session, unless the read failed.
            answer(
                &mut answers,
                reported,
                if learned.is_ok() { Verdict::Stale } else { Verdict::Retry },
            );
        }
        for (stream, answers) in answers.into_values() {
            stream.send(ResultAnswers { answers });
        }
        if due_again {
            self.bus.wake(Topic::ShardOwner);
        }
        well
    }

    /// Removes results of foreign sessions from `group`: the reporter must have the name and pool of the session.
    async fn foreign(&self, group: &mut Vec<Reported>) -> Result<Vec<Reported>, StoreError> {
        let sessions = sessions_of(group, |reported| reported.of_another.is_some());
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let owners = self.db.owners(&sessions).await?;
        let is_foreign = |reported: &mut Reported| {
            let owner = owners.get(&reported.ended.lease.session);
            reported.of_another.as_deref().is_some_and(|who| owner != Some(who))
        };
        Ok(group.extract_if(.., is_foreign).collect())
    }

    /// Reads leases of earlier sessions of the executors.
    async fn learn(&self, group: &mut [Reported]) -> Result<(), StoreError> {
        // One statement for all sessions: invented sessions of one executor must not delay results of others.
        let foreign = sessions_of(group, |reported| reported.held.is_none());
        if foreign.is_empty() {
            return Ok(());
        }
        let known: HashMap<LeaseKey, HeldLease> = self
            .db
            .live(&foreign)
            .await?
            .iter()
            .map(|lease| (lease.key, HeldLease::of_live(lease)))
            .collect();
        for reported in group.iter_mut().filter(|r| r.held.is_none()) {
            reported.held = known.get(&reported.ended.lease).cloned();
        }
        Ok(())
    }

    /// Raises one event for its results; returns a verdict for each.
    async fn raise(&self, event: Event, results: &[(Reported, Next)]) -> Vec<Verdict> {
        let keys: Vec<(LeaseKey, AttemptOutcome)> = results
            .iter()
            .map(|(reported, _)| (reported.ended.lease, reported.ended.outcome))
            .collect();
        match self.written(event, results).await {
            Ok(answers) => {
                // A live lease is not freed, whatever was reported.
                let over = answers
                    .iter()
                    .zip(&keys)
                    .filter(|(answer, _)| !still_leased(answer))
                    .map(|(answer, (key, outcome))| (*key, ending(*outcome, answer)));
                self.fleet.release(over);
                self.wake_for_children(&answers);
                answers
                    .iter()
                    .zip(&keys)
                    .filter(|(answer, _)| still_leased(answer))
                    .for_each(|(_, (key, _))| self.fleet.keep(*key));
                answers.into_iter().map(|answer| verdict(event, answer)).collect()
            }
            Err(error) => {
                warn!(%error, %event, results = results.len(), "Results could not be settled; they are requested again");
                keys.iter().for_each(|(key, _)| self.fleet.keep(*key));
                vec![Verdict::Retry; results.len()]
            }
        }
    }

    /// Children may be ready, others are to be skipped or left to the schedulers.
    fn wake_for_children(&self, answers: &[TransitionResult]) {
        if answers.iter().any(|answer| matches!(answer, TransitionResult::AppliedToParent(_))) {
            self.bus.wake(Topic::Batcher);
            self.bus.wake(Topic::ShardOwner);
        }
    }

    async fn written(
        &self,
        event: Event,
        results: &[(Reported, Next)],
    ) -> Result<Vec<TransitionResult>, StoreError> {
        BEFORE_COMMIT.hit().await?;
        let answers = self.statement(event, results).await?;
        COMMITTED.hit().await?;
        Ok(answers)
    }

    async fn statement(
        &self,
        event: Event,
        results: &[(Reported, Next)],
    ) -> Result<Vec<TransitionResult>, StoreError> {
        let ended: Vec<EndedAttempt> =
            results.iter().map(|(reported, _)| reported.ended.clone()).collect();
        let db = &self.db;
        match event {
            Event::Called => db.called(&ended).await,
            Event::Completed => db.completed(&ended).await,
            Event::AttemptsExhausted => db.attempts_exhausted(&ended).await,
            Event::AttemptAborted => db.attempt_aborted(&ended).await,
            Event::AttemptKilled => db.attempt_killed(&ended).await,
            Event::HandedBack => db.handed_back(&ended).await,
            Event::NotStarted => db.not_started(&ended).await,
            Event::ReturnedAgain => {
                let waits: Vec<_> = results.iter().map(|(_, next)| next.retry_after).collect();
                db.returned_again(&ended, &waits).await
            }
            Event::Stopped => self.stopped_or_handed_back(results, &ended).await,
            Event::AttemptFailed => {
                let failed: Vec<_> = results
                    .iter()
                    .map(|(reported, next)| FailedAttempt {
                        ended: reported.ended.clone(),
                        retry_after: next.retry_after,
                        held: next.held.clone(),
                    })
                    .collect();
                db.attempt_failed(&failed).await
            }
            Event::LeaseLapsed | Event::LeaseLapsedForGood => {
                let for_good = event == Event::LeaseLapsedForGood;
                let lapsed =
                    |e: &EndedAttempt| LapsedLease { key: e.lease, at_most_once: for_good };
                let leases: Vec<_> = ended.iter().map(lapsed).collect();
                db.lease_lapsed(&leases).await
            }
            Event::Due
            | Event::Dispatched
            | Event::DispatchStale
            | Event::Unplaced
            | Event::Placed
            | Event::CancelRequested
            | Event::Expired
            | Event::Released
            | Event::Skipped
            | Event::Prepared
            | Event::PrepareFailed
            | Event::WaitOver
            | Event::Rejected
            | Event::RunNow
            | Event::MarkedSucceeded
            | Event::Recalled
            | Event::Postponed => Ok(vec![TransitionResult::NotFound; ended.len()]),
        }
    }

    /// An attempt that its executor stopped without a request was handed back: the task runs again, uncharged, unless
    /// delivery is at most once.
    async fn stopped_or_handed_back(
        &self,
        results: &[(Reported, Next)],
        ended: &[EndedAttempt],
    ) -> Result<Vec<TransitionResult>, StoreError> {
        let mut answers = self.db.stopped(ended).await?;
        let once_only =
            |at: &usize| results[*at].0.held.as_ref().is_some_and(|held| held.at_most_once);
        let (for_good, unasked): (Vec<usize>, Vec<usize>) =
            (0..ended.len()).filter(|at| still_leased(&answers[*at])).partition(once_only);
        if !for_good.is_empty() {
            let lapsed = |at: &usize| LapsedLease { key: ended[*at].lease, at_most_once: true };
            let leases: Vec<_> = for_good.iter().map(lapsed).collect();
            for (at, answer) in for_good.into_iter().zip(self.db.lease_lapsed(&leases).await?) {
                answers[at] = answer;
            }
        }
        if unasked.is_empty() {
            return Ok(answers);
        }
        let back: Vec<EndedAttempt> = unasked
            .iter()
            .map(|at| EndedAttempt { outcome: AttemptOutcome::HandedBack, ..ended[*at].clone() })
            .collect();
        let wait = |at: &usize| {
            let (held, lease) = (&results[*at].0.held, &ended[*at].lease);
            held.as_ref().map_or(Duration::ZERO, |h| h.wait_after_return(lease.attempt, unit()))
        };
        let waits: Vec<Duration> = unasked.iter().map(wait).collect();
        debug!(
            count = back.len(),
            "Attempts were stopped that nobody had cancelled; they run again"
        );
        let given_back = if waits.iter().all(Duration::is_zero) {
            self.db.handed_back(&back).await?
        } else {
            self.db.returned_again(&back, &waits).await?
        };
        for (at, answer) in unasked.into_iter().zip(given_back) {
            answers[at] = answer;
        }
        Ok(answers)
    }
}

/// How many of the first results are settled together: at most `most`, and no more once their values have [`MOST_VALUES`].
pub(super) fn group_of(waiting: &[Reported], most: usize) -> usize {
    let mut values = 0;
    let full = waiting.iter().take(most).position(|reported| {
        values += reported.ended.value.as_ref().map_or(0, |value| value.as_str().len());
        values >= MOST_VALUES
    });
    full.map_or_else(|| waiting.len().min(most), |last| last + 1)
}

/// Spans of the settled results.
fn export(results: &[(Reported, Next)], verdicts: &[Verdict], began: Timestamp) {
    let applied = results.iter().zip(verdicts).filter(|(_, v)| **v == Verdict::Applied);
    for ((reported, _), _) in applied {
        if let Some(submit) = reported.held.as_ref().and_then(|held| held.trace) {
            let (ended, ran) = (&reported.ended, Duration::from_millis(reported.ended.ran_ms));
            trace::settled(submit, &ended.lease, ended.outcome, ran, began);
        }
    }
}

/// The sessions of the `wanted` results of the group.
fn sessions_of(group: &[Reported], wanted: impl Fn(&Reported) -> bool) -> Vec<SessionId> {
    let sessions: HashSet<SessionId> = group
        .iter()
        .filter(|reported| wanted(reported))
        .map(|reported| reported.ended.lease.session)
        .collect();
    sessions.into_iter().collect()
}

/// What an outcome says about the executor.
fn ending(outcome: AttemptOutcome, answer: &TransitionResult) -> Ending {
    match outcome {
        // A stop without a request.
        AttemptOutcome::Stopped if !matches!(answer.moved_to(), Some(State::Cancelled)) => {
            Ending::CameBack
        }
        AttemptOutcome::NotStarted | AttemptOutcome::HandedBack | AttemptOutcome::Lost => {
            Ending::CameBack
        }
        AttemptOutcome::Succeeded
        | AttemptOutcome::Failed
        | AttemptOutcome::KilledCap
        | AttemptOutcome::KilledResources
        | AttemptOutcome::Stopped => Ending::Ran,
    }
}

/// Whether the lease was live and stays live.
const fn still_leased(answer: &TransitionResult) -> bool {
    matches!(answer, TransitionResult::Stale { leased: true, .. })
}

fn verdict(event: Event, answer: TransitionResult) -> Verdict {
    let (name, verdict) = match answer {
        TransitionResult::Applied(_) | TransitionResult::AppliedToParent(_) => {
            ("applied", Verdict::Applied)
        }
        TransitionResult::Repeated => ("repeated", Verdict::Repeated),
        TransitionResult::Stale { .. } => ("stale", Verdict::Stale),
        TransitionResult::NotFound => ("not_found", Verdict::NotFound),
    };
    SETTLED.with(&[event.as_str(), name]).inc();
    verdict
}

fn answer(
    answers: &mut HashMap<u64, (Stream, Vec<ResultAnswer>)>,
    reported: Reported,
    verdict: Verdict,
) {
    let lease = reported.ended.lease;
    let outcome = reported.ended.outcome;
    debug!(task.id = %lease.task, lease.attempt, %outcome, ?verdict, "Attempt {} of `{}` was settled", lease.attempt, lease.task);
    answers.entry(reported.stream.id).or_insert_with(|| (reported.stream, Vec::new())).1.push(
        ResultAnswer {
            lease: Some(lease.into()),
            session_id: session_bytes(lease.session),
            verdict: verdict.into(),
        },
    );
}
