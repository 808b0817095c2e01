//! What this executor measures of itself.

use runtime::metrics::{CounterVec, GaugeVec, HistogramVec, counter, gauge, histogram};
use std::sync::LazyLock;

/// Attempts taken up and not yet ended.
pub(crate) static RUNNING: LazyLock<GaugeVec> =
    LazyLock::new(|| gauge("berth_executor_attempts_running", "Attempts running now", &[]));

/// Ended attempts, by outcome.
pub(crate) static RESULTS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_executor_results_total", "Ended attempts, by outcome", &["outcome"])
});

/// Results that no resource manager has answered yet.
pub(crate) static UNANSWERED: LazyLock<GaugeVec> =
    LazyLock::new(|| gauge("berth_executor_results_unanswered", "Results not yet answered", &[]));

/// Answers to results, by verdict.
pub(crate) static VERDICTS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_executor_verdicts_total", "Answers to results, by verdict", &["verdict"])
});

/// Live bytes in the spool.
pub(crate) static SPOOL_BYTES: LazyLock<GaugeVec> = LazyLock::new(|| {
    gauge("berth_executor_spool_bytes", "Bytes of undelivered results on disk", &[])
});

/// The alarm: no new work is accepted while it is 1.
pub(crate) static SPOOL_ALARM: LazyLock<GaugeVec> = LazyLock::new(|| {
    gauge(
        "berth_executor_spool_alarm",
        "1 while results cannot be spooled: disk full, failing, or the limit reached",
        &[],
    )
});

/// Time to write one group of results to disk.
pub(crate) static SPOOL_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    histogram(
        "berth_executor_spool_write_seconds",
        "Time to write and sync one group of results",
        &[],
    )
});

/// Streams begun, by how it went.
pub(crate) static STREAMS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_executor_streams_total", "Streams tried, by result", &["result"])
});

/// 1 while a resource manager has welcomed this executor.
pub(crate) static CONNECTED: LazyLock<GaugeVec> =
    LazyLock::new(|| gauge("berth_executor_connected", "1 while a stream is welcomed", &[]));

/// Sessions given up with all their work, by reason.
pub(crate) static FENCED: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_executor_fenced_total", "Sessions given up, by reason", &["reason"])
});

/// Time from sending a heartbeat to its answer.
pub(crate) static HEARTBEAT_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    histogram("berth_executor_heartbeat_seconds", "Time from a heartbeat to its answer", &[])
});

/// Bytes written by commands and answered by servers, stored or not.
pub(crate) static OUTPUT_BYTES: LazyLock<CounterVec> =
    LazyLock::new(|| counter("berth_executor_output_bytes_total", "Bytes of output", &["stream"]));

/// Time from receipt of a command to its program running.
pub(crate) static START_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    histogram("berth_executor_start_seconds", "Time from receipt of a command to its start", &[])
});

/// Ended HTTP attempts, by the class of their last answer, or why there was none.
pub(crate) static HTTP_CALLS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_executor_http_calls_total",
        "Ended HTTP attempts, by their last answer: 2xx, 3xx, 4xx, 5xx, none, over_cap, no_turn, cut",
        &["answer"],
    )
});

/// Time of an HTTP attempt, redirects and body included.
pub(crate) static HTTP_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    histogram(
        "berth_executor_http_seconds",
        "Time from the start of an HTTP attempt to its end",
        &[],
    )
});

/// What attempts of the command driver are held to by the kernel.
pub(crate) static ENFORCED: LazyLock<GaugeVec> = LazyLock::new(|| {
    gauge(
        "berth_executor_limit_enforced",
        "1 where the kernel enforces it on commands, 0 where it is only watched or missing",
        &["limit"],
    )
});
