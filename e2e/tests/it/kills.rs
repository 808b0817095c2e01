//! kill -9 of each role in turn, and of the broker, while tasks flow: the promises hold.
//!
//! The outside ledger is written by the tasks themselves. Promise 11: after each kill of a process a task that was
//! submitted since ends within lease term + 2 s, and what a killed executor held is placed again within that time; after
//! each return of the broker a task that was placed since ends within 10 s.

use e2e::{Cluster, Customer, Mix, Oracle, Role, Shape, now_ms};
use runtime::clock;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::services::{PrivateRabbit, TestBroker};

/// The lease term of [`Shape::default`] and 2 s.
const AFTER_A_KILL: Duration = Duration::from_secs(5 + 2);
/// The same after an engine's return.
const AFTER_A_RETURN: Duration = Duration::from_secs(10);

/// When a process was killed, in ms since 1970: Postgres runs on this machine, so that its times are by the same clock.
struct Kill {
    role: Role,
    /// Among those of its role.
    number: usize,
    at_ms: i64,
}

/// Kills every process of every role once, one after the other, starting each again at once.
async fn carousel(tasks: usize, pause: Duration) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let mix = Mix { commands: 4, fail_once_percent: 25, work: Duration::from_millis(20) };
    let victims: Vec<(Role, usize, usize)> = Role::ALL
        .into_iter()
        .flat_map(|role| cluster.of(role).into_iter().enumerate().map(move |(n, at)| (role, n, at)))
        .collect();
    // Tasks come for a while after the last kill, too, also where it takes time to start processes.
    let over = pause * u32::try_from(victims.len() + 3)?;
    let (submitted, kills) =
        tokio::join!(mix.submit(&customer, &ledger, (tasks, 25), over), async {
            let mut kills = Vec::new();
            for (role, number, at) in victims {
                clock::sleep(pause).await;
                kills.push(Kill { role, number, at_ms: now_ms() });
                cluster.kill9(at)?;
                cluster.launch(at)?;
            }
            Ok::<_, anyhow::Error>(kills)
        });
    let (submitted, kills) = (submitted?, kills?);
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(60)).await?;
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    for Kill { role, number, at_ms } in kills {
        let resumed = oracle.first_end_after(at_ms, "s.created_at").await?;
        eprintln!("{role:?} {number} killed: a task submitted since ended after {resumed:?}");
        assert!(resumed <= AFTER_A_KILL, "work resumed only {resumed:?} after {role:?} {number}");
        if role == Role::Executor {
            let (lost, again) = placed_again_after(&oracle, at_ms, number).await?;
            eprintln!("    it held {lost} task(s); the last was placed again after {again:?}");
            assert!(again <= AFTER_A_KILL, "what it held waited {again:?}");
        }
    }
    Ok(())
}

/// The broker is killed and comes back, the second time without anything it held.
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
    let over = Duration::from_secs(30);
    let (submitted, returns) =
        tokio::join!(mix.submit(&customer, &ledger, (tasks, 25), over), async {
            let mut returns = Vec::new();
            // The second outage begins when the time to resume after the first is over.
            for (empty, after) in [(false, Duration::from_secs(3)), (true, AFTER_A_RETURN)] {
                clock::sleep(after).await;
                if empty {
                    rabbit.lose_data()?;
                } else {
                    rabbit.kill9()?;
                }
                clock::sleep(Duration::from_secs(1)).await;
                rabbit.restart().await?;
                returns.push((empty, now_ms()));
            }
            Ok::<_, anyhow::Error>(returns)
        });
    let (submitted, returns) = (submitted?, returns?);
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(60)).await?;
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    for (empty, at_ms) in returns {
        let resumed = oracle.first_end_after(at_ms, "a.placed_at").await?;
        eprintln!("broker back (empty: {empty}): a task placed since ended after {resumed:?}");
        assert!(resumed <= AFTER_A_RETURN, "work resumed only {resumed:?} after the return");
    }
    for at in Role::ALL.into_iter().flat_map(|role| cluster.of(role)).collect::<Vec<_>>() {
        assert!(!cluster.process(at)?.log().contains("panicked"));
    }
    Ok(())
}

/// What the executor with this number held at `at_ms` and did not end: how many tasks, and how much later the last of
/// them was placed again; zero where it held none.
async fn placed_again_after(
    oracle: &Oracle<'_>,
    at_ms: i64,
    executor: usize,
) -> anyhow::Result<(i64, Duration)> {
    let of_lost = |what: &str| {
        format!(
            "select {what} from attempt l join executor_session e on e.id = l.session_id
            left join attempt n on n.task_id = l.task_id and n.attempt = l.attempt + 1
            where e.executor_id = 'executor-{executor}' and not l.charged
                and to_timestamp({at_ms} / 1000.0) between l.placed_at and l.ended_at"
        )
    };
    let last =
        format!("coalesce(ceil(extract(epoch from max(n.placed_at)) * 1000)::bigint - {at_ms}, 0)");
    let gone = oracle.number(&of_lost("count(*) filter (where n.task_id is null)")).await?;
    anyhow::ensure!(gone == 0, "{gone} task(s) of a killed executor were not placed again");
    let last = Duration::from_millis(oracle.number(&of_lost(&last)).await?.try_into()?);
    Ok((oracle.number(&of_lost("count(*)")).await?, last))
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
