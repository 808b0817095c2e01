//! Gives up connections on which nobody answers any more.
//!
//! The far side of a connection may be gone without a word: its host lost power, or something between forgot it. Then nothing says
//! so, and whoever waits for an answer waits for ever. So [`crate::statement`] gives up a statement after its time, and here the
//! pool does with its connections: both when one comes back and when one has lain idle it is asked, and given up where it does not
//! answer soon.

use runtime::clock::timeout;
use sqlx::pool::{PoolConnectionMetadata, PoolOptions};
use sqlx::{Connection, Executor, PgConnection, Postgres};
use std::io;
use std::pin::Pin;
use std::time::Duration;

/// How long an idle connection may take to say that it is there.
const IDLE_ANSWERS: Duration = Duration::from_secs(1);

/// How long one that comes back may take: it first undoes what was left open.
const RETURNED_ANSWERS: Duration = Duration::from_secs(2);

/// Idle for as long, a connection is asked before it is used. On a busy system none is; asking costs an exchange.
pub(crate) const IDLE: Duration = Duration::from_secs(1);

/// The SQLSTATE of whatever is asked in a transaction of which a statement has failed.
const FAILED_BEFORE: &str = "25P02";

type Asked<'a> = Pin<Box<dyn Future<Output = Result<bool, sqlx::Error>> + Send + 'a>>;

/// The same options, for a pool that gives silent connections up.
pub(crate) fn given_up(options: PoolOptions<Postgres>) -> PoolOptions<Postgres> {
    options.before_acquire(asked_if_idle).after_release(asked_on_return)
}

fn asked_if_idle(connection: &mut PgConnection, of: PoolConnectionMetadata) -> Asked<'_> {
    Box::pin(async move {
        if of.idle_for >= IDLE {
            within(IDLE_ANSWERS, connection.ping()).await?;
        }
        Ok(true)
    })
}

/// Whether an idle connection says soon that it is there.
pub(crate) async fn answers(connection: &mut PgConnection) -> bool {
    within(IDLE_ANSWERS, connection.ping()).await.is_ok()
}

/// Asks by undoing what is open. sqlx undoes what it knows to be open; a `begin` that nobody waited for to its end it does not know
/// of, and whatever the next one stored would be lost with it. Mostly nothing is open, and a `rollback` alone would then write a
/// warning into Postgres's log for each connection that comes back: so it ends a transaction that this has just begun, or the one that
/// was open. The pool itself asks a second time, for as long as it takes; a connection that has just answered does so again.
fn asked_on_return(connection: &mut PgConnection, _: PoolConnectionMetadata) -> Asked<'_> {
    Box::pin(async move {
        within(RETURNED_ANSWERS, undone(connection)).await?;
        Ok(true)
    })
}

/// Undoes what is open, in one exchange.
async fn undone(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    match connection.execute("begin; rollback").await {
        // What is open has failed: nothing but its end is possible.
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(FAILED_BEFORE) => {
            connection.execute("rollback").await.map(drop)
        }
        undone => undone.map(drop),
    }
}

async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    timeout(limit, answer).await.unwrap_or_else(|_| Err(sqlx::Error::Io(unanswered(limit))))
}

/// Nobody said anything for so long.
pub(crate) fn unanswered(limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {} s", limit.as_secs()))
}
