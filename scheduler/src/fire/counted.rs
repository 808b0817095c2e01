//! Metrics of fires.

use runtime::metrics::{self, Counter, CounterVec, Gauge, Histogram};
use std::sync::LazyLock;

pub(super) static FIRES: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter(
        "berth_fires_total",
        "Due times of schedules, by what became of them",
        &["outcome"],
    )
});
pub(super) static LATENESS: LazyLock<Histogram> = LazyLock::new(|| {
    let buckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0];
    let help = "Time from when a group of due times was to be fired until it was written, the longest of each group";
    metrics::histogram_with_buckets("berth_fire_lateness_seconds", help, &[], &buckets).with(&[])
});
pub(super) static SHARDS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge("berth_schedule_shards", "Shards of schedules that this scheduler owns", &[])
        .with(&[])
});
pub(super) static SHARDS_CONFIGURED: LazyLock<Gauge> = LazyLock::new(|| {
    let help = "Shards of schedules that there are, by this scheduler's settings";
    metrics::gauge("berth_schedule_shards_configured", help, &[]).with(&[])
});
pub(super) static TIMERS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge("berth_schedule_timers", "Due times of schedules held in memory", &[]).with(&[])
});
pub(super) static MISSED: LazyLock<Counter> = LazyLock::new(|| {
    metrics::counter("berth_fires_missed_total", "Due times that nobody fired in time", &[])
        .with(&[])
});
