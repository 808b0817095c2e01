//! Names, times and repeats statements.
//!
//! Every statement runs through [`named`], [`timely`] where its answer is soon out of date, or [`patient`] where it may take long, so
//! that a metric and a log line can say which it was, and whoever waits is not left waiting by a database that is gone without a word;
//! or through [`repeated`], which also repeats it after a deadlock or a serialization failure: the database undid it then, so that
//! repeating is safe.

use crate::StoreError;
use crate::silence::unanswered;
use runtime::clock::timeout;
use sqlx::postgres::PgQueryResult;
use sqlx::{Postgres, Transaction};
use std::pin::Pin;
use std::time::Duration;

/// How often a transaction is tried when it meets others; with the waits, a third of a second at most.
const TRIES: u32 = 10;

/// When a statement is given up. None takes a second on a database that keeps up; and work is to go on within ten seconds of
/// whatever stopped it (docs/chaos.md, promise 11).
const GIVEN_UP: Duration = Duration::from_secs(8);

/// The same for one that may take long: above the highest `database.statement_timeout`, which ends it in the database.
const GIVEN_UP_PATIENTLY: Duration = Duration::from_secs(630);

/// Runs one statement under its name. Given up after 8 s without an answer: then what it did is not known.
pub(crate) fn named<T>(
    name: &'static str,
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> impl Future<Output = Result<T, StoreError>>
where
    T: RowCount,
{
    within(GIVEN_UP, name, Box::pin(statement))
}

/// The same, given up after `limit` where that is shorter: then its answer would come too late.
pub(crate) fn timely<T>(
    limit: Duration,
    name: &'static str,
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> impl Future<Output = Result<T, StoreError>>
where
    T: RowCount,
{
    within(limit.min(GIVEN_UP), name, Box::pin(statement))
}

/// The same, for a statement that reads or tidies as much as there is. Whoever waits for it keeps no other work waiting.
pub(crate) fn patient<T>(
    name: &'static str,
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> impl Future<Output = Result<T, StoreError>>
where
    T: RowCount,
{
    within(GIVEN_UP_PATIENTLY, name, Box::pin(statement))
}

/// The statement is on the heap: in place it would make every caller's future larger by several KiB.
async fn within<T>(
    limit: Duration,
    name: &'static str,
    statement: Pin<Box<impl Future<Output = Result<T, sqlx::Error>>>>,
) -> Result<T, StoreError>
where
    T: RowCount,
{
    let timer = runtime::metrics::statement_timer(name);
    let Ok(answer) = timeout(limit, statement).await else {
        return Err(StoreError::Unavailable(sqlx::Error::Io(unanswered(limit))));
    };
    let answer = answer?;
    timer.finish(answer.rows());
    Ok(answer)
}

/// How many rows an answer stands for, for the statement's metric.
pub(crate) trait RowCount {
    fn rows(&self) -> u64;
}

impl<T> RowCount for Vec<T> {
    fn rows(&self) -> u64 {
        self.len() as u64
    }
}

impl<T> RowCount for Option<T> {
    fn rows(&self) -> u64 {
        u64::from(self.is_some())
    }
}

impl RowCount for PgQueryResult {
    fn rows(&self) -> u64 {
        self.rows_affected()
    }
}

macro_rules! count {
    ($rows:literal: $($answer:ty),+) => {$(
        impl RowCount for $answer {
            fn rows(&self) -> u64 {
                $rows
            }
        }
    )+};
}
count!(1: bool, i32, i64);
count!(0: (), usize, Transaction<'_, Postgres>);

/// Runs a transaction again, after a short random wait, while it meets others.
pub(crate) async fn repeated<T, F, Fut>(mut transaction: F) -> Result<T, StoreError>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, StoreError>>,
{
    let mut tried = 0;
    loop {
        tried += 1;
        match transaction().await {
            Err(StoreError::Contended) if tried < TRIES => {
                let random = uuid::Uuid::new_v4().as_u128() % 1000;
                let wait = Duration::from_millis(5) * tried;
                runtime::clock::sleep(wait.mul_f64(0.5 + random as f64 / 1000.0)).await;
            }
            result => return result,
        }
    }
}
