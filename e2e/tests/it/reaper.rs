//! The reaper against late news: executors freeze for about a lease term while their work ends, or die between the end
//! of a command and the report of it.
//!
//! Expiry and completion compete for one compare-and-set: the loser changes nothing.

use e2e::{Cluster, Customer, Mix, Oracle, Role, Shape, Submitted, freeze};
use rand::RngExt;
use runtime::clock;
use serde_json::Value;
use std::time::Duration;
use testkit::ledger::Ledger;
use testkit::poll;

const SOON: Duration = Duration::from_secs(30);
/// One expiry makes at most one retry: no task loses two attempts with one session, and none goes on without a cause.
const TWO_RETRIES: &str = "select count(*) from (select 1 from attempt where outcome = 'lost'
    group by task_id, session_id having count(*) > 1) d";

async fn cluster(executors: usize) -> anyhow::Result<(Cluster, Customer, Ledger)> {
    let shape =
        Shape::default().with(Role::Api, 1).with(Role::Scheduler, 1).with(Role::ResourceManager, 3);
    let shape =
        shape.with(Role::Executor, executors).set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "3s");
    let cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    Ok((cluster, customer, ledger))
}

fn command(ledger: &Ledger, work: Duration) -> anyhow::Result<Value> {
    Mix { commands: 10, fail_once_percent: 0, work }.task(9, ledger)
}

async fn checks(oracle: &Oracle<'_>, submitted: &Submitted, ledger: &Ledger) -> anyhow::Result<()> {
    oracle.drained(SOON).await?;
    assert_eq!(oracle.violations(submitted, ledger).await?, Vec::<String>::new());
    assert_eq!(oracle.number(TWO_RETRIES).await?, 0, "two retries from one expiry");
    let unexplained =
        "select count(*) from task_history h where h.attempt <> 1 + (select count(*) from attempt a
        where a.task_id = h.id and a.outcome in ('lost', 'not_started', 'handed_back'))";
    assert_eq!(oracle.number(unexplained).await?, 0, "attempts that nothing explains");
    assert_eq!(ledger.runs()?.overlaps(None), Vec::<String>::new());
    Ok(())
}

/// Tasks of the length of the term, on executors that freeze for the length of the term.
async fn frozen(rounds: u32) -> anyhow::Result<()> {
    let (mut cluster, customer, ledger) = cluster(2).await?;
    let mut submitted = Submitted::default();
    let executors = cluster.of(Role::Executor);
    for round in 0..rounds {
        let off = |ms: i64| Duration::from_millis(u64::try_from(3000 + ms).unwrap_or(3000));
        let lengths: Vec<Duration> = (-5..=5).map(|step| off(step * 10)).collect();
        let tasks = lengths
            .iter()
            .map(|work| command(&ledger, *work))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let ids = customer.submit_batch(&tasks, &format!("round-{round}")).await?;
        poll::until("every task to start", SOON, || async {
            ledger.runs().is_ok_and(|runs| ids.iter().all(|id| !runs.of(id).is_empty()))
        })
        .await?;
        submitted.commands.extend(ids.clone());
        submitted.all.extend(ids);
        // From a little before the lease can lapse to well after it has.
        let time = Duration::from_millis(rand::rng().random_range(2700..4000));
        freeze(&mut cluster, executors[round as usize % executors.len()], time).await?;
    }
    let oracle = Oracle::of(&cluster);
    checks(&oracle, &submitted, &ledger).await?;
    let lost = oracle.number("select count(*) from attempt where outcome = 'lost'").await?;
    assert!(lost > 0, "no freeze was long enough to lose a lease");
    eprintln!("{rounds} freezes, {} tasks, {lost} leases lost", submitted.all.len());
    Ok(())
}

/// Kills the executor as soon as a command has written its end: before, while or after its result is spooled and told.
async fn dies_before_the_report(rounds: usize, each: usize) -> anyhow::Result<()> {
    let (mut cluster, customer, ledger) = cluster(1).await?;
    let mut submitted = Submitted::default();
    let victim = cluster.of(Role::Executor)[0];
    for round in 0..rounds {
        let lengths = (0..each).map(|n| Duration::from_millis(50 + 20 * n as u64));
        let tasks =
            lengths.map(|work| command(&ledger, work)).collect::<anyhow::Result<Vec<_>>>()?;
        let ids = customer.submit_batch(&tasks, &format!("round-{round}")).await?;
        let wanted = rand::rng().random_range(1..=each);
        if clock::timeout(SOON, some_end(&ledger, &ids, wanted)).await.is_err() {
            let log = cluster.process(victim)?.log();
            anyhow::bail!("fewer than {wanted} of round {round} ended; its executor says: {log}");
        }
        if each > 1 {
            clock::sleep(Duration::from_millis(rand::rng().random_range(0..15))).await;
        }
        cluster.kill9(victim)?;
        cluster.launch(victim)?;
        submitted.commands.extend(ids.clone());
        submitted.all.extend(ids);
        if each == 1 {
            // So that no kill hits two tasks.
            Oracle::of(&cluster).drained(SOON).await?;
        }
    }
    let oracle = Oracle::of(&cluster);
    checks(&oracle, &submitted, &ledger).await?;
    let runs = ledger.runs()?;
    let ends = |id: &String| runs.of(id).iter().filter(|run| run.ended_ns.is_some()).count();
    let repeated: usize = submitted.all.iter().map(|id| ends(id).saturating_sub(1)).sum();
    let lost = oracle.number("select count(*) from attempt where outcome = 'lost'").await?;
    eprintln!(
        "{rounds} kills, {} tasks: {lost} leases lost, {repeated} executions repeated (at least once is promised)",
        submitted.all.len()
    );
    assert!(lost > 0, "no kill came before a report");
    assert!(repeated <= usize::try_from(lost)?, "{repeated} repeated for {lost} lost attempts");
    Ok(())
}

/// Waits until `wanted` of `ids` have written their end. Looks as often as it can: an end is reported within milliseconds.
async fn some_end(ledger: &Ledger, ids: &[String], wanted: usize) {
    loop {
        // A line that is being written is no line yet.
        let ended = ledger.runs().map_or(0, |runs| {
            let ended = |id: &&String| runs.of(id).iter().any(|run| run.ended_ns.is_some());
            ids.iter().filter(ended).count()
        });
        if ended >= wanted {
            return;
        }
        clock::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_frozen_for_the_term_ends_no_task_twice() -> anyhow::Result<()> {
    frozen(3).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_dies_before_its_report_costs_a_repetition_and_no_more()
-> anyhow::Result<()> {
    dies_before_the_report(6, 10).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn executors_frozen_ninety_times_for_the_term_end_none_of_a_thousand_tasks_twice()
    -> anyhow::Result<()> {
        super::frozen(91).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_executor_that_dies_two_hundred_times_before_its_report_costs_repetitions_and_no_more()
    -> anyhow::Result<()> {
        super::dies_before_the_report(200, 10).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_executor_that_dies_two_hundred_times_with_one_task_each_repeats_no_more_than_that()
    -> anyhow::Result<()> {
        super::dies_before_the_report(200, 1).await
    }
}
