//! A ticker's metrics.
//!
//! `berth_tick_last_success_timestamp_seconds` is the one to alert on: it stands still when a loop
//! fails, hangs or is gone alike.

use crate::clock;
use crate::metrics::{self, Counter, CounterVec, Gauge, GaugeVec, Histogram, HistogramVec};
use std::sync::LazyLock;
use std::time::Duration;

static TOTAL: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::counter("berth_tick_total", "Ticks by result: ok, error, panic", &["tick", "result"])
});
static DONE: LazyLock<CounterVec> =
    LazyLock::new(|| metrics::counter("berth_tick_done_total", "Things that ticks did", &["tick"]));
static SECONDS: LazyLock<HistogramVec> =
    LazyLock::new(|| metrics::histogram("berth_tick_seconds", "Time of ticks", &["tick"]));
static LAST_SUCCESS: LazyLock<GaugeVec> = LazyLock::new(|| {
    let help = "When a tick last succeeded, Unix time";
    metrics::gauge("berth_tick_last_success_timestamp_seconds", help, &["tick"])
});

/// The series of one ticker.
pub(super) struct Measure {
    ok: Counter,
    error: Counter,
    panic: Counter,
    done: Counter,
    seconds: Histogram,
    last_success: Gauge,
}

impl Measure {
    pub(super) fn of(tick: &str) -> Self {
        Self {
            ok: TOTAL.with(&[tick, "ok"]),
            error: TOTAL.with(&[tick, "error"]),
            panic: TOTAL.with(&[tick, "panic"]),
            done: DONE.with(&[tick]),
            seconds: SECONDS.with(&[tick]),
            last_success: LAST_SUCCESS.with(&[tick]),
        }
    }

    pub(super) fn succeeded(&self, took: Duration, done: u64) {
        self.seconds.observe_duration(took);
        self.ok.inc();
        self.done.inc_by(done);
        self.alive();
    }

    /// All is well, though there was nothing to do.
    pub(super) fn alive(&self) {
        // Loses no more than microseconds: 2^53 milliseconds are far away.
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit in 53 bits")]
        self.last_success.set(clock::wall().timestamp_millis() as f64 / 1000.0);
    }

    pub(super) fn failed(&self, took: Duration, panicked: bool) {
        self.seconds.observe_duration(took);
        if panicked { self.panic.inc() } else { self.error.inc() }
    }
}
