//! Counters, gauges and histograms of this process, in the form Prometheus reads.
//!
//! Every crate declares its metrics as `static X: LazyLock<CounterVec>` through these helpers; only
//! this module knows the library beneath. Names are `berth_<noun>_<unit>`. Declaring a metric twice
//! gives the same one; a wrong declaration gives one that counts nothing and is logged at error:
//! measuring must never stop the work.

mod declare;
mod kinds;
mod statement;

pub(crate) use declare::gather;
pub use declare::{counter, gauge, histogram, histogram_with_buckets, render};
pub use kinds::{Counter, CounterVec, Gauge, GaugeVec, Histogram, HistogramVec};
pub use statement::{StatementTimer, statement_timer};
