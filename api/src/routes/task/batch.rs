//! Many tasks at once: judged one by one, stored together.
//!
//! Shared by batches of one document and of lines. What is wrong with one task fails that task only; the others are stored in
//! one transaction, or none is. Only what the tenant's rates admit is judged, and what takes the place of mistakes, on a thread of its
//! own, and few groups are judged or stored at once.

use super::judged::{Judged, internal};
use crate::call::Call;
use crate::limit::{Decision, Shortage, TenantBucket, of_item};
use crate::problem::{Code, Problem, code_of_store};
use crate::quota::{Room, TaskSize};
use crate::request::{Hold, json};
use crate::state::State as Shared;
use crate::submit::Work;
use crate::task::{Links, Origin, Rules};
use actix_web::web::Bytes;
use api_types::TaskWarning;
use api_types::request as body;
use domain::plan::Quota;
use identity::Caller;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::StoreError;
use store::connect::REPEATS;
use store::idempotency::IdempotencyKey;
use store::task::submit::{BatchAnswer, NewTask, SubmitAnswer};
use tokio::runtime::Handle;
use tracing::{Instrument, Span};

/// So many times as many tasks as were admitted are looked at, where mistakes among them leave room.
const LOOKS: usize = 3;

/// Tasks that are stored, and answered, on the thread that answers requests.
const ON_THE_SPOT: usize = 200;

/// Writes an answer, with whole tasks or without.
type Form = fn(&Judged, &[SubmitAnswer], bool) -> Result<Vec<u8>, Problem>;

/// How the answer to a batch is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Render {
    /// The form of the whole.
    pub form: Form,
    /// Whole tasks in it.
    pub full: bool,
}

impl Render {
    /// The answer.
    ///
    /// # Errors
    /// `internal` when a task cannot be shown, which would be a bug.
    pub(super) fn of(self, judged: &Judged, answers: &[SubmitAnswer]) -> Result<Vec<u8>, Problem> {
        (self.form)(judged, answers, self.full)
    }
}

/// What is said of parents in batches of single tasks.
const NOT_LINKED: &str =
    "is allowed only in a single submit and in a batch that is one JSON document";

/// One task as it was sent.
pub(super) struct Piece {
    /// Its place in the request.
    pub index: usize,
    /// Where it stands in the body, as a JSON pointer.
    pub base: String,
    /// Its JSON; `None` where it is over its limit.
    pub text: Option<Bytes>,
}

impl Piece {
    /// What was sent, of `most` bytes at most.
    ///
    /// # Errors
    /// `payload_too_large`, or what is wrong with its JSON.
    pub(super) fn read(&self, most: TaskSize) -> Result<body::NewTask, Problem> {
        let seen = self.text.as_ref().map(Bytes::len);
        let Some(text) = self.text.as_ref().filter(|text| text.len() <= most.bytes) else {
            return Err(Problem::at(Code::PayloadTooLarge, self.base.clone(), most.refuses(seen)));
        };
        json::parse_at::<body::NewTask>(text, &self.base)
    }
}

/// Who sends a batch: what outlives the request's own borrow.
#[derive(Clone)]
pub(super) struct Sender {
    pub state: Arc<Shared>,
    pub caller: Caller,
    pub origin: Origin,
    bucket: Arc<TenantBucket>,
}

impl Sender {
    pub(super) fn of(call: &Call) -> Self {
        let origin = Origin {
            tenant: call.caller.tenant(),
            key_id: call.caller.actor().to_string(),
            traceparent: call.trace.to_string(),
            idempotency: None,
        };
        let (state, bucket) = (Arc::clone(&call.state), Arc::clone(&call.bucket));
        Self { state, caller: call.caller.clone(), origin, bucket }
    }

    /// Runs `work`, which reads or judges much, on a thread that may take its time.
    ///
    /// # Errors
    /// Those of `work`.
    pub(super) async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let sender = self.clone();
        self.state.computing.compute(self.caller.tenant(), move || work(&sender)).await
    }

    /// Admits as many tasks as the tenant's rates allow, and judges the first ones until so many without a mistake are found; says
    /// why where none was admitted. What is over the limit costs no more than to say so, and a mistake costs nothing: the next task
    /// has its place, as long as not too many are looked at.
    ///
    /// # Errors
    /// What the database said of the pools.
    pub(super) async fn judge(
        &self,
        pieces: Vec<Piece>,
    ) -> Result<(Judged, Option<Shortage>), Problem> {
        let admission = self.state.limiter.admit(&self.bucket, pieces.len() as u64).await;
        let judged = self.judge_admitted(pieces, admission).await;
        let kept = judged.as_ref().map_or(0, |judged| judged.tasks.len());
        self.state.limiter.give_back(&self.bucket, admission.admitted - kept as u64);
        Ok((judged?, admission.shortage.filter(|_| admission.admitted == 0)))
    }

    pub(super) async fn judge_admitted(
        &self,
        pieces: Vec<Piece>,
        admission: Decision,
    ) -> Result<Judged, Problem> {
        if let Decision { admitted: 0, shortage: Some(shortage) } = admission {
            let refused = |piece: Piece| (piece.index, Err(of_item(shortage)));
            let places = pieces.into_iter().map(refused).collect();
            return Ok(Judged { places, ..Judged::default() });
        }
        let (pools, now) = (self.state.pools.current().await?, runtime::clock::wall());
        self.apart(move |sender| {
            let (limits, caller) = (&sender.state.limits, &sender.caller);
            let (user, plan) = (caller.pool_user(), caller.limits());
            let links = Links::None(NOT_LINKED);
            let rules = Rules { limits, pools: &pools, user, now, plan, links };
            Ok(sender.judge_by(&rules, pieces, admission))
        })
        .await
    }

    /// Judges one task after the other, and refuses those for which there is no room.
    fn judge_by(&self, rules: &Rules<'_>, pieces: Vec<Piece>, admission: Decision) -> Judged {
        let most = self.task_size();
        let admitted = usize::try_from(admission.admitted).unwrap_or(usize::MAX);
        let mut judged = Judged::default();
        for (nth, piece) in pieces.into_iter().enumerate() {
            let is_over = judged.tasks.len() == admitted || nth >= admitted.saturating_mul(LOOKS);
            let index = piece.index;
            let task = match admission.shortage.filter(|_| is_over) {
                Some(shortage) => Err(of_item(shortage)),
                None => self.judge_one(rules, piece, most),
            };
            let place = task.map(|(task, warnings)| {
                judged.tasks.push(task);
                judged.warnings.push(warnings);
                judged.tasks.len() - 1
            });
            judged.places.push((index, place));
        }
        judged
    }

    fn judge_one(
        &self,
        rules: &Rules<'_>,
        piece: Piece,
        most: TaskSize,
    ) -> Result<(NewTask, Vec<TaskWarning>), Problem> {
        let spec = piece.read(most)?;
        self.check(rules, spec, piece.base)
    }

    /// Checks a task at `base` in the body, and says what is to be known of it.
    ///
    /// # Errors
    /// Its mistakes.
    pub(super) fn check(
        &self,
        rules: &Rules<'_>,
        spec: body::NewTask,
        base: String,
    ) -> Result<(NewTask, Vec<TaskWarning>), Problem> {
        let task = rules.check(spec, base.clone(), self.origin.clone())?;
        let warnings = rules.warnings(&task, &base);
        Ok((task, warnings))
    }

    /// The size that each task may have.
    pub(super) fn task_size(&self) -> TaskSize {
        self.state.task_limit(Some(self.caller.limits()))
    }

    /// Admits `wanted` tasks, or none: then says why.
    pub(super) async fn admit_all(&self, wanted: u64) -> Option<Shortage> {
        let admission = self.state.limiter.admit(&self.bucket, wanted).await;
        if admission.admitted == wanted {
            return None;
        }
        self.give_back(admission.admitted);
        admission.shortage
    }

    /// Gives back what was admitted and not stored.
    pub(super) fn give_back(&self, tasks: u64) {
        self.state.limiter.give_back(&self.bucket, tasks);
    }

    /// Holds memory for an answer of `bytes` to `judged`, before anything is stored: after it the answer cannot be refused. Without
    /// memory nothing is stored, so its tasks do not count as submitted.
    ///
    /// # Errors
    /// As [`Hold::grow`].
    pub(super) fn hold_answer(
        &self,
        hold: &Hold,
        judged: &Judged,
        bytes: usize,
    ) -> Result<(), Problem> {
        hold.grow(bytes).inspect_err(|_| {
            self.state.limiter.give_back(&self.bucket, judged.tasks.len() as u64);
        })
    }

    /// Whether the request was answered before: then it is again, whatever the limits say.
    ///
    /// # Errors
    /// What the database said.
    pub(super) async fn is_repeated(&self, key: Option<&IdempotencyKey>) -> Result<bool, Problem> {
        Ok(self.state.limiter.is_repeated(&self.bucket, key).await?)
    }

    /// The refusal of a request of which nothing was admitted.
    pub(super) fn refusal(&self, shortage: Shortage) -> Problem {
        self.state.limiter.refuse(shortage, &self.caller)
    }

    /// Keeps as many tasks as the backlog has room for; the rest is refused one by one, and does not count as submitted.
    ///
    /// # Errors
    /// `quota_exceeded` when there is room for none and the batch was not answered before; what the database said.
    pub(super) async fn admit(
        &self,
        key: Option<&IdempotencyKey>,
        judged: Judged,
    ) -> Result<(Judged, Room), Problem> {
        let wanted = judged.tasks.len();
        let admitted = self.admit_to_backlog(key, judged).await;
        let kept = admitted.as_ref().map_or(0, |(judged, _)| judged.tasks.len());
        self.state.limiter.give_back(&self.bucket, (wanted - kept) as u64);
        admitted
    }

    async fn admit_to_backlog(
        &self,
        key: Option<&IdempotencyKey>,
        mut judged: Judged,
    ) -> Result<(Judged, Room), Problem> {
        let (state, caller) = (&self.state, &self.caller);
        let wanted = judged.tasks.len();
        let room = state.backlog.room(caller, wanted as u64).await?;
        let tasks = usize::try_from(room.tasks()).unwrap_or(usize::MAX);
        if tasks >= wanted {
            return Ok((judged, room));
        }
        if self.is_repeated(key).await? {
            return Ok((judged, room));
        }
        let refusal =
            state.refusals.used_up(caller, Quota::Backlog, room.used() + room.tasks()).await;
        if tasks == 0 || judged.is_linked {
            room.settle(0);
            return Err(refusal);
        }
        judged.keep(tasks, || Problem::new(refusal.code(), refusal.detail().to_owned()));
        Ok((judged, room))
    }

    /// Stores what can be stored, in its tenant's turn, with the answer that `render` makes of it.
    ///
    /// # Errors
    /// `too_many_at_once`; what the database said: then nothing was stored, unless it is `outcome_unknown`.
    pub(super) async fn store(
        &self,
        key: Option<&IdempotencyKey>,
        (judged, room): (Judged, Room),
        render: Render,
    ) -> Result<BatchAnswer, Problem> {
        let taken = match self.state.storing.take(self.caller.tenant()).await {
            Ok(taken) => taken,
            Err(problem) => {
                room.settle(0);
                self.state.limiter.give_back(&self.bucket, judged.tasks.len() as u64);
                return Err(problem);
            }
        };
        let (sender, key) = (self.clone(), key.cloned());
        let is_large = judged.places.len() > ON_THE_SPOT;
        let storing = move || async move {
            let _taken = taken;
            let render = |answers: &[SubmitAnswer]| render.of(&judged, answers);
            sender.store_in_turn(key.as_ref(), (&judged, room), render).await
        };
        if !is_large {
            return storing().await;
        }
        // To write out thousands of rows, and their answers, takes as long as other requests of the thread would wait.
        let (here, span) = (Handle::current(), Span::current());
        let storing = move || here.block_on(storing().instrument(span));
        let working = tokio::task::spawn_blocking(storing);
        working.await.map_err(|error| internal().caused_by(&error))?
    }

    async fn store_in_turn(
        &self,
        key: Option<&IdempotencyKey>,
        (judged, room): (&Judged, Room),
        render: impl Fn(&[SubmitAnswer]) -> Result<Vec<u8>, Problem>,
    ) -> Result<BatchAnswer, Problem> {
        let (state, scope) = (&self.state, self.caller.scope());
        let stored = AtomicU64::new(0);
        let work = Mutex::new(Work::default());
        let broken = AtomicBool::new(false);
        let render = |answers: &[SubmitAnswer]| {
            let new = answers.iter().filter(|a| matches!(a, SubmitAnswer::Created(_))).count();
            stored.store(new as u64, Ordering::Relaxed);
            *work.lock() = Work::of(answers);
            render(answers).unwrap_or_else(|problem| {
                tracing::error!(cause = problem.cause(), "The answer to a batch cannot be written");
                broken.store(true, Ordering::Relaxed);
                Vec::new()
            })
        };
        let insert =
            || store::task::submit::insert_batch(&state.submit, &scope, key, &judged.tasks, render);
        let mut answer = insert().await;
        for _ in 0..REPEATS {
            match &answer {
                // With a key, trying again tells what became of it.
                Err(error) if error.outcome_unknown() && key.is_some() => answer = insert().await,
                Ok(_) | Err(_) => break,
            }
        }
        match &answer {
            Ok(BatchAnswer::Fresh(_)) => room.settle(stored.load(Ordering::Relaxed)),
            Ok(
                BatchAnswer::Replayed(_) | BatchAnswer::KeyReused | BatchAnswer::UnknownParents(_),
            ) => room.settle(0),
            // Unless it may have been stored: then the room stays taken until the next count.
            Err(error) if !error.outcome_unknown() => room.settle(0),
            Err(_) => drop(room),
        }
        let answer = answer.map_err(|error| not_stored(&error));
        let is_for_nothing = match &answer {
            Ok(BatchAnswer::Fresh(_)) => false,
            Ok(
                BatchAnswer::Replayed(_) | BatchAnswer::KeyReused | BatchAnswer::UnknownParents(_),
            ) => true,
            Err(problem) => !problem.may_have_happened(),
        };
        if is_for_nothing {
            state.limiter.give_back(&self.bucket, judged.tasks.len() as u64);
        }
        let answer = answer?;
        if let BatchAnswer::UnknownParents(unknown) = &answer {
            return Err(judged.unknown_parents(unknown));
        }
        if broken.load(Ordering::Relaxed) {
            return Err(internal());
        }
        if matches!(answer, BatchAnswer::Fresh(_)) {
            work.into_inner().wake(&state.bus);
        }
        Ok(answer)
    }
}

fn not_stored(error: &StoreError) -> Problem {
    let code = if error.outcome_unknown() { Code::OutcomeUnknown } else { code_of_store(error) };
    Problem::new(code, code.advice()).caused_by(error)
}
