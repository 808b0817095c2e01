//! Postgres is away while many executors hold work. A short outage costs no attempt. After a long one executors have stopped what
//! they could not renew, at nobody's cost; nothing is taken from anybody before all had the time to renew, and work is steady soon.

use e2e::{Cluster, Customer, Oracle, Role, Shape, now_ms, sum};
use runtime::clock;
use serde_json::json;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::poll;
use testkit::proxy::{Mode, Proxy};
use testkit::services::{PrivatePostgres, TestBroker};

const STEADY: Duration = Duration::from_secs(60);
/// Run, or have come to their end.
const RUN: &str = "select (select count(*) from task where state = 'running') + (select count(*) from task_history)";
const LOST: &str = "select count(*) from attempt where outcome = 'lost'";
const CHARGED: &str = "select count(*) from attempt where charged and outcome <> 'succeeded'";

struct Rig {
    cluster: Cluster,
    held: usize,
}

impl Rig {
    /// Executors that hold `each` tasks of `work`, through a proxy where one is given.
    async fn start(
        database: TestDatabase,
        (executors, each): (usize, usize),
        (term, work): (Duration, Duration),
        proxy: Option<&Proxy>,
    ) -> anyhow::Result<Self> {
        let mut shape = Shape::default()
            .with(Role::Api, 1)
            .with(Role::Scheduler, 1)
            .with(Role::Executor, executors)
            .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", format!("{}s", term.as_secs()))
            // Hundreds would not find ports of their own; nobody listens on any.
            .set("BERTH_EXECUTOR__PORT_FIRST", "20000");
        if let Some(proxy) = proxy {
            let url = proxy.url(&database.role_url("berth_rm")?)?;
            shape = shape.set("BERTH_DATABASE__RM_URL", url);
        }
        let cluster = Cluster::on(shape, database, TestBroker::new().await?, None).await?;
        let customer = Customer::sign_up(&cluster, "acme").await?;
        let held = executors * each;
        let task = json!({ "run": { "noop": { "sleep": format!("{}ms", work.as_millis()) } },
            "execution_cap": "10m", "max_attempts": 1 });
        customer.submit_batch(&vec![task; held], "held").await?;
        let rig = Self { cluster, held };
        rig.all_run(STEADY).await?;
        Ok(rig)
    }

    async fn all_run(&self, limit: Duration) -> anyhow::Result<Duration> {
        let began = clock::monotonic();
        let oracle = Oracle::of(&self.cluster);
        let all = i64::try_from(self.held)?;
        poll::until("every task to run", limit, || async {
            oracle.number(RUN).await.is_ok_and(|run| run == all)
        })
        .await?;
        Ok(began.elapsed())
    }

    async fn ends_well(&self, work: Duration) -> anyhow::Result<()> {
        let oracle = Oracle::of(&self.cluster);
        oracle.drained(work + STEADY).await?;
        assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());
        assert_eq!(oracle.number(CHARGED).await?, 0, "{}", oracle.endings().await?);
        let well = "select count(*) from task_history where state = 'succeeded'";
        assert_eq!(usize::try_from(oracle.number(well).await?)?, self.held);
        assert_eq!(self.cluster.panicked(), Vec::<String>::new());
        Ok(())
    }
}

/// The database does not answer for less than a third of the term.
async fn short(executors: usize, each: usize) -> anyhow::Result<()> {
    let (term, away, work) =
        (Duration::from_secs(6), Duration::from_millis(1500), Duration::from_secs(6));
    let database = TestDatabase::new().await?;
    let upstream = database.owner_url().rsplit('@').next().and_then(|rest| rest.split('/').next());
    let proxy = Proxy::start(upstream.unwrap_or_default()).await?;
    let rig = Rig::start(database, (executors, each), (term, work), Some(&proxy)).await?;
    proxy.set(Mode::Blackhole);
    clock::sleep(away).await;
    proxy.set(Mode::Pass);
    rig.ends_well(work).await?;
    assert_eq!(Oracle::of(&rig.cluster).number(LOST).await?, 0, "a short outage cost attempts");
    Ok(())
}

/// It is down for some terms.
async fn long(
    executors: (usize, usize),
    (term, terms): (Duration, u32),
    work: Duration,
) -> anyhow::Result<()> {
    let mut postgres = PrivatePostgres::start().await?;
    let database = TestDatabase::on(&postgres.url()?).await?;
    let mut rig = Rig::start(database, executors, (term, work), None).await?;
    let lapsed = async |rig: &mut Rig| {
        sum(&mut rig.cluster, Role::ResourceManager, "berth_lapsed_total", &["sessions"]).await
    };
    let before = lapsed(&mut rig).await?;
    postgres.kill9()?;
    clock::sleep(term * terms).await;
    postgres.restart().await?;
    let (back, back_ms) = (clock::monotonic(), now_ms());
    // Just short of a term: Postgres counts from its own start, a moment ago.
    clock::sleep_until(back + term - Duration::from_millis(500)).await;
    let early = lapsed(&mut rig).await? - before;
    assert!(early == 0.0, "{early} sessions were taken from executors that had no time to renew");
    rig.all_run(STEADY).await?;
    let steady = back.elapsed();
    let oracle = Oracle::of(&rig.cluster);
    let again = oracle.number(LOST).await?;
    let pace = oracle
        .rows(&format!(
            "select count(*), coalesce(max(n), 0) from (select count(*) as n from task
                where placed_at > to_timestamp({back_ms} / 1000.0) group by date_trunc('second', placed_at)) s"
        ))
        .await?;
    eprintln!(
        "{} tasks on {} executors, down for {:?}: all ran again {steady:?} after; {again} attempts were stopped, none \
         charged; placed in (seconds, most in one): {pace:?}",
        rig.held,
        executors.0,
        term * terms
    );
    assert!(steady <= STEADY, "steady only after {steady:?}");
    rig.ends_well(work).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_away_for_less_than_a_third_of_the_term_costs_no_attempt() -> anyhow::Result<()>
{
    short(3, 10).await
}

mod own_engines {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_database_down_for_two_terms_costs_nobody_and_work_is_steady_soon()
    -> anyhow::Result<()> {
        long((3, 10), (Duration::from_secs(3), 2), Duration::from_secs(4)).await
    }
}

mod chaos {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_database_away_for_a_moment_costs_two_hundred_attempts_nothing() -> anyhow::Result<()>
    {
        short(20, 10).await
    }

    /// Two hundred real executors, of which each has a process; they hold two thousand tasks.
    #[tokio::test(flavor = "multi_thread")]
    async fn two_hundred_executors_come_back_from_three_terms_without_a_database()
    -> anyhow::Result<()> {
        long((200, 10), (Duration::from_secs(10), 3), Duration::from_secs(60)).await
    }
}
