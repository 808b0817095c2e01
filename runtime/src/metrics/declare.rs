//! Declares metrics in the process's one registry, and writes them out.
//!
//! A name declared again returns the metric it already has, so that tests, and roles sharing a
//! process, need not agree on who was first.

use super::kinds::{CounterVec, GaugeVec, HistogramVec};
use parking_lot::Mutex;
use prometheus::core::Collector;
use prometheus::{HistogramOpts, Opts, Registry, TextEncoder};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Seconds, from a cached lookup (100 µs) to a stuck one (10 s).
const SECONDS: [f64; 16] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

#[derive(Default)]
struct Declared {
    registry: Registry,
    families: HashMap<String, Family>,
}

#[derive(Clone)]
struct Family {
    labels: Vec<String>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Counter(prometheus::IntCounterVec),
    Gauge(prometheus::GaugeVec),
    Histogram(prometheus::HistogramVec),
}

static DECLARED: LazyLock<Mutex<Declared>> = LazyLock::new(Mutex::default);

/// A family of counters with these labels; `with(&[])` for none. The name ends in `_total`.
pub fn counter(name: &str, help: &str, labels: &[&str]) -> CounterVec {
    let family = declare(name, labels, || {
        let vec = prometheus::IntCounterVec::new(Opts::new(name, help), labels)?;
        Ok((Kind::Counter(vec.clone()), Box::new(vec) as Box<dyn Collector>))
    });
    CounterVec(match family {
        Some(Kind::Counter(vec)) => Some(vec),
        other => mismatch(name, other.as_ref()),
    })
}

/// A family of gauges with these labels.
pub fn gauge(name: &str, help: &str, labels: &[&str]) -> GaugeVec {
    let family = declare(name, labels, || {
        let vec = prometheus::GaugeVec::new(Opts::new(name, help), labels)?;
        Ok((Kind::Gauge(vec.clone()), Box::new(vec) as Box<dyn Collector>))
    });
    GaugeVec(match family {
        Some(Kind::Gauge(vec)) => Some(vec),
        other => mismatch(name, other.as_ref()),
    })
}

/// A family of histograms of seconds, from 100 µs to 10 s.
pub fn histogram(name: &str, help: &str, labels: &[&str]) -> HistogramVec {
    histogram_with_buckets(name, help, labels, &SECONDS)
}

/// A family of histograms with buckets of your own: upper bounds, rising.
pub fn histogram_with_buckets(
    name: &str,
    help: &str,
    labels: &[&str],
    buckets: &[f64],
) -> HistogramVec {
    let family = declare(name, labels, || {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        let vec = prometheus::HistogramVec::new(options, labels)?;
        Ok((Kind::Histogram(vec.clone()), Box::new(vec) as Box<dyn Collector>))
    });
    HistogramVec(match family {
        Some(Kind::Histogram(vec)) => Some(vec),
        other => mismatch(name, other.as_ref()),
    })
}

/// All metrics, as the registry has them.
pub(crate) fn gather() -> Vec<prometheus::proto::MetricFamily> {
    let registry = DECLARED.lock().registry.clone();
    registry.gather()
}

/// All metrics in the text form that Prometheus reads.
#[must_use]
pub fn render() -> String {
    TextEncoder::new().encode_to_string(&gather()).unwrap_or_else(|error| {
        tracing::error!(%error, "The metrics cannot be written out: {error}");
        String::new()
    })
}

type Made = prometheus::Result<(Kind, Box<dyn Collector>)>;

fn declare(name: &str, labels: &[&str], make: impl FnOnce() -> Made) -> Option<Kind> {
    let mut declared = DECLARED.lock();
    if let Some(family) = declared.families.get(name) {
        if family.labels == labels {
            return Some(family.kind.clone());
        }
        tracing::error!(metric = name, "The metric `{name}` is declared twice, with other labels");
        return None;
    }
    let made = make().and_then(|(kind, collector)| {
        declared.registry.register(collector)?;
        Ok(kind)
    });
    match made {
        Ok(kind) => {
            let labels = labels.iter().map(ToString::to_string).collect();
            declared.families.insert(name.to_owned(), Family { labels, kind: kind.clone() });
            Some(kind)
        }
        Err(error) => {
            tracing::error!(metric = name, %error, "The metric `{name}` cannot be declared: {error}");
            None
        }
    }
}

fn mismatch<T>(name: &str, found: Option<&Kind>) -> Option<T> {
    if found.is_some() {
        tracing::error!(metric = name, "The metric `{name}` is declared twice, as two kinds");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_declared_twice_is_the_same_one() {
        let first = counter("berth_test_twice_total", "Twice", &["a"]);
        let second = counter("berth_test_twice_total", "Twice", &["a"]);
        first.with(&["x"]).inc();
        second.with(&["x"]).inc_by(2);
        assert_eq!(first.with(&["x"]).get(), 3);
        assert!(render().contains("berth_test_twice_total{a=\"x\"} 3"));
    }

    #[test]
    fn a_wrong_declaration_or_use_counts_nothing_and_does_not_panic() {
        counter("berth_test_clash_total", "Clash", &["a"]).with(&["x"]).inc();
        gauge("berth_test_clash_total", "Clash", &["a"]).with(&["x"]).set(1.0);
        counter("berth_test_clash_total", "Clash", &["b"]).with(&["x"]).inc();
        counter("berth_test_clash_total", "Clash", &["a"]).with(&["x", "y"]).inc();
        counter("not a name", "Bad", &[]).with(&[]).inc();
        assert!(render().contains("berth_test_clash_total{a=\"x\"} 1"));
    }

    #[test]
    fn gauges_and_histograms_show_in_the_text() {
        gauge("berth_test_slots", "Slots", &[]).with(&[]).set(2.5);
        let seconds = histogram("berth_test_seconds", "Seconds", &[]).with(&[]);
        seconds.observe(0.002);
        assert_eq!(seconds.count(), 1);
        let text = render();
        assert!(text.contains("berth_test_slots 2.5"));
        assert!(text.contains("berth_test_seconds_bucket{le=\"0.0025\"} 1"));
    }
}
