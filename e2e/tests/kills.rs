//! kill -9 of each role in turn, and of the broker, while tasks flow: the promises hold.
//!
//! The outside ledger is written by the tasks themselves. Promise 11: work resumes by itself within lease term + 2 s.

use e2e::{Cluster, Customer, Mix, Oracle, Role, Shape};
use runtime::clock;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::services::{PrivateRabbit, TestBroker};

/// Kills every process of every role once, one after the other, starting each again at once.
async fn carousel(tasks: usize, pause: Duration) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let mix = Mix { commands: 4, fail_once_percent: 25, work: Duration::from_millis(20) };
    let victims: Vec<usize> = Role::ALL.into_iter().flat_map(|role| cluster.of(role)).collect();
    let over = pause * u32::try_from(victims.len())?;
    let (submitted, killed) =
        tokio::join!(mix.submit(&customer, &ledger, (tasks, 25), over), async {
            for at in victims {
                clock::sleep(pause).await;
                cluster.kill9(at)?;
                cluster.launch(at)?;
            }
            Ok::<_, anyhow::Error>(())
        });
    killed?;
    let submitted = submitted?;
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(60)).await?;
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    Ok(())
}

/// The broker is killed and comes back, with its queue lost the second time.
async fn broker(tasks: usize) -> anyhow::Result<()> {
    let mut rabbit = PrivateRabbit::start().await?;
    let shape = Shape::default();
    let mut cluster = Cluster::on(
        shape,
        TestDatabase::new().await?,
        TestBroker::new().await?,
        Some(rabbit.url()?),
    )
    .await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let mix = Mix { commands: 4, fail_once_percent: 25, work: Duration::from_millis(5) };
    let over = Duration::from_secs(20);
    let (submitted, killed) =
        tokio::join!(mix.submit(&customer, &ledger, (tasks, 25), over), async {
            for _ in 0..2 {
                clock::sleep(Duration::from_secs(3)).await;
                rabbit.kill9()?;
                clock::sleep(Duration::from_secs(1)).await;
                rabbit.restart().await?;
            }
            Ok::<_, anyhow::Error>(())
        });
    killed?;
    let submitted = submitted?;
    let back = clock::monotonic();
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(60)).await?;
    let resumed = back.elapsed();
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    assert!(
        resumed < Duration::from_secs(30),
        "the backlog took {resumed:?} after the broker's return"
    );
    for at in Role::ALL.into_iter().flat_map(|role| cluster.of(role)).collect::<Vec<_>>() {
        assert!(!cluster.process(at)?.log().contains("panicked"));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_process_may_be_killed_while_tasks_flow() -> anyhow::Result<()> {
    carousel(900, Duration::from_secs(2)).await
}

mod own_engines {
    #[tokio::test(flavor = "multi_thread")]
    async fn the_broker_may_be_killed_while_tasks_flow() -> anyhow::Result<()> {
        super::broker(800).await
    }
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn each_process_may_be_killed_while_five_thousand_tasks_flow() -> anyhow::Result<()> {
        super::carousel(5000, Duration::from_secs(4)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_broker_may_be_killed_while_five_thousand_tasks_flow() -> anyhow::Result<()> {
        super::broker(5000).await
    }
}
