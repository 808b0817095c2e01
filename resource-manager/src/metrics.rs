//! Metrics of the resource manager.

use runtime::metrics::{self, Counter, CounterVec, Gauge, Histogram, HistogramVec};
use std::sync::LazyLock;

const SECONDS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 60.0];
const SIZES: [f64; 8] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0];

pub(crate) static PLACED: LazyLock<Counter> =
    LazyLock::new(|| metrics::counter("berth_placed_tasks_total", "Leases granted", &[]).with(&[]));
pub(crate) static STALE_HINTS: LazyLock<Counter> = LazyLock::new(|| {
    metrics::counter(
        "berth_stale_hints_total",
        "Hints whose dispatch stood no more when claimed",
        &[],
    )
    .with(&[])
});
pub(crate) static UNPLACED: LazyLock<Counter> = LazyLock::new(|| {
    metrics::counter("berth_unplaced_tasks_total", "Tasks given back for want of room", &[])
        .with(&[])
});
pub(crate) static WAITED: LazyLock<Histogram> = LazyLock::new(|| {
    let help = "From due to running, by the database's clock";
    metrics::histogram_with_buckets("berth_due_to_running_seconds", help, &[], &SECONDS).with(&[])
});
pub(crate) static CLAIM_SIZE: LazyLock<Histogram> = LazyLock::new(|| {
    metrics::histogram_with_buckets("berth_claim_tasks", "Tasks in one claim", &[], &SIZES)
        .with(&[])
});
pub(crate) static SETTLE_SIZE: LazyLock<Histogram> = LazyLock::new(|| {
    metrics::histogram_with_buckets(
        "berth_settle_results",
        "Results in one settlement",
        &[],
        &SIZES,
    )
    .with(&[])
});
pub(crate) static SETTLED: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter(
        "berth_settled_results_total",
        "Results settled, by event and answer",
        &["event", "answer"],
    )
});
pub(crate) static RETRIES: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter(
        "berth_target_retries_total",
        "Retries to targets with an account: granted, held_budget or held_breaker, and let_go after having been held",
        &["what"],
    )
});
pub(crate) static HELD_TARGETS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge("berth_retry_targets_waited_for", "Targets for which held retries wait", &[])
        .with(&[])
});
pub(crate) static OPEN_BREAKERS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge(
        "berth_retry_breakers_open",
        "Targets that this process sends nothing again but probes",
        &[],
    )
    .with(&[])
});
pub(crate) static LAPSED: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter(
        "berth_lapsed_total",
        "Sessions and leases that ended without a report",
        &["what"],
    )
});
pub(crate) static EXECUTORS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge(
        "berth_executors_connected",
        "Executors with a stream to this resource manager",
        &[],
    )
    .with(&[])
});
pub(crate) static QUARANTINES: LazyLock<Counter> = LazyLock::new(|| {
    let help = "Times that an executor which gives back what it is given was left alone";
    metrics::counter("berth_executor_quarantines_total", help, &[]).with(&[])
});
pub(crate) static QUARANTINED: LazyLock<Gauge> = LazyLock::new(|| {
    let help = "Connected executors that get probes at most";
    metrics::gauge("berth_executors_quarantined", help, &[]).with(&[])
});
pub(crate) static FOREIGN_RESULTS: LazyLock<Counter> = LazyLock::new(|| {
    let help =
        "Results of sessions that are not of the executor that reported them; nothing came of them";
    metrics::counter("berth_foreign_results_total", help, &[]).with(&[])
});
pub(crate) static CONNECTIONS: LazyLock<Gauge> = LazyLock::new(|| {
    let help = "Connections to the executor port";
    metrics::gauge("berth_executor_connections", help, &[]).with(&[])
});
pub(crate) static CONNECTIONS_CLOSED: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter(
        "berth_executor_connections_closed_total",
        "Connections to the executor port that were closed: silent, without a call that was let in; too_many, at the bound; handshake, TLS failed",
        &["why"],
    )
});
pub(crate) static LEASES: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge(
        "berth_leases_held",
        "Live leases on the executors of this resource manager",
        &[],
    )
    .with(&[])
});
pub(crate) static LOOP_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    let help = "Time of one round of a loop";
    metrics::histogram_with_buckets("berth_round_seconds", help, &["round"], &SECONDS)
});
