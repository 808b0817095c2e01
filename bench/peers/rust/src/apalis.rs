//! apalis on Postgres: `apalis PHASE AMOUNT URL` prints one line of JSON with the figures.
//!
//! Submits and work share one process with two threads and a pool of connections, as a service with apalis would. The rule:
//! figures are printed only if each task ran exactly once and no delayed one ran early. Batch size, requests in flight and
//! rates are those of Berth's own phases (bench/src/phase).

use apalis::prelude::*;
use apalis_postgres::{Config, PgPool, PgTask, PostgresStorage, queries::push_tasks};
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;

/// As in `Cargo.toml`.
const VERSION: &str = "1.0.0";
const BATCH: u64 = 1000;
const BATCH_CALLERS: usize = 4;
const SUBMIT_IN_FLIGHT: usize = 32;
const END_TO_END_IN_FLIGHT: usize = 64;
const START_RATE: u64 = 200;
const DELAY_RATE: u64 = 500;
const DELAY_MS: f64 = 600.0;
const WARM_UP_S: u64 = 2;
const LIMIT: Duration = Duration::from_secs(120);
const QUEUE: &str = "bench";
const CONNECTIONS: u32 = 20;
/// Tasks that one statement fetches.
const FETCH: usize = 500;
/// Behind the notifications.
const POLL: Duration = Duration::from_millis(50);

/// Number and time of each start, in milliseconds since 1970.
static STARTS: Mutex<Vec<(u64, f64)>> = Mutex::new(Vec::new());

type Outcome<T> = Result<T, BoxDynError>;

#[derive(Clone, Serialize, Deserialize)]
struct Payload {
    n: u64,
    labels: HashMap<String, String>,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [phase, amount, url] = &arguments[..] else { return Err("PHASE AMOUNT URL".into()) };
    let pool = PgPoolOptions::new().max_connections(CONNECTIONS).connect(url).await?;
    sqlx::query("create extension if not exists hstore").execute(&pool).await?;
    PostgresStorage::setup(&pool).await?;
    let amount = amount.parse()?;
    let figures = match &**phase {
        "drain" => drain(&pool, amount).await?,
        "submit" => single_submit(&pool, amount).await?,
        "end-to-end" => end_to_end(&pool, amount).await?,
        "start" => start(&pool, amount).await?,
        "delay" => delay(&pool, amount).await?,
        other => return Err(format!("no phase `{other}`").into()),
    };
    println!("{}", json!({ "version": VERSION, "figures": figures }));
    // The worker's thread ends only if it is stopped.
    std::process::exit(0)
}

async fn drain(pool: &PgPool, count: u64) -> Outcome<Value> {
    let began = Instant::now();
    let batches = AtomicU64::new(0);
    in_flight(BATCH_CALLERS, || {
        let first = batches.fetch_add(1, Ordering::Relaxed) * BATCH;
        (first < count)
            .then(|| submit(pool, (first..first + BATCH).map(|n| task(n, None)).collect()))
    })
    .await?;
    let submitted = began.elapsed();
    work(pool);
    let ran = finished(pool, count).await?;
    let first = ran.starts.iter().copied().fold(f64::MAX, f64::min);
    Ok(json!({
        "batch_submit_per_s": count as f64 / submitted.as_secs_f64(),
        "drain_per_s": count as f64 / (ran.ended - first) * 1e3,
    }))
}

async fn single_submit(pool: &PgPool, seconds: u64) -> Outcome<Value> {
    let began = Instant::now();
    let count = submit_for(pool, seconds, SUBMIT_IN_FLIGHT).await?;
    let elapsed = began.elapsed();
    let stored = left(pool).await?;
    if stored != count {
        return Err(format!("{stored} tasks are stored, {count} were submitted").into());
    }
    Ok(json!({ "single_submit_per_s": count as f64 / elapsed.as_secs_f64() }))
}

async fn end_to_end(pool: &PgPool, seconds: u64) -> Outcome<Value> {
    work(pool);
    let began = now();
    let count = submit_for(pool, seconds, END_TO_END_IN_FLIGHT).await?;
    let ran = finished(pool, count).await?;
    Ok(json!({ "end_to_end_per_s": count as f64 / (ran.ended - began) * 1e3 }))
}

async fn start(pool: &PgPool, seconds: u64) -> Outcome<Value> {
    work(pool);
    let sent = at_rate(pool, START_RATE, seconds, |_| None).await?;
    let ran = finished(pool, sent.len() as u64).await?;
    let waits = ran.starts.iter().zip(&sent).map(|(start, sent)| start - sent);
    let [p50, p99] = percentiles(waits.skip((START_RATE * WARM_UP_S) as usize).collect());
    Ok(json!({ "submit_to_start_p50_ms": p50, "submit_to_start_p99_ms": p99 }))
}

async fn delay(pool: &PgPool, seconds: u64) -> Outcome<Value> {
    work(pool);
    let sent = at_rate(pool, DELAY_RATE, seconds, |sent| Some(sent + DELAY_MS)).await?;
    let ran = finished(pool, sent.len() as u64).await?;
    let late: Vec<f64> =
        ran.starts.iter().zip(&sent).map(|(start, sent)| start - sent - DELAY_MS).collect();
    if let Some(early) = late.iter().find(|late| **late < 0.0) {
        return Err(format!("a task started {} ms early", -early).into());
    }
    let [p50, p99] =
        percentiles(late.into_iter().skip((DELAY_RATE * WARM_UP_S) as usize).collect());
    Ok(json!({ "lateness_p50_ms": p50, "lateness_p99_ms": p99 }))
}

/// One task. apalis has due times in whole seconds: the next one, because none may run early.
fn task(n: u64, due_ms: Option<f64>) -> PgTask {
    let labels = HashMap::from([("team".to_owned(), "bench".to_owned())]);
    let payload = serde_json::to_vec(&Payload { n, labels }).unwrap_or_default();
    let builder = TaskBuilder::new(payload);
    match due_ms {
        Some(due) => builder.run_at_timestamp((due / 1e3).ceil() as u64).build(),
        None => builder.build(),
    }
}

async fn submit(pool: &PgPool, tasks: Vec<PgTask>) -> Outcome<()> {
    let mut connection = pool.acquire().await?;
    Ok(push_tasks(&mut *connection, QUEUE, tasks).await?)
}

/// Submits one by one for so long. Returns how many.
async fn submit_for(pool: &PgPool, seconds: u64, width: usize) -> Outcome<u64> {
    let (count, until) = (AtomicU64::new(0), Instant::now() + Duration::from_secs(seconds));
    in_flight(width, || {
        let more = Instant::now() < until;
        more.then(|| submit(pool, vec![task(count.fetch_add(1, Ordering::Relaxed), None)]))
    })
    .await?;
    Ok(count.into_inner())
}

/// Awaits what `next` gives until it gives nothing more, `width` at a time.
async fn in_flight<C: Future<Output = Outcome<()>>>(
    width: usize,
    next: impl Fn() -> Option<C>,
) -> Outcome<()> {
    let caller = |_| async {
        while let Some(call) = next() {
            call.await?;
        }
        Ok::<(), BoxDynError>(())
    };
    try_join_all((0..width).map(caller)).await.map(drop)
}

/// Submits at a fixed rate, whatever the answers do. Returns the intended times.
async fn at_rate(
    pool: &PgPool,
    rate: u64,
    seconds: u64,
    due: impl Fn(f64) -> Option<f64>,
) -> Outcome<Vec<f64>> {
    let began = now() + 50.0;
    let (mut sent, mut calls) = (Vec::new(), Vec::new());
    for n in 0..rate * (WARM_UP_S + seconds) {
        let at = began + n as f64 * 1e3 / rate as f64;
        let due = due(at);
        sleep(Duration::from_secs_f64((at - now() - 2.0).max(0.0) / 1e3)).await;
        // Timers have whole milliseconds. A delayed task need not be sent precisely.
        while due.is_none() && now() < at {
            tokio::task::yield_now().await;
        }
        let (pool, task) = (pool.clone(), task(n, due));
        calls.push(tokio::spawn(async move { submit(&pool, vec![task]).await }));
        sent.push(at);
    }
    for call in calls {
        call.await??;
    }
    Ok(sent)
}

async fn run_task(task: Payload) -> Outcome<()> {
    STARTS.lock().map_err(|_| "poisoned")?.push((task.n, now()));
    Ok(())
}

/// Starts a worker, woken by notifications. Its future stays on one thread; the tasks run on those of the runtime.
fn work(pool: &PgPool) {
    let config = Config::default().queue(QUEUE).batch_size(FETCH);
    let storage = PostgresStorage::<Payload>::new(pool).with_config(config).with_pubsub();
    let backend = storage.poll_with_interval(POLL);
    let runtime = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        let worker =
            WorkerBuilder::new("bench").backend(backend).parallelize(tokio::spawn).build(run_task);
        let ended = runtime.block_on(worker.run());
        eprintln!("the worker ended: {ended:?}");
        std::process::exit(1);
    });
}

async fn left(pool: &PgPool) -> Outcome<u64> {
    let count =
        sqlx::query_scalar::<_, i64>("select count(*) from apalis.jobs where status <> 'Done'");
    Ok(count.fetch_one(pool).await?.try_into()?)
}

struct Ran {
    /// Of each task, in the order of their numbers.
    starts: Vec<f64>,
    ended: f64,
}

/// Waits until `count` tasks have finished.
async fn finished(pool: &PgPool, count: u64) -> Outcome<Ran> {
    let until = Instant::now() + LIMIT;
    let started = || STARTS.lock().map_or(0, |starts| starts.len() as u64);
    while started() < count || left(pool).await? > 0 {
        if Instant::now() > until {
            return Err(format!("{} of {count} tasks ran in {LIMIT:?}", started()).into());
        }
        sleep(Duration::from_millis(10)).await;
    }
    let ended = now();
    let mut starts = STARTS.lock().map_err(|_| "poisoned")?.clone();
    starts.sort_by_key(|(n, _)| *n);
    if !starts.iter().map(|(n, _)| *n).eq(0..count) {
        return Err(format!("{} starts, not one of each of {count} tasks", starts.len()).into());
    }
    Ok(Ran { starts: starts.into_iter().map(|(_, at)| at).collect(), ended })
}

/// Milliseconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1e3
}

fn percentiles(mut ms: Vec<f64>) -> [f64; 2] {
    ms.sort_by(f64::total_cmp);
    let rank = |share: f64| ((share * ms.len() as f64).ceil() as usize).max(1) - 1;
    [0.5, 0.99].map(|share| ms[rank(share)])
}
