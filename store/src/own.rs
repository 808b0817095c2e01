//! A connection that a loop of the hot path has for itself.
//!
//! sqlx's pool asks each connection that comes back whether it is still there ([`crate::silence`]): two exchanges with the database,
//! which beside a statement for a few tasks are a tenth of its work. A loop keeps the connection on which its statement has just ended,
//! and it is asked only where it has lain idle. After anything else it goes back to the pool and is asked there.

use crate::StoreError;
use crate::silence::{IDLE, answers};
use runtime::clock::{Instant, monotonic};
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Runs one statement on the connection of a loop: `on_own!(db.dispatch(), "its.name", query.fetch_all)`. In a function that answers
/// with a [`StoreError`].
macro_rules! on_own {
    ($own:expr, $name:literal, $query:ident.$run:ident) => {{
        let mut connection = $own.acquire().await?;
        let answer = $crate::statement::named($name, $query.$run(&mut *connection)).await;
        connection.after(answer)?
    }};
}
pub(crate) use on_own;

/// It goes back to the pool after this, so that the pool's own rules (its greatest age) reach it.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The connection of one loop. Whoever needs one while it is in use has another of the pool.
#[derive(Debug, Clone)]
pub(crate) struct OwnConnection {
    pool: PgPool,
    /// Leaves a connection to others.
    keeps: bool,
    idle: Arc<Mutex<Option<IdleConnection>>>,
}

#[derive(Debug)]
struct IdleConnection {
    connection: PoolConnection<Postgres>,
    acquired_at: Instant,
    used_at: Instant,
}

/// The connection in use. Dropped, it goes back to the pool.
#[derive(Debug)]
pub(crate) struct InUse<'a> {
    of: &'a OwnConnection,
    connection: PoolConnection<Postgres>,
    acquired_at: Instant,
    /// The one kept before gave no answer. Others that were in use then may wait for theirs in vain.
    pub(crate) fell_silent: bool,
}

impl OwnConnection {
    /// One of `pool`, of which `loops` have one each. It is not kept where nobody else would have any.
    pub(crate) fn of(pool: &PgPool, loops: u32) -> Self {
        let keeps = pool.options().get_max_connections() > loops;
        Self { pool: pool.clone(), keeps, idle: Arc::default() }
    }

    pub(crate) async fn acquire(&self) -> Result<InUse<'_>, StoreError> {
        let idle = self.idle().take();
        let fell_silent = idle.is_some();
        if let Some(IdleConnection { mut connection, acquired_at, used_at }) = idle {
            if used_at.elapsed() < IDLE || answers(&mut connection).await {
                return Ok(InUse { of: self, connection, acquired_at, fell_silent: false });
            }
            close(connection);
        }
        let connection = self.pool.acquire().await?;
        Ok(InUse { of: self, connection, acquired_at: monotonic(), fell_silent })
    }

    /// Closes the pool, and this connection with it.
    pub(crate) async fn close(&self) {
        let closed = self.pool.close();
        self.clear();
        closed.await;
    }

    /// Gives the connection back to the pool. After `close` nothing is kept.
    pub(crate) fn clear(&self) {
        drop(self.idle().take());
    }

    fn idle(&self) -> MutexGuard<'_, Option<IdleConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a connection of which nothing more is expected, at once: the pool would first ask it, and count it meanwhile.
fn close(connection: PoolConnection<Postgres>) {
    drop(connection.detach());
}

impl InUse<'_> {
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
        let Self { of, connection, acquired_at, .. } = self;
        let lasting = of.pool.options().get_max_lifetime().is_none();
        if !of.keeps || (!lasting && acquired_at.elapsed() > KEPT_FOR) {
            return;
        }
        let mut idle = of.idle();
        if idle.is_none() && !of.pool.is_closed() {
            *idle = Some(IdleConnection { connection, acquired_at, used_at: monotonic() });
        }
    }
}

impl Deref for InUse<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for InUse<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
