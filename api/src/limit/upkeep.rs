//! What limits need beside requests: probing Redis, giving back what nobody used, heartbeats, checkpoints, forgetting.
//!
//! Each is a tick. At the end of the process what is in hand goes back, the hours are written down and the process counts no more.

use super::counting::Way;
use super::limiter::Limiter;
use super::peers::Peers;
use super::shared::Redis;
use domain::id::NodeId;
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

/// How often a Redis that answers is asked whether it still knows.
const PROBE: Duration = Duration::from_secs(1);
/// How often one that is away is.
const PROBE_AWAY: Duration = Duration::from_millis(200);
/// An outage no longer than this is charged to the shared buckets afterwards; a longer one empties all of them.
const BLIP: Duration = Duration::from_secs(1);
/// After an outage buckets begin anew so much later: by then every process has heard of it.
const ANEW_IN: Duration = Duration::from_secs(1);
const SETTLE: Duration = Duration::from_secs(1);
/// Meters settled in one tick.
const SETTLED_AT_ONCE: usize = 1000;
const HEARTBEAT: Duration = Duration::from_secs(5);
const CHECKPOINT: Duration = Duration::from_secs(60);
const READ_PLANS: Duration = Duration::from_secs(30);
const FORGET: Duration = Duration::from_secs(10);
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
        tasks.spawn("api.limit_probe", probe(l, redis, until, ticker("api_limit_probe", PROBE)));
        let (l, until) = of();
        tasks.spawn("api.limit_settle", settle(l, until, ticker("api_limit_settle", SETTLE)));
    }
    let (l, until) = of();
    tasks.spawn("api.heartbeat", heartbeat(l, until, ticker("api_heartbeat", HEARTBEAT)));
    let (l, until) = of();
    tasks.spawn(
        "api.limit_checkpoint",
        checkpoint(l, until, ticker("api_limit_checkpoint", CHECKPOINT)),
    );
    let (l, until) = of();
    let plans = ticker("api_limit_plans", READ_PLANS);
    tasks.spawn("api.limit_plans", async move {
        plans.run(until, || async { l.plans.read(&l.db).await.map(TickOutcome::idle) }).await;
    });
    let (l, until) = of();
    let forgets = ticker("api_limit_forget", FORGET);
    tasks.spawn("api.limit_forget", async move {
        let forget = || async {
            let peers = [&l.peers, &l.sign_ins].map(Peers::forget_quiet);
            let kept = peers.iter().sum::<u64>() + l.meters.forget_quiet(&l.now()) as u64;
            Ok::<_, Infallible>(TickOutcome::idle(kept))
        };
        forgets.run(until, forget).await;
    });
}

/// Asks Redis whether it counts, and goes over to it when it does.
async fn probe(limiter: Arc<Limiter>, redis: Redis, until: Shutdown, ticker: Ticker) {
    let calls = limiter.figures.calls("probe");
    let wake = Arc::clone(&limiter.probe_now);
    let ticker = ticker.wake(wake);
    let tick = || async { Ok::<_, Infallible>(one_probe(&limiter, &redis, &calls).await) };
    ticker.run(until, tick).await;
}

async fn one_probe(limiter: &Limiter, redis: &Redis, calls: &Counter) -> TickOutcome {
    let away = limiter.counting.away_since();
    let for_long = away.map(|since| since.elapsed()).filter(|away| *away > BLIP);
    calls.inc();
    match redis.probe(for_long, ANEW_IN).await {
        Ok(Duration::ZERO) => {
            if away.is_some() {
                limiter.redis_answers();
                limiter.counting.join();
                limiter.figures.local.set(0.0);
                tracing::info!("Rate limits are counted in Redis");
            }
            TickOutcome::idle(1)
        }
        Ok(wait) => {
            limiter.wait_for_counts();
            TickOutcome::after(wait, 1)
        }
        Err(error) => {
            limiter.leave(&error);
            TickOutcome::after(PROBE_AWAY, 0)
        }
    }
}

/// Gives back what tenants leased and did not use, where no request of theirs does.
async fn settle(limiter: Arc<Limiter>, until: Shutdown, ticker: Ticker) {
    let calls = limiter.figures.calls("return");
    let tick = || async {
        let mut settled = 0;
        for meter in limiter.meters.all() {
            // Who has the turn leases, and gives back with it.
            let Some(_turn) = meter.free_turn() else { continue };
            if let Some(ask) = meter.idle(limiter.counting.now(), &limiter.now()) {
                limiter.lease(&meter, &ask, &calls).await;
                settled += 1;
            }
            if settled == SETTLED_AT_ONCE {
                break;
            }
        }
        Ok::<_, Infallible>(TickOutcome::idle(settled as u64))
    };
    ticker.run(until, tick).await;
    for meter in limiter.meters.all() {
        let counted = limiter.counting.now();
        if counted.way != Way::Shared {
            // It has gone meanwhile: the end of the process waits for one answer, not for each tenant's.
            break;
        }
        if let Some(ask) = meter.all_back(counted, &limiter.now()) {
            limiter.lease(&meter, &ask, &calls).await;
        }
    }
}

/// Says that this process lives, and hears how many do.
async fn heartbeat(limiter: Arc<Limiter>, until: Shutdown, ticker: Ticker) {
    let node = NodeId::fresh();
    let tick = || async {
        let replicas = store::replica::beat(&limiter.db, node).await?;
        limiter.counting.set_replicas(replicas);
        limiter.figures.replicas.set(f64::from(replicas));
        Ok::<_, StoreError>(TickOutcome::idle(1))
    };
    ticker.run(until, tick).await;
    if let Err(error) = store::replica::leave(&limiter.db, node).await {
        tracing::debug!(error = %ErrorChain(&error), "The heartbeat stays for 15 s: {error}");
    }
}

/// Writes down what was used of the hour, and deletes what is of no use.
async fn checkpoint(limiter: Arc<Limiter>, until: Shutdown, ticker: Ticker) {
    let tick = || async {
        let written = write_down(&limiter).await?;
        store::rate::prune(&limiter.db, ROWS as i64).await?;
        store::replica::prune(&limiter.db).await?;
        Ok::<_, StoreError>(TickOutcome::idle(written))
    };
    ticker.run(until, tick).await;
    if let Err(error) = write_down(&limiter).await {
        tracing::warn!(error = %ErrorChain(&error), "The last minute's use was not written down: {error}");
    }
}

async fn write_down(limiter: &Limiter) -> Result<u64, StoreError> {
    let now = limiter.now();
    let meters = limiter.meters.all();
    let uses: Vec<_> = meters.iter().filter_map(|meter| meter.to_write(&now)).collect();
    for some in uses.chunks(ROWS) {
        store::rate::checkpoint(&limiter.db, some).await?;
    }
    Ok(uses.len() as u64)
}
