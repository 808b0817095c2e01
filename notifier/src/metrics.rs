//! Metrics of the notifier.

use runtime::metrics::{self, Counter, CounterVec, Gauge, Histogram};
use std::sync::LazyLock;

const SECONDS: [f64; 10] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0];

pub(crate) static EVENTS: LazyLock<Counter> = LazyLock::new(|| {
    let help = "Events that webhooks were moved past";
    metrics::counter("berth_webhook_events_total", help, &[]).with(&[])
});
pub(crate) static TRIES: LazyLock<CounterVec> = LazyLock::new(|| {
    let help = "Tries of deliveries, by what became of them: delivered, again, given_up";
    metrics::counter("berth_webhook_tries_total", help, &["outcome"])
});
pub(crate) static SECONDS_OF_TRIES: LazyLock<Histogram> = LazyLock::new(|| {
    let help = "From the beginning of a try to its end";
    metrics::histogram_with_buckets("berth_webhook_try_seconds", help, &[], &SECONDS).with(&[])
});
pub(crate) static IN_FLIGHT: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge("berth_webhook_tries_in_flight", "Tries that are under way", &[]).with(&[])
});
pub(crate) static DISABLED: LazyLock<Counter> = LazyLock::new(|| {
    let help = "Webhooks that were disabled because nothing was received for long";
    metrics::counter("berth_webhooks_disabled_total", help, &[]).with(&[])
});
