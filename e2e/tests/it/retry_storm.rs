//! A target fails for a while under steady traffic, and heals: it is hardly called more often than there are tasks, others do not
//! notice, tasks say why they wait, and all of it is made up for soon after.

use anyhow::{Context, ensure};
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use runtime::clock::{self, Instant};
use runtime::tasks::TaskGroup;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Everything is made up for within this after the target has healed.
const STEADY: Duration = Duration::from_secs(60);
/// Between two batches of tasks.
const STEP: Duration = Duration::from_millis(250);

/// An HTTP server that counts what it is asked, and answers 503 while it fails.
#[derive(Debug, Default)]
struct Target {
    fails: AtomicBool,
    refused: AtomicUsize,
    answered: AtomicUsize,
}

impl Target {
    async fn start(tasks: &TaskGroup) -> anyhow::Result<(Arc<Self>, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let target = Arc::new(Self::default());
        let (served, group) = (Arc::clone(&target), tasks.clone());
        tasks.spawn_detached("target", async move {
            while let Ok((stream, _)) = listener.accept().await {
                let target = Arc::clone(&served);
                group.spawn_detached("call", async move {
                    target.answer(stream).await.ok();
                });
            }
        });
        Ok((target, url))
    }

    async fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (mut head, mut part) = (Vec::new(), [0; 4096]);
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read(&mut part).await?;
            if read == 0 {
                return Ok(());
            }
            head.extend_from_slice(&part[..read]);
        }
        let (counter, status) = if self.fails.load(Ordering::Relaxed) {
            (&self.refused, "503 Down")
        } else {
            (&self.answered, "200 OK")
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    }
}

/// How much, and how long.
struct Storm {
    /// Tasks a second to the target that fails.
    rate: usize,
    /// Tasks a second to another.
    others: usize,
    /// How long it fails.
    length: Duration,
}

struct World {
    cluster: Cluster,
    customer: Customer,
    target: Arc<Target>,
    url: String,
    other: String,
    batches: usize,
    _tasks: TaskGroup,
}

impl World {
    async fn start() -> anyhow::Result<Self> {
        let tasks = TaskGroup::new();
        let (target, url) = Target::start(&tasks).await?;
        let (_, other) = Target::start(&tasks).await?;
        let mut cluster = Cluster::start(Shape::default().with(Role::Executor, 0)).await?;
        cluster
            .berth(&[
                "admin",
                "pool",
                "set",
                "inner",
                "--private-targets",
                "on",
                "--everyone",
                "on",
            ])
            .await?;
        cluster.set("BERTH_EXECUTOR__POOL", "inner");
        for _ in 0..2 {
            cluster.join(Role::Executor).await?;
        }
        let customer = Customer::sign_up(&cluster, "acme").await?;
        let world = Self { cluster, customer, target, url, other, batches: 0, _tasks: tasks };
        world.pool_is_known().await?;
        Ok(world)
    }

    /// The api processes look at the list of pools now and then.
    async fn pool_is_known(&self) -> anyhow::Result<()> {
        let noop = json!({"run": {"noop": {}}, "pool": "inner"});
        let until = clock::monotonic() + Duration::from_secs(30);
        let mut known = 0;
        // Each api process is asked in turn.
        while known < 2 * self.cluster.api_urls().len() {
            let (status, answer) =
                self.customer.call("POST", "/v1/tasks", Some(&noop), None).await?;
            known = if status == 201 { known + 1 } else { 0 };
            ensure!(clock::monotonic() < until, "{status}: {answer}");
            clock::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Submits steadily until then; says how many tasks went to the target.
    async fn load(&mut self, storm: &Storm, until: Instant) -> anyhow::Result<usize> {
        let (began, mut sent, mut arrived) = (clock::monotonic(), 0, 0);
        while clock::monotonic() < until {
            sent += 1;
            let many = |rate: usize| (STEP.as_secs_f64() * rate as f64) as usize;
            let task = |url: &str, name: &str| json!({"name": name, "run": {"http": {"url": format!("{url}/work")}}, "pool": "inner", "max_attempts": 3});
            let to_target = (0..many(storm.rate)).map(|_| task(&self.url, "storm"));
            let to_other = (0..many(storm.others)).map(|_| task(&self.other, "other"));
            let tasks: Vec<Value> = to_target.chain(to_other).collect();
            self.batches += 1;
            self.customer.submit_batch(&tasks, &format!("batch-{}", self.batches)).await?;
            arrived += many(storm.rate);
            clock::sleep_until(began + STEP * sent).await;
        }
        Ok(arrived)
    }

    /// What a task that is held is told.
    async fn explained(&self) -> anyhow::Result<Value> {
        let held = "select 'task_' || replace(task_id::text, '-', '') from held_retry order by due_at desc limit 1";
        let rows = Oracle::of(&self.cluster).rows(held).await?;
        let id = rows.first().and_then(|row| row.first()).context("nothing is held")?;
        let (status, answer) =
            self.customer.call("GET", &format!("/v1/tasks/{id}/explain"), None, None).await?;
        ensure!(status == 200, "{status}: {answer}");
        Ok(answer)
    }

    /// How long tasks of `name` that were due between two moments waited for their first start: all but a hundredth, in ms.
    async fn wait(&self, name: &str, from: i64, to: i64) -> anyhow::Result<i64> {
        let sql = format!(
            "select coalesce((extract(epoch from percentile_disc(0.99) within group (order by h.first_started_at - h.run_at)) * 1000)::bigint, -1)
                from task_history h join task_spec s on s.id = h.id
                where s.name = '{name}' and h.attempt = 1 and extract(epoch from h.run_at) between {from} and {to}"
        );
        Oracle::of(&self.cluster).number(&sql).await
    }

    async fn now(&self) -> anyhow::Result<i64> {
        Oracle::of(&self.cluster).number("select extract(epoch from now())::bigint").await
    }
}

async fn storm(storm: Storm) -> anyhow::Result<()> {
    let mut world = World::start().await?;
    let calm = storm.length.mul_f64(0.3);
    let began = world.now().await?;
    world.load(&storm, clock::monotonic() + calm).await?;

    let broke = world.now().await?;
    world.target.fails.store(true, Ordering::Relaxed);
    let arrivals = world.load(&storm, clock::monotonic() + storm.length).await?;
    let attempts = world.target.refused.load(Ordering::Relaxed);
    let explanation = world.explained().await?;

    world.target.fails.store(false, Ordering::Relaxed);
    let (healed, healed_at) = (world.now().await?, clock::monotonic());
    let oracle_waits = "select (select count(*) from held_retry) + (select count(*) from task where state = 'retrying')";
    let steady = loop {
        world.load(&storm, clock::monotonic() + Duration::from_secs(1)).await?;
        if Oracle::of(&world.cluster).number(oracle_waits).await? == 0 {
            break healed_at.elapsed();
        }
        ensure!(healed_at.elapsed() < STEADY, "retries still wait after {STEADY:?}");
    };
    Oracle::of(&world.cluster).drained(Duration::from_secs(30)).await?;

    let before = world.wait("other", began, broke).await?;
    let during = world.wait("other", broke, healed).await?;
    let oracle = Oracle::of(&world.cluster);
    let ends = oracle
        .rows("select state::text, attempt, count(*) from task_history group by 1, 2 order by 1, 2")
        .await?;
    eprintln!(
        "{attempts} attempts of {arrivals} arrivals in {:?}: {:.3} of them; steady {steady:.1?} after it healed; p99 of others {before} ms before, {during} ms meanwhile; ends {ends:?}",
        storm.length,
        attempts as f64 / arrivals as f64
    );
    assert!(attempts * 10 <= arrivals * 12, "{attempts} attempts of {arrivals} arrivals");
    assert!(attempts >= arrivals, "first attempts are not held: {attempts} of {arrivals}");
    assert!(during <= before * 3 / 2 + 50, "others waited {during} ms instead of {before} ms");
    let reason = &explanation["reasons"][0];
    assert!(
        ["breaker_open", "retry_budget"].contains(&reason["reason"].as_str().unwrap_or("")),
        "{explanation}"
    );
    assert_eq!(reason["target"], json!(world.url), "{explanation}");
    assert_eq!(explanation["reasons"][1]["reason"], "retry", "{explanation}");
    assert_eq!(explanation["eta"]["basis"], "target", "{explanation}");
    // Whoever failed had all its attempts.
    let short = "select count(*) from task_history where state = 'failed' and attempt <> 3 or state not in ('failed', 'succeeded')";
    assert_eq!(oracle.number(short).await?, 0, "{ends:?}");
    let failed = oracle.number("select count(*) from task_history where state = 'failed'").await?;
    assert!(failed * 20 <= i64::try_from(arrivals)?, "{failed} failed of {arrivals}");
    assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());
    assert_eq!(world.cluster.panicked(), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_target_is_not_stormed_and_all_is_made_up_for_when_it_heals() -> anyhow::Result<()>
{
    storm(Storm { rate: 40, others: 20, length: Duration::from_secs(15) }).await
}

mod chaos {
    use super::{Duration, Storm, storm};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_target_that_fails_for_a_minute_at_200_tasks_a_second() -> anyhow::Result<()> {
        storm(Storm { rate: 200, others: 48, length: Duration::from_secs(60) }).await
    }
}
