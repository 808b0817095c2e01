//! Metrics of the bus.
//!
//! One function per metric, called where the event happens. Labels are few and bounded: outcomes,
//! topics, links and pools.

use crate::outcome::{ConnectionState, PublishOutcome};
use crate::topic::Topic;
use runtime::metrics::{
    Counter, CounterVec, GaugeVec, HistogramVec, counter, gauge, histogram_with_buckets,
};
use std::sync::LazyLock;

/// Hints per message, in powers of two around the usual hundred.
const BATCH_SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

static PUBLISHED: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_publishes_total",
        "Messages with hints, by outcome of their publish",
        &["outcome"],
    )
});
static LATE_RETURNS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_late_returns_total",
        "Messages that were returned after their publish had its outcome",
        &[],
    )
});
static DELIVERED: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_deliveries_total",
        "Messages with hints that arrived",
        &["pool", "redelivered"],
    )
});
static HINTS: LazyLock<HistogramVec> = LazyLock::new(|| {
    histogram_with_buckets(
        "berth_bus_message_hints",
        "Hints per message that arrived",
        &["pool"],
        &BATCH_SIZES,
    )
});
static UNDECODABLE: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_undecodable_total",
        "Messages that could not be decoded and were dropped",
        &["pool"],
    )
});
static LATE_ACKS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_late_acks_total",
        "Deliveries settled after their connection was lost; the broker delivers them again",
        &[],
    )
});
static CANCELS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_consumer_cancels_total",
        "Times the broker cancelled a consumer, mostly because its queue was deleted",
        &["pool"],
    )
});
static REPLACED: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_queues_replaced_total",
        "Hint queues that did not respond and were deleted and declared again",
        &["pool"],
    )
});
static DEAD: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_hints_dead_total",
        "Hints that died in a queue; the sweep finds their tasks",
        &["reason", "pool"],
    )
});
static WAKES_SENT: LazyLock<CounterVec> =
    LazyLock::new(|| counter("berth_bus_wakes_sent_total", "Wake-ups published", &["topic"]));
static WAKES_LOST: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_bus_wakes_lost_total",
        "Wake-ups that could not be published; a poll stands behind them",
        &["topic"],
    )
});
static WAKES_RECEIVED: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_bus_wakes_received_total", "Wake-ups that arrived", &["topic"])
});
static CONNECTION: LazyLock<GaugeVec> = LazyLock::new(|| {
    gauge(
        "berth_bus_connection_state",
        "The connection to the broker: 0 none, 1 connected, 2 connected but blocked by an alarm",
        &["link"],
    )
});
static CONNECT_FAILURES: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_bus_connect_failures_total", "Attempts to connect that failed", &["link"])
});
static LOST: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_bus_connections_lost_total", "Connections that broke", &["link"])
});

pub(crate) fn published(outcomes: &[PublishOutcome]) {
    for outcome in outcomes {
        PUBLISHED.with(&[outcome.as_str()]).inc();
    }
}

pub(crate) fn late_returns() -> Counter {
    LATE_RETURNS.with(&[])
}

pub(crate) fn delivered(pool: &str, hints: usize, redelivered: bool) {
    DELIVERED.with(&[pool, if redelivered { "true" } else { "false" }]).inc();
    #[expect(clippy::cast_precision_loss, reason = "a message holds hundreds of hints, not 2^52")]
    HINTS.with(&[pool]).observe(hints as f64);
}

pub(crate) fn undecodable(pool: &str) -> Counter {
    UNDECODABLE.with(&[pool])
}

pub(crate) fn late_acks() -> Counter {
    LATE_ACKS.with(&[])
}

pub(crate) fn consumer_cancels(pool: &str) -> Counter {
    CANCELS.with(&[pool])
}

pub(crate) fn queues_replaced(pool: &str) -> Counter {
    REPLACED.with(&[pool])
}

pub(crate) fn dead(reason: &str, pool: &str) -> Counter {
    DEAD.with(&[reason, pool])
}

pub(crate) fn wake_sent(topic: Topic) -> Counter {
    WAKES_SENT.with(&[topic.as_str()])
}

pub(crate) fn wake_lost(topic: Topic) -> Counter {
    WAKES_LOST.with(&[topic.as_str()])
}

pub(crate) fn wake_received(topic: Topic) -> Counter {
    WAKES_RECEIVED.with(&[topic.as_str()])
}

pub(crate) fn connection_state(link: &str, state: ConnectionState) {
    let value = match state {
        ConnectionState::Connecting | ConnectionState::Closed => 0.0,
        ConnectionState::Connected => 1.0,
        ConnectionState::Blocked => 2.0,
    };
    CONNECTION.with(&[link]).set(value);
}

pub(crate) fn connect_failures(link: &str) -> Counter {
    CONNECT_FAILURES.with(&[link])
}

pub(crate) fn connections_lost(link: &str) -> Counter {
    LOST.with(&[link])
}
