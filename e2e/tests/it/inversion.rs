//! Urgent tasks behind a backlog: what is in the broker cannot be overtaken any more, so little enough is kept there.

use e2e::{Cluster, Customer, Oracle, Role, Shape, Submitted, sum};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::ledger::Ledger;
use testkit::poll;

/// Slots of the three executors of [`Shape::default`].
const SLOTS: i64 = 3 * 64;
/// Promised where at least this many slots come free a second.
const TURNOVER: f64 = 200.0;
const URGENT_P99_MS: i64 = 500;
/// Urgent tasks that come together.
const WAVE: usize = 5;

fn noop(name: &str, length_ms: usize, tolerance: &str) -> Value {
    json!({ "name": name, "run": { "noop": { "sleep": format!("{length_ms}ms") } }, "delay_tolerance": tolerance })
}

/// Tasks of 300 to 1000 ms, mixed: slots come free evenly, nearly 300 a second.
fn backlog(count: usize) -> Vec<Value> {
    (0..count).map(|number| noop("patient", 300 + number * 191 % 700, "2h")).collect()
}

/// The middle one; sorts them.
fn median(values: &mut [i64]) -> i64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

async fn urgent_overtakes(patient: usize, urgent: usize) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(Shape::default().with(Role::Api, 1)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let oracle = Oracle::of(&cluster);
    oracle.free_again(SLOTS, Duration::from_secs(20)).await?;
    let mut all = customer.submit_batch(&backlog(patient), "patient").await?;
    let ended = "select count(*) from task_history";
    let soon = Duration::from_secs(20);
    poll::until("the backlog to move", soon, || async {
        oracle.number(ended).await.is_ok_and(|n| n >= SLOTS)
    })
    .await?;
    let in_the_broker = "select coalesce(sum(slots), 0)::bigint from task where state = 'queued'";
    let (mut depths, mut idle) = (Vec::new(), Vec::new());
    // A few at a time, so that each meets another moment.
    for (wave, size) in (0..urgent).step_by(WAVE).map(|at| (at, WAVE.min(urgent - at))) {
        let ids = customer
            .submit_batch(&vec![noop("urgent", 0, "1s"); size], &format!("urgent-{wave}"))
            .await?;
        all.extend(ids);
        clock::sleep(Duration::from_millis(150)).await;
        depths.push(oracle.number(in_the_broker).await?);
        idle.push(oracle.free_slots().await?);
    }
    let last_urgent =
        "select count(*) from task_spec s join task t on t.id = s.id where s.name = 'urgent'";
    poll::until("the urgent tasks to end", soon, || async {
        oracle.number(last_urgent).await.is_ok_and(|n| n == 0)
    })
    .await?;
    let behind = oracle.number("select count(*) from task where state = 'ready'").await?;
    assert!(behind > 0, "no backlog was left to overtake");

    let late = |share: f64| {
        let order = "within group (order by h.first_started_at - h.run_at)";
        let of = "from task_history h join task_spec s on s.id = h.id where s.name = 'urgent'";
        format!(
            "select ceil(extract(epoch from percentile_disc({share}) {order}) * 1000)::bigint {of}"
        )
    };
    let (p50, p99) = (oracle.number(&late(0.5)).await?, oracle.number(&late(0.99)).await?);
    oracle.drained(Duration::from_secs(120)).await?;
    // While the urgent ones came, so without the ramp at both ends.
    let rate = "with w as (select min(h.run_at) as low, max(h.first_started_at) as high from task_history h join task_spec s on s.id = h.id where s.name = 'urgent')
        select (count(*) * 1000 / extract(epoch from max(w.high) - max(w.low)))::bigint from attempt a, w where a.ended_at between w.low and w.high";
    let turnover = oracle.number(rate).await? as f64 / 1000.0;
    let submitted = Submitted { all, commands: Vec::new() };
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    let bounced =
        sum(&mut cluster, Role::ResourceManager, "berth_unplaced_tasks_total", &[]).await?;
    eprintln!(
        "urgent p50 {p50} ms, p99 {p99} ms at {turnover:.0} slots/s with {behind} tasks left behind; {bounced} tasks given back for want of room; in the broker {} slots (median), {} at most; idle {} of {SLOTS} (median)",
        median(&mut depths),
        depths.last().copied().unwrap_or_default(),
        median(&mut idle),
    );
    // What can no longer be overtaken is at most a quarter of a second of work, and keeps the executors busy all the same.
    let deepest = depths.last().copied().unwrap_or_default() as f64;
    assert!(deepest <= turnover * 0.25 + WAVE as f64, "{deepest} slots were in the broker");
    assert!(median(&mut idle) <= SLOTS / 10, "idle beside a backlog: {idle:?}");
    assert!(turnover >= TURNOVER, "only {turnover} slots a second came free");
    assert!(p99 <= URGENT_P99_MS, "urgent tasks started after {p99} ms (p99)");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn urgent_tasks_overtake_a_backlog_of_two_thousand() -> anyhow::Result<()> {
    urgent_overtakes(2000, 50).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn urgent_tasks_overtake_a_backlog_of_ten_thousand() -> anyhow::Result<()> {
        super::urgent_overtakes(10_000, 100).await
    }
}
