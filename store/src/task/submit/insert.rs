//! Stores single submissions, many at once, in one transaction.

use super::guarded::{needs_guard, stands_alone};
use super::{NewTask, SubmitAnswer, guarded, parents, plain, reserved};
use crate::StoreError;
use crate::connect::SubmitDb;
use crate::spend::{Accepting, KnownCaps};
use crate::statement::{named, repeated};
use domain::id::TenantId;
use sqlx::{Connection, PgConnection};

/// Stores submits, and remembers the spend caps of the tenants whose they are.
#[derive(Debug, Clone)]
pub struct Submitter {
    db: SubmitDb,
    known: KnownCaps,
}

/// The same for once: [`Submitter::insert`].
///
/// # Errors
/// As there.
pub async fn insert(db: &SubmitDb, tasks: &[NewTask]) -> Result<Vec<SubmitAnswer>, StoreError> {
    Submitter::new(db.clone()).insert(tasks).await
}

impl Submitter {
    /// One that knows of no caps yet.
    #[must_use]
    pub fn new(db: SubmitDb) -> Self {
        Self { db, known: KnownCaps::default() }
    }

    /// Stores `tasks`, of any tenants; one answer each, in order. Committed durably when this returns.
    ///
    /// # Errors
    /// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether some may have been stored; those that stand alone
    /// may have been stored in any case.
    pub async fn insert(&self, tasks: &[NewTask]) -> Result<Vec<SubmitAnswer>, StoreError> {
        let mut answers = self.insert_at_once(tasks).await?;
        let open = tasks.iter().zip(&answers).filter(|(_, answer)| answer.is_none());
        let open: Vec<NewTask> = open.map(|(task, _)| task.clone()).collect();
        if !open.is_empty() {
            let places = answers.iter_mut().filter(|answer| answer.is_none());
            let stored = self.insert_in_turn(&open).await?;
            places.zip(stored).for_each(|(place, answer)| *place = Some(answer));
        }
        answers.into_iter().map(|answer| answer.ok_or(StoreError::Contended)).collect()
    }

    /// The same in one statement, for those tasks for which that is enough; the others get no answer, and [`Self::insert_in_turn`] stores
    /// them: their idempotency keys were used before, they do not stand alone, or what is known of their tenants' spend caps does not do.
    ///
    /// # Errors
    /// When the database cannot answer; then none is stored, or [`StoreError::outcome_unknown`].
    pub async fn insert_at_once(
        &self,
        tasks: &[NewTask],
    ) -> Result<Vec<Option<SubmitAnswer>>, StoreError> {
        let alone: Vec<&NewTask> = tasks.iter().filter(|task| stands_alone(task)).collect();
        if alone.is_empty() {
            return Ok(vec![None; tasks.len()]);
        }
        let stored = repeated(|| async {
            let mut connection = self.db.writing().acquire().await?;
            // A single statement is a transaction of its own: one round trip.
            let known = self.known.of(alone.iter().map(|task| task.tenant));
            let answers = if needs_guard(alone.iter().copied()) {
                guarded::insert_keyed(&mut connection, &alone).await
            } else if known.is_empty() {
                plain::insert(&mut connection, &alone).await
            } else {
                reserved::insert_known(&mut connection, &alone, &known).await
            };
            connection.after(answers)
        });
        let mut stored = stored.await?.into_iter();
        let answer = |task| stands_alone(task).then(|| stored.next()).flatten().flatten();
        Ok(tasks.iter().map(answer).collect())
    }

    /// The same for any tasks, in a transaction of several statements.
    ///
    /// # Errors
    /// When the database cannot answer; then none is stored, or [`StoreError::outcome_unknown`].
    pub async fn insert_in_turn(&self, tasks: &[NewTask]) -> Result<Vec<SubmitAnswer>, StoreError> {
        repeated(|| async {
            let mut connection = self.db.writing().acquire().await?;
            let mut tx = named("begin", connection.begin()).await?;
            let accepting = Accepting::read(&mut tx, tenants(tasks)).await?;
            let stored = accepted(&mut tx, tasks, &accepting).await?;
            named("commit", tx.commit()).await?;
            connection.keep();
            self.known.learn(tenants(tasks), accepting);
            Ok(stored)
        })
        .await
    }
}

/// Stores `tasks` in the transaction of what they are made by.
pub(crate) async fn in_transaction(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let accepting = Accepting::read(&mut *tx, tenants(tasks)).await?;
    accepted(tx, tasks, &accepting).await
}

async fn accepted(
    tx: &mut PgConnection,
    tasks: &[NewTask],
    accepting: &Accepting,
) -> Result<Vec<SubmitAnswer>, StoreError> {
    if !accepting.is_empty() {
        return reserved::insert(tx, tasks, accepting).await;
    }
    // A cap that is made now is of what is accepted after it.
    if needs_guard(tasks) {
        parents::insert(tx, tasks).await
    } else {
        plain::insert_reserved(tx, tasks).await
    }
}

fn tenants(tasks: &[NewTask]) -> impl Iterator<Item = TenantId> {
    tasks.iter().map(|task| task.tenant)
}
