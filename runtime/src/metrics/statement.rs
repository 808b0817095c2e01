//! Time and rows of each SQL statement, by its name.
//!
//! Called by every function of `store`, on the hottest path there is: the handles of a name are looked
//! up under a read lock and then are single atomics. A timer that is dropped without `finish` counts
//! as a failure (an error, or a caller that went away), and its time is recorded too.

use super::declare::{counter, histogram};
use super::kinds::{Counter, CounterVec, Histogram, HistogramVec};
use crate::clock::{self, Instant};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

struct Handles {
    seconds: Histogram,
    rows: Counter,
    failures: Counter,
}

static SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    histogram("berth_sql_seconds", "Time of SQL statements, by name", &["statement"])
});
static ROWS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_sql_rows_total", "Rows that SQL statements read or wrote", &["statement"])
});
static FAILURES: LazyLock<CounterVec> = LazyLock::new(|| {
    counter(
        "berth_sql_failures_total",
        "SQL statements that failed or were given up",
        &["statement"],
    )
});
static HANDLES: LazyLock<RwLock<HashMap<&'static str, Arc<Handles>>>> =
    LazyLock::new(RwLock::default);

/// Measures one statement from its making to `finish`.
#[must_use = "a timer that is dropped at once measures nothing"]
pub struct StatementTimer {
    handles: Arc<Handles>,
    started: Instant,
    finished: bool,
}

/// Starts measuring the statement `name`, as in `task::claim_ready_skip_locked`.
pub fn statement_timer(name: &'static str) -> StatementTimer {
    StatementTimer { handles: handles(name), started: clock::monotonic(), finished: false }
}

impl StatementTimer {
    /// The statement succeeded with `rows` rows.
    pub fn finish(mut self, rows: u64) {
        self.finished = true;
        self.handles.rows.inc_by(rows);
    }
}

impl Drop for StatementTimer {
    fn drop(&mut self) {
        self.handles.seconds.observe_duration(self.started.elapsed());
        if !self.finished {
            self.handles.failures.inc();
        }
    }
}

fn handles(name: &'static str) -> Arc<Handles> {
    if let Some(known) = HANDLES.read().get(name) {
        return Arc::clone(known);
    }
    let fresh = Arc::new(Handles {
        seconds: SECONDS.with(&[name]),
        rows: ROWS.with(&[name]),
        failures: FAILURES.with(&[name]),
    });
    let mut all = HANDLES.write();
    Arc::clone(all.entry(name).or_insert(fresh))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_shows_its_time_rows_and_failures_under_its_name() {
        statement_timer("test::one").finish(7);
        statement_timer("test::one").finish(3);
        drop(statement_timer("test::one"));
        let text = super::super::render();
        assert!(text.contains("berth_sql_rows_total{statement=\"test::one\"} 10"), "{text}");
        assert!(text.contains("berth_sql_seconds_count{statement=\"test::one\"} 3"));
        assert!(text.contains("berth_sql_failures_total{statement=\"test::one\"} 1"));
    }
}
