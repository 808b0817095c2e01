//! The active batcher is killed again and again while tasks flow: a task marked `queued` whose hint was never published
//! is taken back, and another batcher takes over.

use e2e::{Cluster, Customer, Mix, Oracle, Shape, batcher};
use runtime::clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testkit::ledger::Ledger;
use testkit::{poll, psql};

/// Between two kills of whoever is the batcher.
const EVERY: Duration = Duration::from_secs(2);
/// `wake_at` of a queued task is when the sweep takes it back: 5 s after it was marked.
const QUEUED_TOO_LONG: &str =
    "select count(*) from task where state = 'queued' and wake_at < now() - interval '10 seconds'";

async fn kills(tasks: usize, over: Duration) -> anyhow::Result<()> {
    // An attempt that a busy machine costs, because an executor was not heard in time, is not the batcher's doing.
    let shape = Shape::default().set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "20s");
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let mix = Mix { commands: 2, fail_once_percent: 0, work: Duration::from_millis(5) };
    let database = cluster.database().owner_url().to_owned();
    let flowing = AtomicBool::new(true);
    let submits = async {
        let submitted = mix.submit(&customer, &ledger, (tasks, 20), over).await;
        flowing.store(false, Ordering::Relaxed);
        submitted
    };
    let killing = async {
        let (began, mut killed) = (clock::monotonic(), 0);
        while flowing.load(Ordering::Relaxed) {
            let at = batcher(&mut cluster).await?;
            cluster.kill9(at)?;
            cluster.launch(at)?;
            killed += 1;
            clock::sleep_until(began + EVERY * killed).await;
        }
        Ok::<_, anyhow::Error>(killed)
    };
    let watching = async {
        while flowing.load(Ordering::Relaxed) {
            let stuck = psql::number(&database, QUEUED_TOO_LONG).await?;
            anyhow::ensure!(stuck == 0, "{stuck} tasks were queued for more than 15 s");
            clock::sleep(Duration::from_millis(500)).await;
        }
        Ok::<_, anyhow::Error>(())
    };
    let (submitted, killed, watched) = tokio::join!(submits, killing, watching);
    watched?;
    let (submitted, killed) = (submitted?, killed?);
    let oracle = Oracle::of(&cluster);
    let ended = clock::monotonic();
    let drained = oracle.drained(Duration::from_secs(30));
    let stuck = poll::until("a task to be stuck", Duration::from_secs(60), || async {
        psql::number(&database, QUEUED_TOO_LONG).await.is_ok_and(|n| n > 0)
    });
    tokio::select! {
        drained = drained => drained?,
        Ok(()) = stuck => anyhow::bail!("tasks were queued for more than 15 s"),
    }
    let resumed = ended.elapsed();
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    assert_eq!(
        oracle.number("select count(*) from task_history where attempt <> 1").await?,
        0,
        "a batcher's death cost an attempt"
    );
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    eprintln!("{tasks} tasks through {killed} kills of the batcher; drained in {resumed:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_task_stays_queued_when_batchers_die() -> anyhow::Result<()> {
    kills(1500, Duration::from_secs(14)).await
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn no_task_of_six_thousand_stays_queued_when_batchers_die_for_a_minute()
    -> anyhow::Result<()> {
        super::kills(6000, Duration::from_secs(60)).await
    }
}
