//! A Berth on the full profile with engines of its own, and a proxy between any two parts.
//!
//! Engines are private to the run, so that they can be killed. The rule: roles reach engines and each other through proxies
//! only; whoever judges goes straight to Postgres, so that a broken network hides nothing.

use super::fault::{Link, Victim};
use crate::{Cluster, Customer, Role, Shape, rabbitmqctl};
use anyhow::Context;
use std::collections::BTreeMap;
use testkit::db::TestDatabase;
use testkit::proxy::{Mode, Proxy};
use testkit::services::{PrivatePostgres, PrivateRabbit, PrivateRedis, TestBroker};
use url::Url;

/// Names of the two tenants whose tasks are counted, and of the one that submits above its limit.
pub const TENANTS: [&str; 2] = ["acme", "globex"];
/// Submits above its limit all the time.
pub const LIMITED: &str = "limited";

/// A running Berth that may be harmed.
pub struct Rig {
    /// The roles. First: fields are dropped in this order.
    pub cluster: Cluster,
    /// Its Postgres.
    pub postgres: PrivatePostgres,
    /// Its broker.
    pub rabbit: PrivateRabbit,
    /// Its Redis.
    pub redis: PrivateRedis,
    links: BTreeMap<Link, Vec<Proxy>>,
    /// Processes that ended though nobody ended them.
    pub ended: Vec<String>,
    /// What processes did that they may not.
    pub complaints: Vec<String>,
}

impl Rig {
    /// Two of each role and three executors, on engines that are started now; about 15 s.
    pub async fn start(queue_type: &str) -> anyhow::Result<Self> {
        let (postgres, rabbit, redis) = tokio::try_join!(
            PrivatePostgres::start(),
            PrivateRabbit::start(),
            PrivateRedis::start()
        )?;
        let database = TestDatabase::on(&postgres.url()?).await?;
        let broker = TestBroker::on(rabbit.url()?);
        let mut links = BTreeMap::new();
        let mut shape = Shape::default()
            .with(Role::Executor, 0)
            .set("BERTH_REDIS__COMMAND_TIMEOUT", "250ms")
            .set("BERTH_BUS__QUEUE_TYPE", queue_type);
        let mut through = |link: Link, proxy: Proxy| {
            links.entry(link).or_insert_with(Vec::new).push(proxy);
        };
        for (link, role, setting) in [
            (Link::ApiDatabase, "berth_api", "BERTH_DATABASE__API_URL"),
            (Link::ApiDatabase, "berth_submit", "BERTH_DATABASE__SUBMIT_URL"),
            (Link::ApiDatabase, "berth_admin", "BERTH_DATABASE__ADMIN_URL"),
            (Link::SchedulerDatabase, "berth_scheduler", "BERTH_DATABASE__SCHEDULER_URL"),
            (Link::ManagerDatabase, "berth_rm", "BERTH_DATABASE__RM_URL"),
        ] {
            let url = database.role_url(role)?;
            let proxy = before(&url).await?;
            shape = shape.set(setting, proxy.url(&url)?);
            through(link, proxy);
        }
        let proxy = before(&redis.url()?).await?;
        shape = shape.set("BERTH_REDIS__URL", proxy.url(&redis.url()?)?);
        through(Link::Redis, proxy);
        let proxy = before(&rabbit.url()?).await?;
        let amqp = proxy.url(&rabbit.url()?)?;
        through(Link::Broker, proxy);

        let mut cluster = Cluster::on(shape, database, broker, Some(amqp)).await?;
        let managers: Vec<String> = cluster.manager_urls().split(',').map(str::to_owned).collect();
        for number in 0..Shape::default().counts[&Role::Executor] {
            let mut urls = Vec::new();
            for manager in &managers {
                let proxy = before(manager).await?;
                urls.push(format!("http://{}", proxy.address()));
                through(Link::Executor(number), proxy);
            }
            cluster.set("BERTH_EXECUTOR__RESOURCE_MANAGERS", urls.join(","));
            cluster.join(Role::Executor).await?;
        }
        Ok(Self {
            cluster,
            postgres,
            rabbit,
            redis,
            links,
            ended: Vec::new(),
            complaints: Vec::new(),
        })
    }

    /// The two tenants, and the one with a limit of `per_second` tasks.
    pub async fn sign_up(&self, per_second: u32) -> anyhow::Result<([Customer; 2], Customer)> {
        let [first, second] = TENANTS;
        let customers = [
            Customer::sign_up(&self.cluster, first).await?,
            Customer::sign_up(&self.cluster, second).await?,
        ];
        let limited = Customer::sign_up(&self.cluster, LIMITED).await?;
        self.cluster
            .database()
            .sql(&format!(
                r#"insert into plan (name, limits)
                    select 'chaos-limited', limits || '{{"submits_per_second": {per_second}, "submit_burst": {per_second}}}'
                    from plan where name = 'default';
                update tenant set plan = 'chaos-limited' where name = '{LIMITED}'"#
            ))
            .await?;
        Ok((customers, limited))
    }

    /// Makes a link misbehave, or work again.
    pub fn set(&self, link: Link, mode: Mode) {
        self.links.get(&link).into_iter().flatten().for_each(|proxy| proxy.set(mode));
    }

    /// Where a process stands among all.
    pub fn place(&self, victim: Victim) -> anyhow::Result<usize> {
        let places = self.cluster.of(victim.role);
        places.get(victim.number).copied().with_context(|| format!("there is no {victim}"))
    }

    /// Starts again what has ended by itself, as whoever runs Berth does; it is remembered.
    pub fn revive(&mut self) -> anyhow::Result<()> {
        for role in Role::ALL {
            for (number, at) in self.cluster.of(role).into_iter().enumerate() {
                if let Some(status) = self.cluster.process(at)?.ended()? {
                    let victim = Victim { role, number };
                    self.ended.push(format!("{victim} ended by itself: {status}"));
                    self.cluster.launch(at)?;
                }
            }
        }
        Ok(())
    }

    /// Runs `rabbitmqctl` on its broker.
    pub async fn rabbitmqctl(&self, arguments: &[&str]) -> anyhow::Result<String> {
        rabbitmqctl(&self.rabbit, arguments).await
    }

    /// SQL as a superuser, past every proxy.
    pub async fn sql(&self, sql: &str) -> anyhow::Result<String> {
        self.cluster.database().sql(sql).await
    }
}

/// A proxy before whoever listens at this URL.
async fn before(url: &str) -> anyhow::Result<Proxy> {
    let parsed = Url::parse(url)?;
    let host = parsed.host_str().with_context(|| format!("no host in {url}"))?;
    let port = parsed.port_or_known_default().with_context(|| format!("no port in {url}"))?;
    Proxy::start(format!("{host}:{port}")).await
}
