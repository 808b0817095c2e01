//! Executors die with work in hand, come back at once under the same name, or just run for long: the lease decides.
//!
//! What a dead executor held starts again within lease term + 2 s, whoever has its name by then; what is renewed is left alone.

use e2e::{Cluster, Customer, Mix, Oracle, Role, Shape, Submitted, now_ns};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::ledger::Ledger;
use testkit::{poll, psql};

const SOON: Duration = Duration::from_secs(30);
const NO_LIVE_LEASE: &str =
    "select count(*) from task t join executor_session s on s.id = t.session_id
    where s.state = 'over' or s.expires_at < now() - interval '2 seconds'";

async fn cluster(executors: usize, term: Duration) -> anyhow::Result<(Cluster, Customer, Ledger)> {
    let shape = Shape::default()
        .with(Role::Api, 1)
        .with(Role::Scheduler, 1)
        .with(Role::Executor, executors);
    let cluster = Cluster::start(
        shape.set("BERTH_RESOURCE_MANAGER__LEASE_TERM", format!("{}ms", term.as_millis())),
    )
    .await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    Ok((cluster, customer, ledger))
}

/// Commands that write themselves down and take `work`.
async fn commands(
    customer: &Customer,
    ledger: &Ledger,
    count: usize,
    work: Duration,
    key: &str,
) -> anyhow::Result<Submitted> {
    let mix = Mix { commands: 10, fail_once_percent: 0, work };
    let tasks = (0..count).map(|_| mix.task(9, ledger)).collect::<anyhow::Result<Vec<Value>>>()?;
    let all = customer.submit_batch(&tasks, key).await?;
    Ok(Submitted { commands: all.clone(), all })
}

/// Waits until every task has begun its newest attempt after `since_ns`; says how long after that the last one did.
async fn all_started_after(
    ledger: &Ledger,
    submitted: &Submitted,
    since_ns: i64,
    limit: Duration,
) -> anyhow::Result<Duration> {
    let last = poll::until_some("every task to start again", limit, || async {
        let runs = ledger.runs().ok()?;
        let newest = |task: &String| runs.of(task).iter().map(|run| run.started_ns).max();
        let starts: Option<Vec<i64>> = submitted.all.iter().map(newest).collect();
        starts?.into_iter().min().filter(|earliest| *earliest > since_ns)?;
        submitted.all.iter().filter_map(newest).max()
    });
    Ok(Duration::from_nanos(u64::try_from(last.await? - since_ns)?))
}

/// The work of a dead executor starts again elsewhere.
async fn dies_with_work(rounds: usize) -> anyhow::Result<()> {
    let term = Duration::from_secs(5);
    let (mut cluster, customer, _) = cluster(1, term).await?;
    for round in 0..rounds {
        // What was killed never says that it ended, so that each round needs a ledger of its own.
        let ledger = Ledger::at(cluster.folder().join(format!("ledger-{round}")));
        let began = now_ns()?;
        let submitted =
            commands(&customer, &ledger, 4, Duration::from_secs(12), &format!("round-{round}"))
                .await?;
        all_started_after(&ledger, &submitted, began, SOON).await?;
        let victim =
            *cluster.of(Role::Executor).last().ok_or_else(|| anyhow::anyhow!("no executor"))?;
        cluster.join(Role::Executor).await?;
        let killed = now_ns()?;
        let ten_seconds_later = clock::monotonic() + Duration::from_secs(10);
        cluster.kill9(victim)?;
        let after = all_started_after(&ledger, &submitted, killed, SOON).await?;
        assert!(
            after < term + Duration::from_secs(2),
            "the last task started {after:?} after the kill"
        );
        clock::sleep_until(ten_seconds_later).await;
        let oracle = Oracle::of(&cluster);
        assert_eq!(oracle.number("select count(*) from task where state = 'running'").await?, 4);
        assert_eq!(oracle.number(NO_LIVE_LEASE).await?, 0, "tasks run without a live lease");
        oracle.drained(SOON).await?;
        let uncharged =
            "select count(*) from attempt where outcome = 'lost' and not charged and usage_ms = 0";
        assert_eq!(oracle.number(uncharged).await?, 4 * i64::try_from(round + 1)?);
        let runs = ledger.runs()?;
        assert_eq!(runs.overlaps(Some(killed + 500_000_000)), Vec::<String>::new());
        assert_eq!(
            runs.completed_more_than_once(),
            Vec::<String>::new(),
            "a command outlived its executor"
        );
        eprintln!("round {round}: all started again {after:?} after the kill");
    }
    assert_eq!(Oracle::of(&cluster).tables().await?, Vec::<e2e::Violation>::new());
    Ok(())
}

/// The same name again and again, each time another session.
async fn comes_back_at_once(kills: usize) -> anyhow::Result<()> {
    let term = Duration::from_secs(3);
    let (mut cluster, customer, ledger) = cluster(1, term).await?;
    let victim = cluster.of(Role::Executor)[0];
    let mut submitted = Submitted::default();
    let mut killed = now_ns()?;
    for kill in 0..kills {
        // Each life gets work of its own, besides what the earlier ones left.
        let more = commands(&customer, &ledger, 2, Duration::from_secs(5), &format!("life-{kill}"))
            .await?;
        all_started_after(&ledger, &more, 0, SOON).await?;
        submitted.commands.extend(more.commands);
        submitted.all.extend(more.all);
        cluster.kill9(victim)?;
        killed = now_ns()?;
        cluster.launch(victim)?;
        cluster.ready(victim).await?;
    }
    let database = cluster.database().owner_url().to_owned();
    let (after, orphans) =
        tokio::join!(all_started_after(&ledger, &submitted, killed, SOON), async {
            clock::sleep(term + Duration::from_secs(2)).await;
            psql::number(&database, NO_LIVE_LEASE).await
        });
    let after = after?;
    assert!(
        after < term + Duration::from_secs(2),
        "the last task started {after:?} after the last kill"
    );
    assert_eq!(orphans?, 0, "the name's new session keeps dead leases alive");
    let oracle = Oracle::of(&cluster);
    oracle.drained(SOON).await?;
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    let sessions = oracle
        .number("select count(*) from executor_session where executor_id = 'executor-0'")
        .await?;
    assert_eq!(usize::try_from(sessions)?, kills + 1, "each boot is a session");
    eprintln!("{kills} boots; all started again {after:?} after the last kill");
    Ok(())
}

/// Tasks much longer than the lease, and one that waits for much longer.
async fn outlives_the_term(term: Duration, work: Duration) -> anyhow::Result<()> {
    let (cluster, customer, ledger) = cluster(2, term).await?;
    let mut submitted = commands(&customer, &ledger, 4, work, "long").await?;
    let long = format!("{}s", work.as_secs());
    let others = [
        json!({ "run": { "noop": { "sleep": long } }, "execution_cap": format!("{}s", work.as_secs() * 2) }),
        json!({ "run": { "noop": { "sleep": "0s" } }, "delay": long }),
    ];
    submitted.all.extend(customer.submit_batch(&others, "others").await?);
    let oracle = Oracle::of(&cluster);
    oracle.drained(work + SOON).await?;
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    assert_eq!(
        oracle.number("select count(*) from task_history where attempt <> 1").await?,
        0,
        "a healthy task was stolen"
    );
    assert_eq!(ledger.runs()?.completed(), 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_executor_held_starts_again_within_the_term_and_two_seconds()
-> anyhow::Result<()> {
    dies_with_work(1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_boot_under_the_same_name_does_not_keep_dead_work_alive() -> anyhow::Result<()> {
    comes_back_at_once(4).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_four_times_as_long_as_the_lease_runs_once() -> anyhow::Result<()> {
    outlives_the_term(Duration::from_secs(3), Duration::from_secs(12)).await
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn what_five_dead_executors_held_starts_again_within_the_term_and_two_seconds()
    -> anyhow::Result<()> {
        super::dies_with_work(5).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn twenty_boots_under_the_same_name_do_not_keep_dead_work_alive() -> anyhow::Result<()> {
        super::comes_back_at_once(20).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_task_of_two_minutes_runs_once_under_a_lease_of_five_seconds() -> anyhow::Result<()> {
        super::outlives_the_term(Duration::from_secs(5), Duration::from_secs(120)).await
    }
}
