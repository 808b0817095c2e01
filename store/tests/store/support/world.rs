//! A database of one test, and a handle of each role on it.

use domain::epoch::Epoch;
use domain::id::{ExecutorId, NodeId, PoolName, SessionId, TenantId};
use domain::resources::Resources;
use runtime::config::DatabaseConfig;
use sqlx::AssertSqlSafe;
use sqlx::postgres::{PgPool, PgPoolOptions};
use std::time::Duration;
use store::audit::By;
use store::connect::{AdminDb, ApiDb, RmDb, SchedulerDb, SubmitDb};
use store::leadership;
use store::session::{self, NewSession, Opened};
use store::tenant::{Created, NewTenant};
use testkit::db::{SERVICE_PASSWORD, TestDatabase};

pub const TERM: Duration = Duration::from_secs(30);

pub struct World {
    pub api: ApiDb,
    pub submit: SubmitDb,
    pub scheduler: SchedulerDb,
    pub rm: RmDb,
    pub admin: AdminDb,
    /// The owner of the tables, to look and to prepare.
    pub owner: PgPool,
    pub database: TestDatabase,
}

/// The batcher's leadership.
#[derive(Debug, Clone, Copy)]
pub struct Leader {
    pub node: NodeId,
    pub epoch: Epoch,
}

/// A session and who owns it.
#[derive(Debug, Clone, Copy)]
pub struct Owned {
    pub node: NodeId,
    pub session: SessionId,
    pub epoch: Epoch,
}

impl World {
    pub async fn new() -> Self {
        let database = TestDatabase::new().await.unwrap();
        let config = config(&database);
        Self {
            api: ApiDb::connect(&config).unwrap(),
            submit: SubmitDb::connect(&config).unwrap(),
            scheduler: SchedulerDb::connect(&config).unwrap(),
            rm: RmDb::connect(&config).unwrap(),
            admin: AdminDb::connect(&config).unwrap(),
            owner: PgPoolOptions::new()
                .max_connections(4)
                .connect(database.owner_url())
                .await
                .unwrap(),
            database,
        }
    }

    /// Runs SQL as the owner.
    pub async fn sql(&self, sql: impl Into<String>) {
        sqlx::raw_sql(AssertSqlSafe(sql.into())).execute(&self.owner).await.unwrap();
    }

    /// The one number that a query of the owner gives.
    pub async fn number(&self, sql: impl Into<String>) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.into())).fetch_one(&self.owner).await.unwrap()
    }

    /// The one text that a query of the owner gives; `None` for null and for no row.
    pub async fn text(&self, sql: impl Into<String>) -> Option<String> {
        let row: Option<Option<String>> = sqlx::query_scalar(AssertSqlSafe(sql.into()))
            .fetch_optional(&self.owner)
            .await
            .unwrap();
        row.flatten()
    }

    /// How often Postgres had to break a deadlock here. Ends the services' connections: they count only what ended.
    pub async fn deadlocks(&self) -> i64 {
        self.api.close().await;
        self.submit.close().await;
        self.scheduler.close().await;
        self.rm.close().await;
        self.admin.close().await;
        let others = "select count(*) from pg_stat_activity where datname = current_database() and usename like 'berth%'";
        let gone = async || self.number(others).await == 0;
        testkit::poll::until("the services' connections are gone", Duration::from_secs(20), gone)
            .await
            .unwrap();
        self.number("select deadlocks from pg_stat_database where datname = current_database()")
            .await
    }

    /// A tenant that exists.
    pub async fn tenant(&self) -> TenantId {
        let tenant = TenantId::fresh();
        let new = NewTenant { id: tenant, ..NewTenant::named(&tenant.to_string()).unwrap() };
        assert_eq!(
            store::tenant::create(&self.admin, &new, By::SYSTEM).await.unwrap(),
            Created::Yes
        );
        tenant
    }

    /// Becomes the batcher, or stays it.
    pub async fn lead(&self, node: NodeId) -> Leader {
        let epoch = leadership::acquire(&self.scheduler, node, TERM).await.unwrap().unwrap();
        Leader { node, epoch }
    }

    /// A new session of 64 premium tasks' capacity, owned by `node`.
    pub async fn open(&self, node: NodeId) -> Owned {
        let session = SessionId::fresh();
        match session::open_or_adopt(&self.rm, &new_session(session), node, TERM).await.unwrap() {
            Opened::Owned { epoch, adopted: false } => Owned { node, session, epoch },
            other => panic!("{other:?}"),
        }
    }
}

pub fn config(database: &TestDatabase) -> DatabaseConfig {
    config_of(database.owner_url())
}

/// Of the database whose owner's URL this is.
pub fn config_of(owner_url: &str) -> DatabaseConfig {
    DatabaseConfig {
        url: owner_url.into(),
        service_password: SERVICE_PASSWORD.into(),
        role_prefix: String::new(),
        api_url: "".into(),
        submit_url: "".into(),
        scheduler_url: "".into(),
        rm_url: "".into(),
        notifier_url: "".into(),
        admin_url: "".into(),
        api_connections: 8,
        tenant_connections: 4,
        tenant_waiting: 100,
        tenant_wait: Duration::from_secs(60),
        submit_connections: 8,
        admin_connections: 8,
        scheduler_connections: 8,
        rm_connections: 8,
        acquire_timeout: Duration::from_secs(60),
        statement_timeout: Duration::from_secs(15),
        pooler: false,
    }
}

pub fn new_session(id: SessionId) -> NewSession {
    NewSession {
        id,
        earlier: Vec::new(),
        // A name of its own: one that is held is refused.
        executor: format!("executor-{}", id.uuid().simple()).parse::<ExecutorId>().unwrap(),
        pool: "default".parse::<PoolName>().unwrap(),
        capacity: Resources {
            cpu_millis: 256_000,
            memory_mib: 524_288,
            disk_mib: 1_310_720,
            iops: 64_000,
            ports: 256,
        },
        port_first: 20_000,
        version: "test".to_owned(),
        drivers: domain::task::DriverSet::of(["noop".parse().unwrap()]),
    }
}
