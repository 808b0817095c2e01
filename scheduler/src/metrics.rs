//! Metrics of the scheduler.

use runtime::metrics::{self, Counter, CounterVec, Gauge, GaugeVec, Histogram, HistogramVec};
use std::sync::LazyLock;

pub(crate) static DISPATCHED: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter("berth_dispatched_tasks_total", "Tasks marked queued, by pool", &["pool"])
});
pub(crate) static STOPPED: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter(
        "berth_batch_stopped_total",
        "Ticks of the batcher in a pool, by what kept it from dispatching more",
        &["pool", "reason"],
    )
});
pub(crate) static EVENT_LAG: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "berth_event_lag_seconds",
        "Age of the oldest event that a consumer of the event log has not read",
        &["consumer"],
    )
});
pub(crate) static COUNTED_ATTEMPTS: LazyLock<Counter> = LazyLock::new(|| {
    metrics::counter(
        "berth_usage_attempts_total",
        "Attempts added to the usage of their tenants",
        &[],
    )
    .with(&[])
});
pub(crate) static UNPRICED_ATTEMPTS: LazyLock<Counter> = LazyLock::new(|| {
    let help = "Charged attempts added to the usage of their tenants that no prices held for, while there are price books";
    metrics::counter("berth_usage_unpriced_attempts_total", help, &[]).with(&[])
});
pub(crate) static INVOICES: LazyLock<Counter> = LazyLock::new(|| {
    metrics::counter("berth_invoices_total", "Invoices made final when their months were over", &[])
        .with(&[])
});
pub(crate) static BATCH: LazyLock<HistogramVec> = LazyLock::new(|| {
    let buckets = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0];
    metrics::histogram_with_buckets(
        "berth_batch_tasks",
        "Tasks in one dispatch, by pool",
        &["pool"],
        &buckets,
    )
});
pub(crate) static FREE_SLOTS: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "berth_pool_free_slots",
        "Room for basic tasks as the batcher sees it, by pool",
        &["pool"],
    )
});
pub(crate) static QUEUED_SLOTS: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::gauge("berth_pool_queued_slots", "Slots of tasks that are queued, by pool", &["pool"])
});
pub(crate) static COMPLETION_RATE: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "berth_pool_completed_slots_per_second",
        "Slots given back per second, by pool",
        &["pool"],
    )
});
pub(crate) static PUBLISH_FAILED: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter(
        "berth_dispatch_taken_back_total",
        "Dispatches taken back because their hint was not published, by outcome",
        &["outcome"],
    )
});
pub(crate) static MOVED: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter("berth_scheduler_events_total", "Tasks moved by time, by event", &["event"])
});
pub(crate) static HELD_TASKS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge("berth_due_tasks_held", "Tasks held in memory that are due soon", &[]).with(&[])
});
pub(crate) static DUE_LATENESS: LazyLock<Histogram> = LazyLock::new(|| {
    let buckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
    let help = "Time from when the first of a group of tasks was due until they were ready";
    metrics::histogram_with_buckets("berth_due_lateness_seconds", help, &[], &buckets).with(&[])
});
pub(crate) static LAG: LazyLock<HistogramVec> = LazyLock::new(|| {
    let buckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0];
    metrics::histogram_with_buckets(
        "berth_tick_lag_seconds",
        "Time of one batcher tick, by part",
        &["part"],
        &buckets,
    )
});
pub(crate) static STRAYS: LazyLock<Gauge> = LazyLock::new(|| {
    let help =
        "Rows outside any day's partition: a clock is days off, or partitions are not made ahead";
    metrics::gauge("berth_partition_stray_rows", help, &[]).with(&[])
});
pub(crate) static DOCTOR_FINDINGS: LazyLock<GaugeVec> = LazyLock::new(|| {
    let help = "Findings of the last doctor run, by check; 0 on all but the active batcher";
    metrics::gauge("berth_doctor_findings", help, &["check"])
});
pub(crate) static DOCTOR_NOT_SEEN: LazyLock<GaugeVec> = LazyLock::new(|| {
    let help = "1 if the last doctor run could not check, by check";
    metrics::gauge("berth_doctor_not_seen", help, &["check"])
});
pub(crate) static DOCTOR_LAST_RUN: LazyLock<Gauge> = LazyLock::new(|| {
    let help = "Last doctor run of this scheduler, Unix time; 0: never";
    metrics::gauge("berth_doctor_last_run_timestamp_seconds", help, &[]).with(&[])
});
pub(crate) static UNPLACEABLE: LazyLock<GaugeVec> = LazyLock::new(|| {
    let help = "Tasks that were ready for a minute and fit none of their pool's executors, at the last doctor run, by pool; 0 on \
                all but the active batcher";
    metrics::gauge("berth_tasks_unplaceable", help, &["pool"])
});
