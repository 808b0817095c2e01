//! The measured cluster: one process of each role, ample room, and one customer.
//!
//! Everything else has its default. One process of each role, because two cores hold no more.

use crate::cpu::{Meter, holder_of_port, postmaster};
use crate::ended;
use crate::http::{Connection, Pages, Target};
use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape, sum};
use runtime::config::QueueType;
use runtime::tasks::TaskGroup;
use std::sync::OnceLock;
use std::time::Duration;
use testkit::psql;
use tokio::sync::OnceCell;

/// Settings of every process. A basic task needs 250 cpu millis and one port: 4000 fit. All requests come from one
/// address; a fast machine exceeds the default limit. The broker has one node, as with `berth up --full`.
const SETTINGS: [(&str, &str); 10] = [
    ("BERTH_BUS__QUEUE_TYPE", "classic"),
    ("BERTH_API__PEER_REQUESTS_PER_SECOND", "1000000"),
    ("BERTH_API__PEER_REQUEST_BURST", "1000000"),
    ("BERTH_RESOURCE_MANAGER__LEASE_TERM", "15s"),
    ("BERTH_RESOURCE_MANAGER__KILL_GRACE", "5s"),
    ("BERTH_EXECUTOR__CPU_MILLIS", "1000000"),
    ("BERTH_EXECUTOR__MEMORY_MIB", "67108864"),
    ("BERTH_EXECUTOR__DISK_MIB", "1073741824"),
    ("BERTH_EXECUTOR__IOPS", "100000000"),
    ("BERTH_EXECUTOR__PORT_COUNT", "4096"),
];

/// Additional settings from the arguments.
pub static OTHERS: OnceLock<Vec<(String, String)>> = OnceLock::new();

/// Whether the customer has a spend cap.
pub static SPEND_CAP: OnceLock<bool> = OnceLock::new();

/// All settings; the last of one name wins.
pub fn settings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = OTHERS.get().into_iter().flatten().map(|(name, value)| (&**name, &**value));
    SETTINGS.into_iter().chain(others)
}

/// Queue type of the measured cluster.
pub fn queue_type() -> QueueType {
    let queue_type = settings().filter(|(name, _)| *name == "BERTH_BUS__QUEUE_TYPE").last();
    match queue_type {
        Some((_, "classic")) => QueueType::Classic,
        _ => QueueType::Quorum,
    }
}

/// A long-running server reuses old WAL segments; a new one must create and sync each segment of 16 MiB, which stops
/// commits for 10 to 20 ms. So segments are created in advance and freed for reuse by a checkpoint.
const WRITE_AHEAD: &str = "do $$ begin
    for segment in 1..64 loop
        perform pg_logical_emit_message(false, 'bench', 'a segment begun');
        perform pg_switch_wal();
    end loop;
end $$";

static WRITTEN_AHEAD: OnceCell<()> = OnceCell::const_new();

async fn write_ahead() -> anyhow::Result<()> {
    let admin_url = testkit::settings::database_url().context("no Postgres given")?;
    psql::run(&admin_url, WRITE_AHEAD).await.map(drop)
}

/// A running cluster and a customer of it.
pub struct Rig {
    cluster: Cluster,
    target: Target,
    /// The customer's.
    key: String,
    tasks: TaskGroup,
}

/// The most that the table allows of what these measurements could reach.
pub const NO_LIMITS: &str = r#"update plan set limits = limits || '{"submits_per_second": 1000000, "submit_burst": 1000000,
    "submits_per_hour": 1000000000, "running_tasks": 1000000, "backlog": 100000000}' where name = 'default'"#;

/// Prices, and a cap that is never used up.
const CAP: &str = r#"insert into price_book (name, document) values ('bench', '{"currency": "EUR", "prices": [{"effective_from": "2020-01-01T00:00:00Z",
        "rates": {"cpu_core": 41000, "memory_gib": 7000}, "each": {"task": 3}}]}');
    update plan set billing = '{"price_book": "bench"}' where name = 'default';
    insert into spend_cap (tenant_id, name, scope, period, zone, amount, currency)
        select id, 'all', 'tenant', 'month', 'UTC', 1000000000000000, 'EUR' from tenant where name = 'bench';
    insert into spend_share (tenant_id, cap_id, share, period_start, free, spent)
        select tenant_id, id, share, date_trunc('month', now(), zone), amount / 8, 0 from spend_cap, generate_series(0, 7) share"#;

impl Rig {
    /// Starts one; without an executor nothing runs and everything waits.
    pub async fn start(executors: usize) -> anyhow::Result<Self> {
        Self::of(Self::shape(executors)).await
    }

    /// What [`Self::start`] starts.
    pub fn shape(executors: usize) -> Shape {
        let mut shape = Shape::default();
        for role in [Role::Api, Role::Scheduler, Role::ResourceManager] {
            shape = shape.with(role, 1);
        }
        shape = shape.with(Role::Executor, executors);
        settings().fold(shape, |shape, (name, value)| shape.set(name, value))
    }

    /// Starts one of another shape.
    pub async fn of(shape: Shape) -> anyhow::Result<Self> {
        let cluster = Cluster::start(shape).await?;
        // What is measured is how fast it goes, not what a customer has paid for.
        cluster.database().sql(NO_LIMITS).await?;
        let customer = Customer::sign_up(&cluster, "bench").await?;
        if SPEND_CAP.get() == Some(&true) {
            cluster.database().sql(CAP).await?;
        }
        let url = cluster.api_urls().first().context("no api")?;
        let target = Target::new(url, customer.key())?;
        let key = customer.key().to_owned();
        let rig = Self { cluster, target, key, tasks: TaskGroup::new() };
        WRITTEN_AHEAD.get_or_try_init(write_ahead).await?;
        rig.sql("checkpoint").await?;
        Ok(rig)
    }

    /// Adds an executor and waits until it is ready.
    pub async fn add_executor(&mut self) -> anyhow::Result<()> {
        self.cluster.join(Role::Executor).await.map(|_| ())
    }

    /// A connection that is signed in to the dashboard.
    pub async fn pages(&self) -> anyhow::Result<Pages> {
        Pages::sign_in(Connection::open(&self.target, &self.tasks).await?, &self.key).await
    }

    /// Connections to the api.
    pub async fn connections(&self, count: usize) -> anyhow::Result<Vec<Connection>> {
        Connection::open_many(&self.target, &self.tasks, count).await
    }

    /// Watches every process there is now, and the engines.
    pub async fn meter(&mut self) -> anyhow::Result<Meter> {
        let mut meter = Meter::default();
        let roles = [
            (Role::Api, "api"),
            (Role::Scheduler, "scheduler"),
            (Role::ResourceManager, "resource-manager"),
            (Role::Executor, "executor"),
        ];
        for (role, name) in roles {
            for at in self.cluster.of(role) {
                meter.watch(name, self.cluster.process(at)?.pid());
            }
        }
        if let Some(pid) = postmaster(self.cluster.database().owner_url()).await? {
            meter.watch("postgres", pid);
        }
        if let Some(pid) = holder_of_port(self.cluster.broker().url()) {
            meter.watch("rabbitmq", pid);
        }
        Ok(meter)
    }

    /// All that each process of a role has logged.
    pub fn logs(&mut self, role: Role) -> anyhow::Result<Vec<String>> {
        let processes = self.cluster.of(role);
        processes.into_iter().map(|at| Ok(self.cluster.process(at)?.log())).collect()
    }

    /// How many leases were granted so far.
    pub async fn placed(&mut self) -> anyhow::Result<u32> {
        let placed = sum(&mut self.cluster, Role::ResourceManager, "berth_placed_tasks_total", &[]);
        Ok(placed.await? as u32)
    }

    /// The owner's URL of the database.
    pub fn database_url(&self) -> &str {
        self.cluster.database().owner_url()
    }

    /// Runs SQL as the owner.
    pub async fn sql(&self, sql: &str) -> anyhow::Result<String> {
        psql::run(self.database_url(), sql).await
    }

    /// Some numbers of one row.
    pub async fn numbers(&self, sql: &str) -> anyhow::Result<Vec<f64>> {
        ended::numbers(self.database_url(), sql).await
    }

    /// Waits until no task lives.
    pub async fn drained(&self, limit: Duration) -> anyhow::Result<()> {
        ended::drained(self.database_url(), limit).await
    }

    /// Fails unless exactly `expected` tasks ended, all well.
    pub async fn ended_well(&self, expected: u64) -> anyhow::Result<()> {
        ended::ended_well(self.database_url(), expected).await
    }

    /// Waits until no workflow run is left, and fails unless exactly `expected` ended well, with `nodes` tasks each.
    pub async fn runs_ended_well(&self, expected: u64, nodes: u64) -> anyhow::Result<()> {
        ended::runs_ended_well(self.database_url(), expected, nodes).await
    }

    /// Fails unless exactly `expected` tasks wait, each with its spec.
    pub async fn stored_well(&self, expected: u64) -> anyhow::Result<()> {
        let counts =
            self.numbers("select count(*), count(s.id), (select count(*) from task_history) from task t left join task_spec s using (id)").await?;
        let wanted = expected as f64;
        anyhow::ensure!(
            counts == [wanted, wanted, 0.0],
            "of {expected} submits: live, with spec, ended are {counts:?}"
        );
        Ok(())
    }
}
