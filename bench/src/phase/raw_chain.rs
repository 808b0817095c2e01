//! The path of a single task through the engines alone, 200 times a second: store, wake-up, mark, hint, claim, in
//! sequence.
//!
//! The raw counterpart of `submit_to_start`: the same commits (the mark does not wait for the disk) and the same two
//! messages, with minimal statements and no other work. One task at a time, so none waits for another.

use super::raw_hop::{batch, settings};
use super::raw_postgres::DRAIN;
use crate::fine_timer::FineTimer;
use crate::report::Measured;
use crate::statistics::percentile;
use anyhow::{Context, ensure};
use bus::{Bus, PublishOutcome, Topic};
use domain::id::PoolName;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use runtime::clock;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::psql::Session;
use testkit::services::TestBroker;

const EVERY: Duration = Duration::from_millis(5);
const LATE: Duration = Duration::from_secs(10);
const STORE: &str = "prepare one as insert into raw_task (id, tenant_id, pool, state, priority, run_at, payload, attempt, created_at)
    values (gen_random_uuid(), '01900000-0000-7000-8000-000000000001', 'default', 0, 0, now(), '{}', 0, now()) returning 1";
const MARK: &str = "set synchronous_commit = off; prepare one as update raw_task set state = 1 where id = (
    select id from raw_task where state = 0 order by run_at, id limit 1 for update skip locked) returning id";
const CLAIM: &str =
    "prepare one(uuid) as update raw_task set state = 2, attempt = attempt + 1, claimed_at = now()
    where id = $1 and state = 1 returning 1";

/// For `length`, after a second to warm up.
pub async fn raw_chain(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let database = TestDatabase::new().await?;
    for statement in DRAIN.replace(":tasks", "0").split_inclusive(";\n") {
        database.sql(statement).await?;
    }
    let broker = TestBroker::new().await?;
    let (tasks, (stop, shutdown)) = (TaskGroup::new(), Shutdown::new());
    // A process wakes itself without the broker: so three of them, as there are processes.
    let bus = || Bus::connect(&settings(&broker), &tasks, &shutdown);
    let (from, between, to) = (bus()?, bus()?, bus()?);
    for one in [&from, &between, &to] {
        ensure!(one.wait_connected(LATE).await, "no connection to the broker");
    }
    let mut chain = Chain {
        store: prepared(&database, STORE).await?,
        mark: prepared(&database, MARK).await?,
        claim: prepared(&database, CLAIM).await?,
        woken: between.wakeups(&[Topic::Batcher]),
        consumer: to.consume(&"bench".parse()?, 10),
        pool: "bench".parse()?,
        from,
        between,
        confirms: PendingConfirms::new(),
    };
    chain.run(Duration::from_secs(1)).await?;
    let took = chain.run(length).await?;
    drop(chain);
    stop.shut_down();
    let _late = tasks.join_all(Duration::from_secs(5)).await;
    let of = |share| percentile(&took, share).unwrap_or_default();
    Ok(vec![
        Measured::new("raw_submit_to_start_p50_ms", of(0.5)),
        Measured::new("raw_submit_to_start_p99_ms", of(0.99)).with("max_ms", of(1.0)),
    ])
}

struct Chain {
    store: Session,
    mark: Session,
    claim: Session,
    from: Bus,
    woken: bus::Wakeups,
    between: Bus,
    pool: PoolName,
    consumer: bus::HintConsumer,
    confirms: PendingConfirms,
}

/// Of the broker, to hints.
type PendingConfirms = FuturesUnordered<BoxFuture<'static, Vec<PublishOutcome>>>;

impl Chain {
    /// Of each, in milliseconds, from when it should have gone out, as those of `submit_to_start` are; where the one before it was not
    /// through by then, from its end.
    async fn run(&mut self, length: Duration) -> anyhow::Result<Vec<f64>> {
        let timer = FineTimer::new();
        let began = clock::monotonic();
        let mut took = Vec::new();
        for number in 0.. {
            let due = began + EVERY * number;
            if due > began + length {
                break;
            }
            let from = due.max(clock::monotonic());
            timer.until(due).await;
            self.one().await?;
            took.push(from.elapsed().as_secs_f64() * 1e3);
        }
        clock::timeout(LATE, confirmed(&mut self.confirms))
            .await
            .context("a hint's answer is lost")??;
        Ok(took)
    }

    async fn one(&mut self) -> anyhow::Result<()> {
        let stored = self.store.row("execute one").await?;
        ensure!(stored == "1", "stored: {stored}");
        self.from.wake(Topic::Batcher);
        clock::timeout(LATE, self.woken.next()).await.context("a wake-up is lost")?;
        let id = self.mark.row("execute one").await?;
        let claimed = async {
            let next =
                clock::timeout(LATE, self.consumer.next()).await.context("a hint is lost")?;
            let claimed = self.claim.row(&format!("execute one('{id}')")).await?;
            next.context("the bus has ended")?.ack();
            ensure!(claimed == "1", "claimed: {claimed}");
            anyhow::Ok(())
        };
        let (between, pool) = (self.between.clone(), self.pool.clone());
        self.confirms.push(Box::pin(async move { between.publish(&pool, vec![batch(1)]).await }));
        // The claim does not wait for the broker's confirm, as the batcher does not.
        let mut claimed = std::pin::pin!(claimed);
        tokio::select! {
            claimed = &mut claimed => return claimed,
            none_left = confirmed(&mut self.confirms) => none_left?,
        }
        claimed.await
    }
}

/// Waits for all answers.
async fn confirmed(confirms: &mut PendingConfirms) -> anyhow::Result<()> {
    while let Some(outcomes) = confirms.next().await {
        ensure!(outcomes.iter().all(|outcome| outcome.is_confirmed()), "a hint was not confirmed");
    }
    Ok(())
}

async fn prepared(database: &TestDatabase, statement: &str) -> anyhow::Result<Session> {
    let mut session = Session::open(database.owner_url())?;
    session.row(&format!("{statement};\nselect 1")).await?;
    Ok(session)
}
