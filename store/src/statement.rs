//! Names, times and repeats statements.
//!
//! Every statement runs through [`named`], so that a metric and a log line can say which it was, or
//! through [`repeated`], which also repeats it after a deadlock or a serialization failure: the database undid it
//! then, so that repeating is safe.

use crate::StoreError;
use sqlx::postgres::PgQueryResult;
use sqlx::{Postgres, Transaction};
use std::time::Duration;

/// How often a transaction is tried when it meets others; with the waits, a third of a second at most.
const TRIES: u32 = 10;

/// Runs one statement under its name.
pub(crate) async fn named<T>(
    name: &'static str,
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, StoreError>
where
    T: RowCount,
{
    let timer = runtime::metrics::statement_timer(name);
    // On the heap: in place it would make every caller's future larger by several KiB.
    let answer = Box::pin(statement).await?;
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
count!(0: (), Transaction<'_, Postgres>);

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
