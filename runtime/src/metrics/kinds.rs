//! The handles that callers hold.
//!
//! `…Vec::with` picks the series of some label values and costs a lock and a hash: hot paths keep the
//! handle it returns, whose operations are single atomics. An empty handle (wrong declaration, wrong
//! number of label values) does nothing.

use prometheus::core::{MetricVec, MetricVecBuilder};
use std::time::Duration;

/// A family of counters, one for each set of label values.
#[derive(Clone)]
pub struct CounterVec(pub(super) Option<prometheus::IntCounterVec>);
/// A family of gauges, one for each set of label values.
#[derive(Clone)]
pub struct GaugeVec(pub(super) Option<prometheus::GaugeVec>);
/// A family of histograms, one for each set of label values.
#[derive(Clone)]
pub struct HistogramVec(pub(super) Option<prometheus::HistogramVec>);

/// Only goes up.
#[derive(Clone)]
pub struct Counter(Option<prometheus::IntCounter>);
/// Goes up and down.
#[derive(Clone)]
pub struct Gauge(Option<prometheus::Gauge>);
/// Counts observations by size.
#[derive(Clone)]
pub struct Histogram(Option<prometheus::Histogram>);

fn series<T: MetricVecBuilder>(vec: Option<&MetricVec<T>>, values: &[&str]) -> Option<T::M> {
    match vec?.get_metric_with_label_values(values) {
        Ok(series) => Some(series),
        Err(error) => {
            tracing::error!(%error, ?values, "A metric was given wrong label values: {error}");
            None
        }
    }
}

impl CounterVec {
    /// The counter of these label values, in the order they were declared.
    #[must_use]
    pub fn with(&self, values: &[&str]) -> Counter {
        Counter(series(self.0.as_ref(), values))
    }
}

impl GaugeVec {
    /// The gauge of these label values, in the order they were declared.
    #[must_use]
    pub fn with(&self, values: &[&str]) -> Gauge {
        Gauge(series(self.0.as_ref(), values))
    }
}

impl HistogramVec {
    /// The histogram of these label values, in the order they were declared.
    #[must_use]
    pub fn with(&self, values: &[&str]) -> Histogram {
        Histogram(series(self.0.as_ref(), values))
    }
}

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.inc_by(1);
    }

    /// Adds `n`.
    pub fn inc_by(&self, n: u64) {
        if let Some(counter) = &self.0 {
            counter.inc_by(n);
        }
    }

    /// The count so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.as_ref().map_or(0, prometheus::IntCounter::get)
    }
}

impl Gauge {
    /// Sets the value.
    pub fn set(&self, value: f64) {
        if let Some(gauge) = &self.0 {
            gauge.set(value);
        }
    }

    /// Adds; a negative `value` takes away.
    pub fn add(&self, value: f64) {
        if let Some(gauge) = &self.0 {
            gauge.add(value);
        }
    }

    /// The present value.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.as_ref().map_or(0.0, prometheus::Gauge::get)
    }
}

impl Histogram {
    /// Records a value, in the unit of the metric's name.
    pub fn observe(&self, value: f64) {
        if let Some(histogram) = &self.0 {
            histogram.observe(value);
        }
    }

    /// Records a duration in seconds.
    pub fn observe_duration(&self, duration: Duration) {
        self.observe(duration.as_secs_f64());
    }

    /// How many values were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.as_ref().map_or(0, prometheus::Histogram::get_sample_count)
    }

    /// Sum of the values recorded.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.0.as_ref().map_or(0.0, prometheus::Histogram::get_sample_sum)
    }
}
