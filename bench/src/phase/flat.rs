//! Cost of a task and latency of reads, by backlog and history.
//!
//! In turn with a small backlog, with millions of waiting and finished tasks, and with a small backlog again. Submits
//! replace finished tasks, so that the backlog stays constant. Takes gigabytes of disk and many minutes: `SCALE=1 make
//! bench`, or `--scale`.

use crate::progress::say;
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::percentile;
use anyhow::Context;
use bytes::Bytes;
use runtime::clock;
use std::time::Duration;
use testkit::psql::Session;

const FLAT: &str = include_str!("../../sql/flat.sql");
/// Whose tasks wait: as many in each turn, so that only how much waits differs.
const TENANTS: u32 = 200;
const FEW: u32 = 10_000;
/// Until caches are warm.
const WARM: Duration = Duration::from_secs(3);
/// Some 1300 tasks of the [`FEW`] are gone after this at 25 000 a second.
const REFILL_EVERY: Duration = Duration::from_millis(50);
/// Of each kind.
const READS: u32 = 400;
/// Of each page.
const PAGES: u32 = 60;

/// With `many` that wait and `ended` that have ended, against few and none. Each is measured for `length`.
pub async fn flat(many: u32, ended: u32, length: Duration) -> anyhow::Result<Vec<Measured>> {
    let (first, _) = turn(FEW, 0, length).await?;
    let (full, reads) = turn(many, ended, length).await?;
    let (last, _) = turn(FEW, 0, length).await?;
    let few = f64::midpoint(first, last);
    let mut all = vec![
        Measured::new("cost_where_many_wait", full / few)
            .with("few_us", few)
            .with("many_us", full)
            .with("few_again", last / first)
            .with("waiting", many.into())
            .with("ended", ended.into()),
    ];
    all.extend(reads);
    Ok(all)
}

/// Processor time of all parts for a task, in microseconds, and what reads take.
async fn turn(waiting: u32, ended: u32, length: Duration) -> anyhow::Result<(f64, Vec<Measured>)> {
    let mut rig = Rig::start(0).await?;
    models(&rig).await?;
    say(&format!("    {waiting} that wait and {ended} that have ended are stored"));
    rig.sql(FLAT).await?;
    // The one that they are copies of is not one of them.
    rig.sql("delete from task").await?;
    rig.sql(&format!("call bench_fill({TENANTS}, {}, {})", waiting / TENANTS, ended / TENANTS))
        .await?;
    rig.sql("vacuum (analyze) task, task_spec, task_history, attempt").await?;
    rig.sql("checkpoint").await?;
    let reads = if ended > 0 { reads(&rig).await? } else { Vec::new() };

    rig.add_executor().await?;
    let mut refill = Refill::start(&mut rig).await?;
    refill.refill(&mut rig, WARM).await?;
    let meter = rig.meter().await?;
    let (before, placed) = (meter.read(), refill.placed);
    refill.refill(&mut rig, length).await?;
    let count = refill.placed - placed;
    let cpu = meter.since(&before, u64::from(count));
    let us = cpu.us_per_item.iter().filter(|(name, _)| **name != "bench").map(|(_, us)| us).sum();
    measured_well(&rig, waiting).await?;
    say(&format!("    {count} tasks in {length:?}, {us:.1} us each: {:.1?}", cpu.us_per_item));
    Ok((us, reads))
}

/// Fails where an attempt did not succeed, or where so little waited at the end that the backlog was no longer what it was to be.
async fn measured_well(rig: &Rig, waiting: u32) -> anyhow::Result<()> {
    let left = "select (select count(*) from attempt where outcome <> 'succeeded'), (select count(*) from task where state = 'ready')";
    let left = rig.numbers(left).await?;
    let least = f64::from(waiting) / 2.0;
    anyhow::ensure!(left[0] == 0.0, "{} attempts did not succeed", left[0]);
    anyhow::ensure!(left[1] >= least, "only {} wait of {waiting} that were to", left[1]);
    Ok(())
}

/// One that waits and one that has ended, to be copied.
async fn models(rig: &Rig) -> anyhow::Result<()> {
    let mut api = rig.connections(1).await?;
    let body = super::body::task();
    api[0].post("/v1/tasks", body.clone(), 201).await?;
    let gone: serde_json::Value =
        serde_json::from_slice(&api[0].post("/v1/tasks", body, 201).await?)?;
    let gone = gone["id"].as_str().context("a task without an id")?;
    api[0].post(&format!("/v1/tasks/{gone}/cancel"), Bytes::new(), 200).await.map(drop)
}

/// As many new tasks as were placed, and as will be until the next.
struct Refill {
    session: Session,
    placed: u32,
    put: u32,
}

impl Refill {
    async fn start(rig: &mut Rig) -> anyhow::Result<Self> {
        let placed = rig.placed().await?;
        Ok(Self { session: Session::open(rig.database_url())?, placed, put: placed })
    }

    async fn refill(&mut self, rig: &mut Rig, length: Duration) -> anyhow::Result<()> {
        let until = clock::monotonic() + length;
        while clock::monotonic() < until {
            clock::sleep(REFILL_EVERY).await;
            let placed = rig.placed().await?;
            // Looking and putting take time, in which thousands go: as many, it is taken, as since the last.
            let wanted = placed + (placed - self.placed);
            let new = wanted.saturating_sub(self.put);
            self.session.run(&format!("call bench_refill({}, {new})", self.put)).await?;
            (self.placed, self.put) = (placed, self.put + new);
        }
        Ok(())
    }
}

/// What the customer of the bench sees of its own, one request at a time.
async fn reads(rig: &Rig) -> anyhow::Result<Vec<Measured>> {
    let own = "tenant_id = (select id from bench_tenant where place = 0)";
    let pick = |table: &str| {
        format!(
            "select 'task_' || replace(id::text, '-', '') from {table} where {own} order by random() limit {READS}"
        )
    };
    let waiting = rig.sql(&pick("task")).await?;
    let ended = rig.sql(&pick("task_history")).await?;
    let mut api = rig.connections(1).await?;
    let api = &mut api[0];
    let one = |id: &str| format!("/v1/tasks/{id}");
    let mut all = Vec::new();
    for (key, paths) in [
        ("get_waiting_p95_ms", waiting.lines().map(one).collect::<Vec<_>>()),
        ("get_ended_p95_ms", ended.lines().map(one).collect()),
        ("explain_p95_ms", waiting.lines().map(|id| format!("/v1/tasks/{id}/explain")).collect()),
        ("list_p95_ms", waiting.lines().map(|_| "/v1/tasks".to_owned()).collect()),
        (
            "list_succeeded_p95_ms",
            ended.lines().map(|_| "/v1/tasks?state=succeeded".to_owned()).collect(),
        ),
    ] {
        let mut took = Vec::new();
        for path in paths {
            let started = clock::monotonic();
            api.get(&path).await?;
            took.push(started.elapsed().as_secs_f64() * 1e3);
        }
        let of = |share| percentile(&took, share).context("nothing was read");
        all.push(Measured::new(key, of(0.95)?).with("p50_ms", of(0.5)?).with("max_ms", of(1.0)?));
    }
    all.push(pages(rig, &waiting).await?);
    Ok(all)
}

/// The slowest page of the dashboard, with what each takes.
async fn pages(rig: &Rig, waiting: &str) -> anyhow::Result<Measured> {
    let mut pages = rig.pages().await?;
    let task = format!("/tasks/{}", waiting.lines().next().context("nothing waits")?);
    let mut figures = Vec::new();
    for (name, path) in [
        ("overview_p95_ms", "/"),
        ("tasks_p95_ms", "/tasks"),
        ("failed_tasks_p95_ms", "/tasks?state=failed"),
        ("task_p95_ms", task.as_str()),
        ("schedules_p95_ms", "/schedules"),
        ("runs_p95_ms", "/workflows/runs"),
        ("costs_p95_ms", "/costs"),
        ("account_p95_ms", "/account"),
    ] {
        let mut took = Vec::new();
        for _ in 0..PAGES {
            let started = clock::monotonic();
            pages.get(path).await?;
            took.push(started.elapsed().as_secs_f64() * 1e3);
        }
        figures.push((name, percentile(&took, 0.95).context("no page was loaded")?));
    }
    let slowest = figures.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
    let all = Measured::new("pages_p95_ms", slowest);
    Ok(figures.into_iter().fold(all, |all, (name, ms)| all.with(name, ms)))
}
