//! Opens a pool as one of the service roles.
//!
//! Each handle is its own type, so that a statement cannot run as the wrong role. What a role's
//! sessions are set to (no sequential scans on the hot path, generic plans) is set on the role itself by
//! [`crate::migrate`], so that it holds behind a connection pooler too.

use crate::own::OwnConnection;
use crate::statement::named;
use crate::{StoreError, silence};
use domain::id::TenantId;
use domain::time::millis;
use runtime::config::{DatabaseConfig, ServiceRole};
use runtime::turns::{NoTurn, Turn, Turns};
use secrecy::ExposeSecret;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgPool, Postgres, Transaction};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Tries of a statement that is safe to repeat after a connection broke: when Postgres restarts, all connections of the pool are
/// broken and each is found out once.
pub const REPEATS: usize = 4;

/// A handle of one pool, and the connections that loops have for themselves.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $role:expr, $connections:ident $(, $loops:literal of [$($(#[$of:meta])* $own:ident),+])?) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name {
            pool: PgPool,
            $($($own: OwnConnection,)+)?
        }

        impl $name {
            /// Opens the pool. Connections are made when first needed, so this succeeds while the database is away.
            ///
            /// # Errors
            /// When the URL is not usable.
            pub fn connect(config: &DatabaseConfig) -> Result<Self, StoreError> {
                open(config, $role, config.$connections, &[]).map(Self::of)
            }

            fn of(pool: PgPool) -> Self {
                Self { $($($own: OwnConnection::of(&pool, $loops),)+)? pool }
            }

            /// Answers when the database does, and is the primary.
            ///
            /// # Errors
            /// When it does not, or is a standby.
            pub async fn ping(&self) -> Result<(), StoreError> {
                ping(&self.pool).await
            }

            /// Closes the pool's connections.
            pub async fn close(&self) {
                let closed = self.pool.close();
                $($(self.$own.clear();)+)?
                closed.await;
            }

            pub(crate) const fn pool(&self) -> &PgPool {
                &self.pool
            }

            $($(
                $(#[$of])*
                pub(crate) const fn $own(&self) -> &OwnConnection {
                    &self.$own
                }
            )+)?
        }
    };
}

handle!(
    /// Grouped inserts and authentication, across tenants.
    SubmitDb,
    ServiceRole::Submit,
    submit_connections,
    1 of [
        /// For a writer of submits.
        writing
    ]
);
handle!(
    /// The resource manager's statements, across tenants.
    RmDb,
    ServiceRole::ResourceManager,
    rm_connections,
    2 of [
        /// For claims. If several pools claim at once, the others use connections of the pool.
        placing,
        /// For settling results.
        settling
    ]
);
handle!(
    /// The platform's operators.
    AdminDb,
    ServiceRole::Admin,
    admin_connections
);

/// The notifier's statements, across tenants.
#[derive(Debug, Clone)]
pub struct NotifierDb {
    pool: PgPool,
}

/// Connections of each notifier: one for its one loop, and another while that is given up, and for the probe.
pub const NOTIFIER_CONNECTIONS: u32 = 3;

impl NotifierDb {
    /// Opens the pool. Connections are made when first needed, so this succeeds while the database is away. Commits do not wait for the
    /// disk: what a crash of the database forgets is told and sent again, under the same ids.
    ///
    /// # Errors
    /// When the URL is not usable.
    pub fn connect(config: &DatabaseConfig) -> Result<Self, StoreError> {
        let quick: &[(&str, &str)] =
            if config.pooler { &[] } else { &[("synchronous_commit", "off")] };
        Ok(Self { pool: open(config, ServiceRole::Notifier, NOTIFIER_CONNECTIONS, quick)? })
    }

    /// Answers when the database does, and is the primary.
    ///
    /// # Errors
    /// When it does not, or is a standby.
    pub async fn ping(&self) -> Result<(), StoreError> {
        ping(&self.pool).await
    }

    /// Closes the pool's connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(crate) const fn pool(&self) -> &PgPool {
        &self.pool
    }
}

/// Connections of each api process for signing in: more than passwords are compared at once, so that whoever is signed in already
/// finds one free to refresh.
pub const SIGN_IN_CONNECTIONS: u32 = 4;

/// Connections of each writer of grouped inserts.
pub const WRITER_CONNECTIONS: u32 = 2;

impl SubmitDb {
    /// Opens a small pool of its own for signing in, which anybody may try: a flood of tries takes no connection from submits.
    ///
    /// # Errors
    /// When the URL is not usable.
    pub fn connect_for_sign_in(config: &DatabaseConfig) -> Result<Self, StoreError> {
        open(config, ServiceRole::Submit, SIGN_IN_CONNECTIONS, &[]).map(Self::of)
    }

    /// For a writer of grouped inserts, which has one statement at a time: one connection, and another while that is returned and
    /// checked, or given up. A connection lives on the thread that used it first, so a writer should be of one.
    ///
    /// # Errors
    /// When the URL is not usable.
    pub fn connect_for_writer(config: &DatabaseConfig) -> Result<Self, StoreError> {
        open(config, ServiceRole::Submit, WRITER_CONNECTIONS, &[]).map(Self::of)
    }
}

/// Connections of each api process for counting what tenants hold: one for counts that take a moment, one for all others.
pub const COUNT_CONNECTIONS: u32 = 2;

/// How long a slice of a count may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Most tenants are counted by then.
    Quick,
    /// As long as any read: for the few who have more.
    Long,
}

/// The longest that a tenant's first slice may take: by so much may one delay the next.
const QUICK: Duration = Duration::from_millis(250);

/// Counts of what tenants hold, across tenants. A connection for what is counted soon, and another for what is not: a tenant that
/// takes long stands in no other's way. Whoever waits here waits for other counts, so that a connection that cannot be had in time
/// says something of the database and nothing of them.
#[derive(Debug, Clone)]
pub struct CountDb {
    pool: PgPool,
    quick: Arc<Semaphore>,
    long: Arc<Semaphore>,
    read_timeout: Duration,
}

/// A slice's transaction, and its turn.
pub(crate) struct Slice<'a> {
    pub tx: Transaction<'static, Postgres>,
    _turn: SemaphorePermit<'a>,
}

impl CountDb {
    /// Opens the pool. Connections are made when first needed, so this succeeds while the database is away.
    ///
    /// # Errors
    /// When the URL is not usable.
    pub fn connect(config: &DatabaseConfig) -> Result<Self, StoreError> {
        let pool = open(config, ServiceRole::Submit, COUNT_CONNECTIONS, &[])?;
        let [quick, long] = [(); 2].map(|()| Arc::new(Semaphore::new(1)));
        Ok(Self { pool, quick, long, read_timeout: config.statement_timeout })
    }

    /// A transaction for one slice, in its turn.
    pub(crate) async fn begin(&self, pace: Pace) -> Result<Slice<'_>, StoreError> {
        let (turns, limit) = match pace {
            Pace::Quick => (&self.quick, QUICK.min(self.read_timeout)),
            Pace::Long => (&self.long, self.read_timeout),
        };
        // Never closed.
        let turn = turns.acquire().await.map_err(|_| StoreError::Busy)?;
        Ok(Slice { tx: begin_within(&self.pool, limit).await?, _turn: turn })
    }
}

/// A transaction none of whose statements runs for longer than `limit`, or sorts: a generic plan is made for a tenant of average
/// size, for which it may be cheaper to read and sort all than to follow the index to the end of a slice.
async fn begin_within(
    pool: &PgPool,
    limit: Duration,
) -> Result<Transaction<'static, Postgres>, StoreError> {
    let mut tx = named("begin", pool.begin()).await?;
    let limit = millis(limit).to_string();
    let query = sqlx::query_scalar!(
        "select set_config('statement_timeout', $1, true) || set_config('enable_sort', 'off', true)",
        limit
    );
    named("limit", query.fetch_one(&mut *tx)).await?;
    Ok(tx)
}

/// One tenant's request.
#[derive(Debug, Clone)]
pub struct ApiDb {
    pool: PgPool,
    read_timeout: Duration,
    pooler: bool,
    /// Of each tenant few requests at once have a connection.
    turns: Turns<TenantId>,
}

/// Begins a transaction on a connection of a transaction pooler. Statements have names, numbered by each client for itself, and one that
/// another client left on this connection could have the name of one to come. The names of a pooler that keeps track of them itself are
/// others, and stay.
const BEGIN_POOLED: &str = "begin; do $$ declare left_behind text; begin
    for left_behind in select s.name from pg_prepared_statements s where s.name like 'sqlx\\_s\\_%' loop
        execute format('deallocate %I', left_behind);
    end loop;
end $$";

impl ApiDb {
    /// Opens the pool. Connections are made when first needed, so this succeeds while the database is away.
    ///
    /// # Errors
    /// When the URL is not usable.
    pub fn connect(config: &DatabaseConfig) -> Result<Self, StoreError> {
        let pool = open(config, ServiceRole::Api, config.api_connections, &[])?;
        let turns = Turns::new(config.tenant_turns());
        Ok(Self { pool, read_timeout: config.statement_timeout, pooler: config.pooler, turns })
    }

    /// A turn of the tenant's, without which no request of it takes a connection.
    pub(crate) async fn turn(&self, tenant: TenantId) -> Result<Turn<TenantId>, StoreError> {
        self.turns.acquire(tenant).await.map_err(|NoTurn| StoreError::TenantBusy)
    }

    /// Answers when the database does, and is the primary.
    ///
    /// # Errors
    /// When it does not, or is a standby.
    pub async fn ping(&self) -> Result<(), StoreError> {
        if !self.pooler {
            return ping(&self.pool).await;
        }
        let mut tx = self.begin().await?;
        let standby = sqlx::query_scalar!(r#"select pg_is_in_recovery() as "standby!""#);
        let standby = named("ping", standby.fetch_one(&mut *tx)).await?;
        named("rollback", tx.rollback()).await?;
        if standby { Err(StoreError::Standby) } else { Ok(()) }
    }

    /// Begins a transaction. Every statement is in one: a transaction pooler takes apart what is outside.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        if !self.pooler {
            return named("begin", self.pool().begin()).await;
        }
        let mut tx = named("begin", self.pool().begin_with(BEGIN_POOLED)).await?;
        // What this client has prepared was on another connection of the pooler.
        named("forget_statements", tx.clear_cached_statements()).await?;
        Ok(tx)
    }

    /// Closes the pool's connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(crate) const fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// How long a read may run in the database.
    pub(crate) const fn read_timeout(&self) -> Duration {
        self.read_timeout
    }
}

/// The scheduler's statements, across tenants.
#[derive(Debug, Clone)]
pub struct SchedulerDb {
    main: PgPool,
    dispatch: OwnConnection,
    fire: PgPool,
    leader: OwnConnection,
}

/// Connections of each scheduler for firing schedules: as many groups are written at once, and one more is read.
pub const FIRE_CONNECTIONS: u32 = 3;

/// Connections of each scheduler for what hands tasks out: two of the batcher, and one that makes ready what comes due.
const DISPATCH_CONNECTIONS: u32 = 3;

impl SchedulerDb {
    /// Opens four pools. One hands tasks out, so that the batcher waits for nobody else's work, and commits without waiting for the
    /// disk: a mark `queued` lost in a crash is a lost hint, a task that was made `ready` is overdue and found again, and where turns
    /// stood is known a second older. Nothing else may be written with it. One fires schedules and waits for nothing else either. And
    /// one is a connection that lasts, because its end is taken for the batcher's own.
    ///
    /// # Errors
    /// When the URL is not usable.
    pub fn connect(config: &DatabaseConfig) -> Result<Self, StoreError> {
        let quick: &[(&str, &str)] =
            if config.pooler { &[] } else { &[("synchronous_commit", "off")] };
        let open = |connections, settings: &[_]| {
            open(config, ServiceRole::Scheduler, connections, settings)
        };
        Ok(Self {
            main: open(config.scheduler_connections, &[])?,
            dispatch: OwnConnection::of(&open(DISPATCH_CONNECTIONS, quick)?, 1),
            fire: open(FIRE_CONNECTIONS, &[])?,
            leader: OwnConnection::of(&lasting(config, ServiceRole::Scheduler)?, 1),
        })
    }

    /// Answers when the database does, and is the primary.
    ///
    /// # Errors
    /// When it does not, or is a standby.
    pub async fn ping(&self) -> Result<(), StoreError> {
        ping(&self.main).await
    }

    /// Closes all pools' connections.
    pub async fn close(&self) {
        self.main.close().await;
        self.dispatch.close().await;
        self.fire.close().await;
        self.leader.close().await;
    }

    pub(crate) const fn pool(&self) -> &PgPool {
        &self.main
    }

    /// The connection that renews the leadership; used for nothing else.
    pub(crate) const fn leader(&self) -> &OwnConnection {
        &self.leader
    }

    /// The connection of the batcher. Who makes tasks ready meanwhile has another of its pool.
    pub(crate) const fn dispatch(&self) -> &OwnConnection {
        &self.dispatch
    }

    /// Connections of what fires schedules.
    pub(crate) const fn fire_pool(&self) -> &PgPool {
        &self.fire
    }

    /// A transaction none of whose statements runs for longer than `limit`, or sorts.
    pub(crate) async fn begin_within(
        &self,
        limit: Duration,
    ) -> Result<Transaction<'static, Postgres>, StoreError> {
        begin_within(self.pool(), limit).await
    }
}

impl AdminDb {
    /// A transaction none of whose statements runs for longer than `limit`, or sorts.
    pub(crate) async fn begin_within(
        &self,
        limit: Duration,
    ) -> Result<Transaction<'static, Postgres>, StoreError> {
        begin_within(self.pool(), limit).await
    }
}

async fn ping(pool: &PgPool) -> Result<(), StoreError> {
    let standby = sqlx::query_scalar!(r#"select pg_is_in_recovery() as "standby!""#);
    let standby = named("ping", standby.fetch_one(pool)).await?;
    if standby { Err(StoreError::Standby) } else { Ok(()) }
}

pub(crate) fn open(
    config: &DatabaseConfig,
    role: ServiceRole,
    connections: u32,
    settings: &[(&str, &str)],
) -> Result<PgPool, StoreError> {
    Ok(pool(config, connections).connect_lazy_with(options(config, role, settings)?))
}

/// A connection that is not replaced while it is sound, and room for the next while it is given up.
fn lasting(config: &DatabaseConfig, role: ServiceRole) -> Result<PgPool, StoreError> {
    let pool = pool(config, 2).max_lifetime(None).idle_timeout(None);
    Ok(pool.connect_lazy_with(options(config, role, &[])?))
}

fn options(
    config: &DatabaseConfig,
    role: ServiceRole,
    settings: &[(&str, &str)],
) -> Result<PgConnectOptions, StoreError> {
    let url = config.service_url(role).map_err(|error| StoreError::Config(error.to_string()))?;
    let mut options = PgConnectOptions::from_str(url.expose_secret())
        .map_err(|_| {
            StoreError::Config(format!("the URL for {} is no Postgres URL", config.user_of(role)))
        })?
        .application_name(role.user())
        // What comes is binary, so that it changes nothing; and PgBouncer refuses a client that sends it.
        .extra_float_digits(None);
    if !settings.is_empty() {
        options = options.options(settings.iter().copied());
    }
    Ok(options)
}

fn pool(config: &DatabaseConfig, connections: u32) -> PgPoolOptions {
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(config.acquire_timeout)
        // A connection that was just in use is not asked again, a round trip cheaper: the next statement shows just as well if it
        // broke.
        .test_before_acquire(false);
    silence::given_up(pool)
}
