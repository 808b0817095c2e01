//! Gives up connections on which nobody answers any more.
//!
//! The far side of a connection may be gone without a word: its host lost power, or something between forgot it. Then nothing says
//! so, and whoever waits for an answer waits for ever. So [`crate::statement`] gives up a statement after its time, and here the
//! pool does with its connections: both when one comes back and when one has lain idle it is asked, and given up where it does not
//! answer soon. Those of its pool that have lain idle since before then are given up unasked: to ask one after the other would take as
//! long as there are connections, and a new one costs little.

use runtime::clock::{Instant, monotonic, timeout};
use sqlx::pool::{PoolConnectionMetadata, PoolOptions};
use sqlx::{Connection, Executor, PgConnection, Postgres};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
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
    let silence = Arc::new(Silence::default());
    options
        .before_acquire(move |connection, of| {
            let silence = Arc::clone(&silence);
            Box::pin(async move { silence.asked_if_idle(connection, of).await })
        })
        .after_release(asked_on_return)
}

/// When a connection of the pool was last asked in vain.
#[derive(Default)]
struct Silence(Mutex<Option<Instant>>);

impl Silence {
    /// Whether the connection may be used.
    async fn asked_if_idle(
        &self,
        connection: &mut PgConnection,
        of: PoolConnectionMetadata,
    ) -> Result<bool, sqlx::Error> {
        if of.idle_for < IDLE {
            return Ok(true);
        }
        let now = monotonic();
        if self
            .last()
            .is_some_and(|silent_at| now.saturating_duration_since(silent_at) <= of.idle_for)
        {
            return Ok(false);
        }
        let answer = within(IDLE_ANSWERS, connection.ping()).await;
        if answer.is_err() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        answer.map(|()| true)
    }

    fn last(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
