//! SIGTERM to each process in turn, as a deploy does it: customers see no error, no attempt is burnt, and each process
//! ends by itself in time.

use e2e::{Cluster, Customer, Oracle, Role, Shape, Submitted};
use runtime::clock;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use testkit::ledger::Ledger;
use testkit::poll;
use tokio::task::JoinSet;

const SOON: Duration = Duration::from_secs(30);
/// The longest that an orderly end may take.
const GRACE: Duration = Duration::from_secs(30);
const BURNT: &str =
    "select count(*) from attempt where (charged and outcome <> 'succeeded') or outcome = 'lost'";

/// What customers saw.
#[derive(Default)]
struct Seen {
    ids: Vec<String>,
    errors: Vec<String>,
}

/// Submits and reads until told to stop. Tries again only where no connection was made.
async fn client(
    customer: Arc<Customer>,
    number: usize,
    stop: Arc<AtomicBool>,
    refused: Arc<AtomicUsize>,
) -> Seen {
    let mut seen = Seen::default();
    let task = json!({ "run": { "noop": { "sleep": "30ms" } }, "max_attempts": 2 });
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        match customer
            .call("POST", "/v1/tasks", Some(&task), Some(&format!("client-{number}-{sent}")))
            .await
        {
            Ok((201, answer)) => seen.ids.push(answer["id"].as_str().unwrap_or("none").to_owned()),
            Ok((status, answer)) => seen.errors.push(format!("{status}: {answer}")),
            Err(error)
                if error
                    .downcast_ref::<reqwest::Error>()
                    .is_some_and(reqwest::Error::is_connect) =>
            {
                refused.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            Err(error) => seen.errors.push(format!("{error:?}")),
        }
        sent += 1;
        clock::sleep(Duration::from_millis(25)).await;
    }
    seen
}

async fn each_in_turn(rounds: usize) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(Shape::default().with(Role::Executor, 2)).await?;
    let customer = Arc::new(Customer::sign_up(&cluster, "acme").await?);
    let (stop, refused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut clients = JoinSet::new();
    for number in 0..2 {
        clients.spawn(client(
            Arc::clone(&customer),
            number,
            Arc::clone(&stop),
            Arc::clone(&refused),
        ));
    }
    let mut slowest: Vec<(Duration, String)> = Vec::new();
    for _ in 0..rounds {
        for role in Role::ALL {
            for at in cluster.of(role) {
                let process = cluster.process(at)?;
                let began = clock::monotonic();
                process.term()?;
                let status = process.wait(GRACE).await?;
                slowest.push((began.elapsed(), format!("{role:?}")));
                anyhow::ensure!(
                    status.success(),
                    "{role:?} ended with {status} after SIGTERM: {}",
                    process.log()
                );
                cluster.launch(at)?;
                cluster.ready(at).await?;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    let mut all = Vec::new();
    let mut errors = Vec::new();
    while let Some(seen) = clients.join_next().await {
        let seen = seen?;
        all.extend(seen.ids);
        errors.extend(seen.errors);
    }
    slowest.sort();
    let refused = refused.load(Ordering::Relaxed);
    eprintln!(
        "{} submits, {refused} tried again for want of a connection; exits took {slowest:?}",
        all.len()
    );
    assert_eq!(errors, Vec::<String>::new());
    let oracle = Oracle::of(&cluster);
    oracle.drained(SOON).await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    assert_eq!(
        oracle.violations(&Submitted { all, commands: Vec::new() }, &ledger).await?,
        Vec::<String>::new()
    );
    let again = cluster.database().sql("select outcome, charged, count(*) from attempt where outcome <> 'succeeded' group by 1, 2").await?;
    eprintln!("attempts that were repeated: {again:?}");
    assert_eq!(oracle.number(BURNT).await?, 0, "attempts burnt by a drain");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

/// Work that outlasts the grace is handed back, uncharged, and ends elsewhere.
async fn grace_runs_out() -> anyhow::Result<()> {
    let shape = Shape::default().with(Role::Executor, 1).set("BERTH_EXECUTOR__DRAIN_GRACE", "1s");
    let mut cluster =
        Cluster::start(shape.set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "30s")).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let command = e2e::Mix { commands: 10, fail_once_percent: 0, work: Duration::from_secs(5) }
        .task(9, &ledger)?;
    let mut commands = customer.submit_batch(&vec![command; 4], "commands").await?;
    let mut all = customer
        .submit_batch(&vec![json!({ "run": { "noop": { "sleep": "5s" } } }); 4], "noops")
        .await?;
    let running = "select count(*) from task where state = 'running'";
    let oracle = Oracle::of(&cluster);
    poll::until("all to run", SOON, || async {
        oracle.number(running).await.is_ok_and(|n| n == 8)
            && ledger.runs().is_ok_and(|runs| runs.tasks().count() == 4)
    })
    .await?;
    let old = cluster.of(Role::Executor)[0];
    cluster.join(Role::Executor).await?;
    let process = cluster.process(old)?;
    process.term()?;
    let began = clock::monotonic();
    let status = process.wait(GRACE).await?;
    anyhow::ensure!(status.success(), "the executor ended with {status}: {}", process.log());
    let took = began.elapsed();
    assert!(took < Duration::from_secs(8), "a grace of 1 s took {took:?}");
    let oracle = Oracle::of(&cluster);
    // Long before the lease could lapse.
    oracle.drained(Duration::from_secs(15)).await?;
    all.append(&mut commands.clone());
    assert_eq!(
        oracle
            .violations(&Submitted { all, commands: std::mem::take(&mut commands) }, &ledger)
            .await?,
        Vec::<String>::new()
    );
    let handed_back = "select count(*) from attempt where outcome = 'handed_back' and not charged and usage_ms = 0";
    assert_eq!(oracle.number(handed_back).await?, 8);
    assert_eq!(oracle.number(BURNT).await?, 0);
    assert_eq!(ledger.runs()?.overlaps(None), Vec::<String>::new());
    eprintln!("exit after {took:?}");
    Ok(())
}

/// What may run once only is not started again after a drain has killed it.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_run_once_only_ends_with_its_drained_executor() -> anyhow::Result<()> {
    let shape = Shape::default().with(Role::Executor, 1).set("BERTH_EXECUTOR__DRAIN_GRACE", "1s");
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let argv = ledger.command(Duration::from_secs(60), 0)?;
    let once = json!({ "run": { "command": { "argv": argv } }, "delivery": "at_most_once", "max_attempts": 3,
        "execution_cap": "5m" });
    let again =
        json!({ "run": { "command": { "argv": argv } }, "max_attempts": 3, "execution_cap": "5m" });
    let ids = customer.submit_batch(&[once, again], "two").await?;
    poll::until("both to run", SOON, || async {
        ledger.runs().is_ok_and(|runs| runs.tasks().count() == 2)
    })
    .await?;
    let old = cluster.of(Role::Executor)[0];
    cluster.join(Role::Executor).await?;
    cluster.process(old)?.term()?;
    poll::until("the other to run again", SOON, || async {
        ledger.runs().is_ok_and(|runs| runs.of(&ids[1]).len() == 2)
    })
    .await?;
    let (_, ended) = customer.call("GET", &format!("/v1/tasks/{}", ids[0]), None, None).await?;
    assert_eq!(ended["state"], "failed", "{ended}");
    let runs = ledger.runs()?;
    assert_eq!(runs.of(&ids[0]).len(), 1, "it ran again");
    let (status, _) = customer
        .call("POST", &format!("/v1/tasks/{}/cancel", ids[1]), Some(&json!({})), Some("stop"))
        .await?;
    assert_eq!(status, 202);
    let oracle = Oracle::of(&cluster);
    oracle.drained(SOON).await?;
    let lost =
        "select count(*) from attempt where outcome = 'lost' and not charged and usage_ms = 0";
    assert_eq!(oracle.number(lost).await?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_do_not_see_a_rolling_restart() -> anyhow::Result<()> {
    each_in_turn(1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_outlasts_the_grace_is_handed_back_uncharged() -> anyhow::Result<()> {
    grace_runs_out().await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn customers_do_not_see_twenty_rolling_restarts() -> anyhow::Result<()> {
        super::each_in_turn(20).await
    }
}
