//! The periodic work of rate limits: Redis, heartbeats, checkpoints, idle buckets.
//!
//! At the end of the process the hours are written down and its heartbeat ends.

use super::decision::Moment;
use super::limiter::Limiter;
use super::mode::Mode;
use super::shared::Redis;
use domain::id::NodeId;
use runtime::clock::monotonic;
use runtime::error_chain::ErrorChain;
use runtime::health::Health;
use runtime::metrics::Counter;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::tick::{TickOutcome, TickPolicy, Ticker};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;

/// Between calls to a Redis that serves.
const CALL: Duration = Duration::from_secs(1);
/// Between calls to a Redis that is away.
const RETRY: Duration = Duration::from_millis(200);
const HEARTBEAT: Duration = Duration::from_secs(5);
const CHECKPOINT: Duration = Duration::from_secs(60);
const REFRESH: Duration = Duration::from_secs(10);
/// Buckets reported in one tick.
const REPORTS: usize = 1000;
/// Rows written, or deleted, in one statement.
const ROWS: usize = 1000;

/// Runs until `until`, which comes after the last request.
pub(crate) fn keep_up(
    limiter: &Arc<Limiter>,
    (tasks, health): (&TaskGroup, &Health),
    until: &Shutdown,
) {
    let of = || (Arc::clone(limiter), until.clone());
    let ticker = |name, every| Ticker::new(name, TickPolicy::every(every)).liveness(health);
    if let Some(redis) = limiter.redis.clone() {
        let (l, until) = of();
        let ticker = ticker("api_limit_redis", CALL).wake(Arc::clone(&l.retry));
        tasks.spawn("api.limit_redis", call_redis(l, redis, until, ticker));
    }
    let (l, until) = of();
    tasks.spawn("api.heartbeat", heartbeat(l, until, ticker("api_heartbeat", HEARTBEAT)));
    let (l, until) = of();
    let written = ticker("api_limit_checkpoint", CHECKPOINT);
    tasks.spawn("api.limit_checkpoint", checkpoint(l, until, written));
    let (l, until) = of();
    let refreshed = ticker("api_limit_refresh", REFRESH);
    tasks.spawn("api.limit_refresh", async move {
        refreshed.run(until, || refresh(&l)).await;
    });
}

/// Says that this process is served, begins to count in Redis when it is, and returns what nobody used.
async fn call_redis(limiter: Arc<Limiter>, redis: Redis, until: Shutdown, ticker: Ticker) {
    let [probes, returns] = ["probe", "return"].map(|call| limiter.metrics.calls.with(&[call]));
    let tick = || async {
        probes.inc();
        let away = limiter.switch.away_for(monotonic());
        match redis.report_served(away).await {
            Ok(Duration::ZERO) => {}
            // Buckets begin for all processes at the same time.
            Ok(wait) => return Ok::<_, Infallible>(TickOutcome::after(wait, 0)),
            Err(failure) => {
                limiter.failed(&failure);
                return Ok(TickOutcome::after(RETRY, 0));
            }
        }
        if limiter.switch.serves() {
            limiter.metrics.away_by(None);
            limiter.metrics.local.set(0.0);
            tracing::info!("Rate limits are counted in Redis");
        }
        Ok(TickOutcome::idle(report(&limiter, &returns).await))
    };
    ticker.run(until, tick).await;
}

/// Returns unused tokens, and reports what was admitted without Redis, where no submission does.
async fn report(limiter: &Limiter, calls: &Counter) -> u64 {
    let mut reported = 0;
    for bucket in limiter.buckets() {
        let mode = limiter.switch.mode();
        if mode != Mode::Shared || reported == REPORTS as u64 {
            break;
        }
        // A submission that calls Redis reports, too.
        let Ok(_permit) = bucket.calls.try_acquire() else { continue };
        let request = bucket.lease().unreported(mode, &Moment::now());
        if let Some(request) = request {
            limiter.report(&bucket, &request, calls).await;
            reported += 1;
        }
    }
    reported
}

/// Says that this process lives, and counts those that do.
async fn heartbeat(limiter: Arc<Limiter>, until: Shutdown, ticker: Ticker) {
    let node = NodeId::fresh();
    let tick = || async {
        let replicas = store::replica::beat(&limiter.db, node).await?;
        limiter.switch.set_replicas(replicas);
        limiter.metrics.replicas.set(f64::from(replicas));
        Ok::<_, StoreError>(TickOutcome::idle(1))
    };
    ticker.run(until, tick).await;
    if let Err(error) = store::replica::leave(&limiter.db, node).await {
        tracing::debug!(error = %ErrorChain(&error), "The heartbeat stays for 15 s: {error}");
    }
}

/// Writes down what was used of the hour, and deletes old rows.
async fn checkpoint(limiter: Arc<Limiter>, until: Shutdown, ticker: Ticker) {
    let tick = || async {
        // What is owed is reported to a Redis later. Without one it is only written down.
        let written = write_checkpoint(&limiter, limiter.redis.is_none()).await?;
        store::rate::prune(&limiter.db, ROWS as i64).await?;
        store::replica::prune(&limiter.db).await?;
        Ok::<_, StoreError>(TickOutcome::idle(written))
    };
    ticker.run(until, tick).await;
    // What is still owed is reported no more.
    if let Err(error) = write_checkpoint(&limiter, true).await {
        tracing::warn!(error = %ErrorChain(&error), "The last minute's use was not written down: {error}");
    }
}

async fn write_checkpoint(limiter: &Limiter, adds_owed: bool) -> Result<u64, StoreError> {
    let now = Moment::now();
    let buckets = limiter.buckets();
    let uses: Vec<_> =
        buckets.iter().filter_map(|bucket| bucket.checkpoint(adds_owed, &now)).collect();
    for some in uses.chunks(ROWS) {
        store::rate::checkpoint(&limiter.db, some).await?;
    }
    Ok(uses.len() as u64)
}

/// Forgets idle peers, tenants and buckets, and reads which plans there are.
async fn refresh(limiter: &Limiter) -> Result<TickOutcome, StoreError> {
    limiter.peers.forget_idle();
    limiter.sign_ins.forget_idle();
    limiter.look_ups.forget_idle();
    let buckets = limiter.forget_idle();
    limiter.plans.read(&limiter.db).await?;
    Ok(TickOutcome::idle(buckets as u64))
}
