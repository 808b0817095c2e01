//! Stores groups of single submits. `api.submit_writers` of these run at once.
//!
//! Group commit without a timer: a group is what is queued when a writer is free, so a lone submit never waits for others.
//! Before each statement the writer yields once to its thread, which serves requests: those that have arrived join the group.
//!
//! No request is answered before the commit; a row that is refused fails no other; and where the connection broke during the
//! commit, only submits with an idempotency key are repeated.

use super::failure::Failure;
use super::group::Group;
use super::queue::{Pending, Queue};
use super::work::Work;
use bus::Bus;
use runtime::fault::{FaultPoint, InjectedFault};
use runtime::metrics::{Histogram, histogram_with_buckets};
use store::StoreError;
use store::connect::{REPEATS, SubmitDb};
use store::task::submit::{SubmitAnswer, Submitter, stands_alone};

static BEFORE_INSERT: FaultPoint = FaultPoint::new("api.submit.before_insert");
static AFTER_COMMIT: FaultPoint = FaultPoint::new("api.submit.after_commit");

/// One writer.
pub(super) struct Writer {
    submitter: Submitter,
    bus: Bus,
    queue: Queue,
    sizes: Histogram,
}

impl Writer {
    pub(super) fn new(db: SubmitDb, bus: Bus, queue: Queue) -> Self {
        let buckets = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
        let sizes = histogram_with_buckets(
            "berth_submit_group_tasks",
            "Submits stored in one statement",
            &[],
            &buckets,
        );
        Self { submitter: Submitter::new(db), bus, queue, sizes: sizes.with(&[]) }
    }

    /// Stores groups until the queue has ended.
    pub(super) async fn run(&self) {
        loop {
            let mut pending = self.queue.next_group().await;
            if pending.is_empty() {
                return;
            }
            tokio::task::yield_now().await;
            self.queue.add_to(&mut pending);
            // At most one round for each distinct body of a key.
            while !pending.is_empty() {
                pending = self.store(Group::of(pending)).await;
            }
        }
    }

    /// Stores one group and answers it; returns the submits that only another statement can decide.
    async fn store(&self, group: Group) -> Vec<Pending> {
        self.sizes.observe(group.tasks.len() as f64);
        let (mut undecided, mut rest) = (Vec::new(), group);
        if rest.tasks.iter().any(stands_alone) {
            match self.at_once(&rest).await {
                Ok(answers) => (undecided, rest) = rest.divide(answers),
                Err(failure) => return self.settle(rest, Err(failure)).await,
            }
        }
        if !rest.tasks.is_empty() {
            let stored = self.in_turn(&rest).await;
            undecided.extend(self.settle(rest, stored).await);
        }
        undecided
    }

    async fn settle(
        &self,
        group: Group,
        stored: Result<Vec<SubmitAnswer>, Failure>,
    ) -> Vec<Pending> {
        match stored {
            Ok(answers) => group.answer(answers),
            Err(failure @ Failure::Unknown(_)) => self.repeat(group, &failure).await,
            Err(failure @ Failure::Refused(_)) if group.tasks.len() > 1 => {
                self.one_by_one(group, &failure).await
            }
            Err(failure @ (Failure::Later(..) | Failure::Refused(_))) => refuse(group, &failure),
        }
    }

    /// The connection broke: it may be stored. Those with a key find out by trying again.
    async fn repeat(&self, group: Group, failure: &Failure) -> Vec<Pending> {
        let (keyed, others) = group.partition(|task| task.idempotency.is_some());
        if !others.tasks.is_empty() {
            refuse(others, failure);
        }
        if keyed.tasks.is_empty() {
            return Vec::new();
        }
        for _ in 0..REPEATS {
            match self.insert(&keyed).await {
                Ok(answers) => return keyed.answer(answers),
                // The next connection may be a broken one, too.
                Err(Failure::Unknown(_)) => {}
                Err(Failure::Later(..) | Failure::Refused(_)) => break,
            }
        }
        // Whatever the other tries say, the first one may have been committed.
        refuse(keyed, failure)
    }

    /// Some row was refused: each is tried alone, so that it fails nobody else.
    async fn one_by_one(&self, group: Group, failure: &Failure) -> Vec<Pending> {
        let (tasks, cause) = (group.tasks.len(), failure.cause());
        tracing::error!(
            tasks,
            error = cause,
            "A group of submits was refused; trying them one by one: {cause}"
        );
        let mut undecided = Vec::new();
        let mut away: Option<Failure> = None;
        for single in group.singles() {
            if let Some(failure) = &away {
                refuse(single, failure);
                continue;
            }
            match self.insert(&single).await {
                Ok(answers) => undecided.extend(single.answer(answers)),
                Err(failure @ Failure::Refused(_)) => {
                    refuse(single, &failure);
                }
                Err(failure @ (Failure::Unknown(_) | Failure::Later(..))) => {
                    refuse(single, &failure);
                    away = Some(failure);
                }
            }
        }
        undecided
    }

    /// Of a group in which it does not matter that some are stored when others fail.
    async fn insert(&self, group: &Group) -> Result<Vec<SubmitAnswer>, Failure> {
        let stored = between_faults(self.submitter.insert(&group.tasks)).await?;
        Work::of(&stored).wake(&self.bus);
        Ok(stored)
    }

    async fn at_once(&self, group: &Group) -> Result<Vec<Option<SubmitAnswer>>, Failure> {
        let stored = between_faults(self.submitter.insert_at_once(&group.tasks)).await?;
        Work::of(stored.iter().flatten()).wake(&self.bus);
        Ok(stored)
    }

    async fn in_turn(&self, group: &Group) -> Result<Vec<SubmitAnswer>, Failure> {
        let stored = between_faults(self.submitter.insert_in_turn(&group.tasks)).await?;
        Work::of(&stored).wake(&self.bus);
        Ok(stored)
    }
}

async fn between_faults<T>(
    stored: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, Failure> {
    let injected = |fault: InjectedFault| Failure::Unknown(fault.to_string());
    BEFORE_INSERT.hit().await.map_err(injected)?;
    let answers = stored.await?;
    AFTER_COMMIT.hit().await.map_err(injected)?;
    Ok(answers)
}

/// Tells everybody in the group; nobody is left to ask about.
fn refuse(group: Group, failure: &Failure) -> Vec<Pending> {
    let (tasks, cause) = (group.tasks.len(), failure.cause());
    match failure {
        Failure::Refused(_) => {
            tracing::error!(tasks, error = cause, "Submits were refused by the database: {cause}")
        }
        Failure::Unknown(_) | Failure::Later(..) => {
            tracing::warn!(tasks, error = cause, "Submits were not stored for certain: {cause}");
        }
    }
    group.refuse(|| failure.problem());
    Vec::new()
}
