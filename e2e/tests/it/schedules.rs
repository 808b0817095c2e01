//! Two schedulers fire schedules; one is killed, or frozen, again and again. Nothing runs the tasks: how they are made is what counts.

use anyhow::Context;
use chrono::TimeDelta;
use domain::time::Timestamp;
use e2e::{Cluster, Customer, Role, Schedules, Shape};
use runtime::clock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::poll;

const EVERY: Duration = Duration::from_secs(10);
/// When the first is due.
const LEAD: Duration = Duration::from_secs(3);
/// The longest that due times may wait because a scheduler has died.
const HOLE: Duration = Duration::from_secs(5);

/// Schedulers and nothing else.
async fn schedulers(count: usize) -> anyhow::Result<Cluster> {
    let shape = [Role::Api, Role::ResourceManager, Role::Executor]
        .into_iter()
        .fold(Shape::default(), |shape, role| shape.with(role, 0));
    Cluster::start(shape.with(Role::Scheduler, count)).await
}

async fn check(schedules: &Schedules, cluster: &Cluster) -> anyhow::Result<()> {
    assert_eq!(schedules.faults(HOLE).await?, Vec::<String>::new());
    assert_eq!(schedules.left_out().await?, 0, "nothing was late enough to be a misfire");
    let late = schedules.lateness(Duration::ZERO).await?;
    eprintln!(
        "{} due times: p50 {:.1} ms late, p99 {:.0} ms, the last {:.0} ms",
        late.fired, late.p50, late.p99, late.max
    );
    assert!(late.max <= HOLE.as_secs_f64() * 1000.0, "{late:?}");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

/// Kills one of two every 5 s, in turn, while `rate` due times come a second.
async fn kills(rate: u32, length: Duration) -> anyhow::Result<()> {
    let cluster = schedulers(2).await?;
    let count = rate * u32::try_from(EVERY.as_secs())?;
    let schedules = Schedules::store(&cluster, count, EVERY, LEAD, true).await?;
    killed(cluster, schedules, length).await
}

/// Kills one of two every 5 s, in turn.
async fn killed(
    mut cluster: Cluster,
    schedules: Schedules,
    length: Duration,
) -> anyhow::Result<()> {
    let both = cluster.of(Role::Scheduler);
    let (began, mut killed) = (clock::monotonic(), 0_usize);
    clock::sleep(LEAD).await;
    while began.elapsed() < length {
        let at = both[killed % both.len()];
        cluster.kill9(at)?;
        cluster.launch(at)?;
        killed += 1;
        clock::sleep(Duration::from_secs(5)).await;
    }
    eprintln!("{killed} kills in {length:?}");
    check(&schedules, &cluster).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_scheduler_costs_a_moment_and_no_due_time() -> anyhow::Result<()> {
    kills(200, Duration::from_secs(20)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_scheduler_loses_and_doubles_no_workflow_run() -> anyhow::Result<()> {
    let cluster = schedulers(2).await?;
    // Runs of a tenant start one after the other: a rate that an unoptimised build keeps up with beside other tests, so that
    // the hole after a kill is measured, and no queue.
    let schedules = Schedules::store_runs(&cluster, 80, EVERY, LEAD).await?;
    killed(cluster, schedules, Duration::from_secs(20)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_frozen_for_three_terms_writes_nothing_any_more() -> anyhow::Result<()> {
    let mut cluster = schedulers(2).await?;
    let schedules = Schedules::store(&cluster, 2000, EVERY, Duration::from_secs(3), true).await?;
    let both = cluster.of(Role::Scheduler);
    clock::sleep(Duration::from_secs(6)).await;
    for at in both {
        cluster.process(at)?.stop()?;
        clock::sleep(Duration::from_secs(9)).await;
        cluster.process(at)?.cont()?;
        clock::sleep(Duration::from_secs(4)).await;
    }
    check(&schedules, &cluster).await
}

/// A schedule that is due each `every`, and fires whatever is overdue.
fn each(every: &str) -> Value {
    json!({ "timing": { "specs": [{ "every": { "every": every, "anchor": "2026-01-01T00:00:00Z" } }] },
        "overlap": "allow", "misfire": "fire_now", "task": { "run": { "noop": {} } } })
}

/// Makes an edit; when it was made.
async fn edit(
    customer: &Customer,
    verb: &str,
    path: &str,
    body: &Value,
) -> anyhow::Result<Timestamp> {
    let (status, schedule) = customer.call(verb, path, Some(body), None).await?;
    anyhow::ensure!(status < 300, "{verb} {path}: {status} {schedule}");
    Ok(schedule["updated_at"].as_str().context("an instant")?.parse()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_before_an_edit_is_judged_by_what_held_then_though_every_scheduler_was_frozen()
-> anyhow::Result<()> {
    let shape = Shape::default().with(Role::Api, 1).with(Role::Scheduler, 1);
    let shape = shape.with(Role::ResourceManager, 0).with(Role::Executor, 0);
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let made = edit(&customer, "PUT", "/v1/schedules/s", &each("1s")).await?;
    let between = async || clock::sleep(Duration::from_millis(2500)).await;
    between().await;
    let scheduler = cluster.of(Role::Scheduler)[0];
    cluster.process(scheduler)?.stop()?;
    between().await;
    let paused = edit(&customer, "POST", "/v1/schedules/s/pause", &json!({})).await?;
    between().await;
    let resumed = edit(&customer, "POST", "/v1/schedules/s/resume", &json!({})).await?;
    between().await;
    let slower = edit(&customer, "PUT", "/v1/schedules/s", &each("5s")).await?;
    between().await;
    cluster.process(scheduler)?.cont()?;

    let rows = async || -> Option<BTreeMap<Timestamp, String>> {
        let path = "/v1/schedules/s/fires?limit=200";
        let (_, page) = customer.call("GET", path, None, None).await.ok()?;
        let text = |row: &Value, field: &str| row[field].as_str().map(str::to_owned);
        let rows = page["data"].as_array()?.iter();
        rows.map(|row| Some((text(row, "due_at")?.parse().ok()?, text(row, "outcome")?))).collect()
    };
    let done = async || {
        rows().await.filter(|rows| rows.last_key_value().is_some_and(|(due, _)| *due > slower))
    };
    let rows = poll::until_some("a fire of the last timing", Duration::from_secs(30), done).await?;
    let mut due = made;
    for (at, outcome) in &rows {
        let step = if *at > slower { 5 } else { 1 };
        assert!(*at - due <= TimeDelta::seconds(step), "none is left out before {at}: {rows:?}");
        let in_pause = *at > paused && *at <= resumed;
        assert_eq!(outcome == "paused", in_pause, "{at}, paused {paused} to {resumed}: {rows:?}");
        assert!(in_pause || ["fired", "late"].contains(&outcome.as_str()), "{at}: {rows:?}");
        due = *at;
    }
    assert!(rows.range(..=slower).count() >= 9, "{rows:?}");
    Ok(())
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn two_schedulers_killed_in_turn_for_two_minutes_at_a_thousand_a_second()
    -> anyhow::Result<()> {
        super::kills(1000, Duration::from_secs(120)).await
    }
}
