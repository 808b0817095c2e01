//! Keeps connections from one statement of the hot path to the next, and of whatever is looked at several times a second.
//!
//! A pool asks every connection that comes back whether it is still there ([`crate::silence`]), which costs two exchanges with the
//! database; beside a statement of a few tasks that is a tenth of the work. What ran a statement to its end has just answered, so it
//! stays here for the next one instead, and is asked only where it has lain idle. Whatever went wrong or was given up half-way goes
//! back to the pool and is asked there.

use crate::StoreError;
use crate::silence::{IDLE, answers};
use runtime::clock::{Instant, monotonic};
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Runs one statement on a connection of the hot path, which is kept where the statement came to its end: `kept!(db.hot(), "its.name",
/// query.fetch_all)`. In a function that answers with a [`StoreError`].
macro_rules! kept {
    ($taken:expr, $name:literal, $query:ident.$run:ident) => {{
        let mut connection = $taken.await?;
        let answer = $crate::statement::named($name, $query.$run(&mut *connection)).await;
        connection.after(answer)?
    }};
}
pub(crate) use kept;

/// A connection goes back to the pool after as long, so that the pool's own rules (its greatest age) reach it.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// A pool, and connections of it that are kept: all but one at most, and only while others can be had without waiting, so that nobody
/// in the pool's line is overtaken. Where there is no line, all.
#[derive(Debug, Clone)]
pub(crate) struct HotPool {
    pool: PgPool,
    most: usize,
    has_line: bool,
    kept: Arc<Mutex<Vec<Kept>>>,
}

#[derive(Debug)]
struct Kept {
    connection: PoolConnection<Postgres>,
    taken_at: Instant,
    used_at: Instant,
}

/// A connection on loan. Dropped, it goes back to the pool; [`Hot::keep`] keeps it for the next statement.
#[derive(Debug)]
pub(crate) struct Hot<'a> {
    of: &'a HotPool,
    connection: PoolConnection<Postgres>,
    taken_at: Instant,
}

impl HotPool {
    pub(crate) fn of(pool: PgPool) -> Self {
        let most = (pool.options().get_max_connections() as usize).saturating_sub(1);
        Self { pool, most, has_line: true, kept: Arc::default() }
    }

    /// Of no more users at a time than it has connections.
    pub(crate) fn of_as_many_users(pool: PgPool) -> Self {
        let most = pool.options().get_max_connections() as usize;
        Self { pool, most, has_line: false, kept: Arc::default() }
    }

    /// The pool, for whoever keeps nothing. Has all that is kept here back where it has no others.
    pub(crate) fn pool(&self) -> &PgPool {
        if !self.has_others() {
            self.kept().clear();
        }
        &self.pool
    }

    /// A kept connection, or else one of the pool.
    pub(crate) async fn hot(&self) -> Result<Hot<'_>, StoreError> {
        loop {
            let last = self.kept().pop();
            let Some(Kept { mut connection, taken_at, used_at }) = last else { break };
            if used_at.elapsed() < IDLE || answers(&mut connection).await {
                return Ok(Hot { of: self, connection, taken_at });
            }
            close(connection);
            // Nor will those answer that have lain idle for longer, and each would take as long to say nothing.
            let mut kept = self.kept();
            let longer = kept.partition_point(|kept| kept.used_at <= used_at);
            kept.drain(..longer).for_each(|kept| close(kept.connection));
        }
        Ok(Hot { of: self, connection: self.pool.acquire().await?, taken_at: monotonic() })
    }

    /// Closes all connections, when those on loan are back.
    pub(crate) async fn close(&self) {
        // From here on nothing is kept any more.
        let closed = self.pool.close();
        self.kept().clear();
        closed.await;
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a connection could be had now without waiting.
    fn has_others(&self) -> bool {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        self.pool.size().saturating_sub(idle) < self.pool.options().get_max_connections()
    }
}

/// Closes a connection of which nothing more is expected, at once: the pool would first ask it, and count it meanwhile.
fn close(connection: PoolConnection<Postgres>) {
    drop(connection.detach());
}

impl Hot<'_> {
    /// Keeps the connection where its statement came to its end, and closes it where nothing is known of that.
    pub(crate) fn after<T>(self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        match &answer {
            Ok(_) => self.keep(),
            Err(error) if error.outcome_unknown() => close(self.connection),
            Err(_) => {}
        }
        answer
    }

    /// Keeps the connection, which has just answered and is in no transaction.
    pub(crate) fn keep(self) {
        if self.taken_at.elapsed() > KEPT_FOR || self.of.has_line && !self.of.has_others() {
            return;
        }
        let mut kept = self.of.kept();
        kept.retain(|kept| kept.taken_at.elapsed() <= KEPT_FOR);
        if kept.len() < self.of.most && !self.of.pool.is_closed() {
            let Self { connection, taken_at, .. } = self;
            kept.push(Kept { connection, taken_at, used_at: monotonic() });
        }
    }
}

impl Deref for Hot<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Hot<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
