//! Gives up connections on which nobody answers any more.
//!
//! The far side of a connection may be gone without a word: its host lost power, or something between forgot it. Then nothing says
//! so, and whoever waits for an answer waits for ever. So [`crate::statement`] gives up a statement after its time, and here the
//! pool does with its connections: both when one comes back and when one has lain idle it is asked, and given up where it does not
//! answer soon.

use runtime::clock::timeout;
use sqlx::pool::{PoolConnectionMetadata, PoolOptions};
use sqlx::{Connection, PgConnection, Postgres};
use std::io;
use std::pin::Pin;
use std::time::Duration;

/// How long an idle connection may take to say that it is there.
const IDLE_ANSWERS: Duration = Duration::from_secs(1);

/// How long one that comes back may take: it first undoes what was left open.
const RETURNED_ANSWERS: Duration = Duration::from_secs(2);

/// Idle for as long, a connection is asked before it is used. On a busy system none is; asking costs an exchange.
const IDLE: Duration = Duration::from_secs(1);

type Asked<'a> = Pin<Box<dyn Future<Output = Result<bool, sqlx::Error>> + Send + 'a>>;

/// The same options, for a pool that gives silent connections up.
pub(crate) fn given_up(options: PoolOptions<Postgres>) -> PoolOptions<Postgres> {
    options.before_acquire(asked_if_idle).after_release(asked_on_return)
}

fn asked_if_idle(connection: &mut PgConnection, of: PoolConnectionMetadata) -> Asked<'_> {
    Box::pin(async move {
        if of.idle_for >= IDLE {
            answers(connection, IDLE_ANSWERS).await?;
        }
        Ok(true)
    })
}

/// The pool itself asks a second time, for as long as it takes; a connection that has just answered does so again.
fn asked_on_return(connection: &mut PgConnection, _: PoolConnectionMetadata) -> Asked<'_> {
    Box::pin(async move { answers(connection, RETURNED_ANSWERS).await.map(|()| true) })
}

async fn answers(connection: &mut PgConnection, limit: Duration) -> Result<(), sqlx::Error> {
    match timeout(limit, connection.ping()).await {
        Ok(answer) => answer,
        Err(_) => Err(sqlx::Error::Io(unanswered(limit))),
    }
}

/// Nobody said anything for so long.
pub(crate) fn unanswered(limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {} s", limit.as_secs()))
}
