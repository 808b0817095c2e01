//! Stores single submissions, many at once, in one transaction.

use super::guarded::needs_guard;
use super::{NewTask, SubmitAnswer, parents, plain, reserved};
use crate::StoreError;
use crate::connect::SubmitDb;
use crate::spend::Accepting;
use crate::statement::{named, repeated};
use domain::id::TenantId;
use sqlx::{Connection, PgConnection};

/// Stores `tasks`, of any tenants; one answer each, in order. Committed durably when this returns.
///
/// # Errors
/// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether some may have been stored.
pub async fn insert(db: &SubmitDb, tasks: &[NewTask]) -> Result<Vec<SubmitAnswer>, StoreError> {
    repeated(|| async {
        let mut connection = db.writing().acquire().await?;
        if needs_guard(tasks) {
            let mut tx = named("begin", connection.begin()).await?;
            let answers = in_transaction(&mut tx, tasks).await?;
            named("commit", tx.commit()).await?;
            connection.keep();
            return Ok(answers);
        }
        // A single statement is a transaction of its own: one round trip.
        let known = db.known_caps().of(tenants(tasks));
        let answers = if known.is_empty() {
            plain::insert(&mut connection, tasks).await
        } else {
            reserved::insert_known(&mut connection, tasks, &known).await
        };
        let mut answers = connection.after(answers)?;
        if answers.iter().any(Option::is_none) {
            capped(db, tasks, &mut answers).await?;
        }
        answers.into_iter().map(|answer| answer.ok_or(StoreError::Contended)).collect()
    })
    .await
}

/// Stores those of `tasks` that have no answer, because their tenants have spend caps.
async fn capped(
    db: &SubmitDb,
    tasks: &[NewTask],
    answers: &mut [Option<SubmitAnswer>],
) -> Result<(), StoreError> {
    let open = tasks.iter().zip(&*answers).filter(|(_, answer)| answer.is_none());
    let open: Vec<NewTask> = open.map(|(task, _)| task.clone()).collect();
    let mut connection = db.writing().acquire().await?;
    let mut tx = named("begin", connection.begin()).await?;
    let accepting = Accepting::read(&mut tx, tenants(&open)).await?;
    let stored = accepted(&mut tx, &open, &accepting).await?;
    named("commit", tx.commit()).await?;
    connection.keep();
    db.known_caps().learn(tenants(&open), accepting);
    let places = answers.iter_mut().filter(|answer| answer.is_none());
    places.zip(stored).for_each(|(place, answer)| *place = Some(answer));
    Ok(())
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
