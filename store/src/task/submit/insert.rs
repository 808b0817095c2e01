//! Stores single submissions, many at once, in one transaction.

use super::{NewTask, SubmitAnswer, parents, plain};
use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::{named, repeated};
use sqlx::{Connection, PgConnection};

/// Stores `tasks`, of any tenants; one answer each, in order. Committed durably when this returns.
///
/// # Errors
/// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether some may have been stored.
pub async fn insert(db: &SubmitDb, tasks: &[NewTask]) -> Result<Vec<SubmitAnswer>, StoreError> {
    repeated(|| async {
        let mut connection = db.writing().acquire().await?;
        if !needs_guard(tasks) {
            // A single statement is a transaction of its own: one round trip.
            let answers = plain::insert(&mut connection, tasks).await;
            return connection.after(answers);
        }
        let mut tx = named("begin", connection.begin()).await?;
        let answers = in_transaction(&mut tx, tasks).await?;
        named("commit", tx.commit()).await?;
        connection.keep();
        Ok(answers)
    })
    .await
}

/// Stores `tasks` in the transaction of what they are made by.
pub(crate) async fn in_transaction(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    if needs_guard(tasks) {
        parents::insert(tx, tasks).await
    } else {
        plain::insert(tx, tasks).await
    }
}

/// Most tasks have nothing to do with others, and so the statement without keys has no column for it.
fn needs_guard(tasks: &[NewTask]) -> bool {
    tasks.iter().any(|task| {
        task.unique_key.is_some()
            || task.idempotency.is_some()
            || task.rerun_of.is_some()
            || task.depends_on.is_some()
            || task.node.is_some()
    })
}
