//! Rows that cannot be worked with: what is told of them, and where they are looked for.
//!
//! One bad row must never be a statement's failure for all others. Whoever meets one leaves it out, tells of it here, and goes on.

use domain::time::Timestamp;
use runtime::metrics::{self, CounterVec};
use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};
use tracing::warn;

/// Times that are stored lie from here on ...
pub(crate) const LEAST: Timestamp = Timestamp::UNIX_EPOCH;
/// ... to here, the year 20000: later ones would not survive being read.
pub(crate) const MOST: Timestamp = match Timestamp::from_timestamp(568_971_820_800, 0) {
    Some(at) => at,
    None => Timestamp::UNIX_EPOCH,
};

/// Rows remembered as told, at most; then all are forgotten, and may be told once more.
const MOST_TOLD: usize = 10_000;

static ROWS: LazyLock<CounterVec> = LazyLock::new(|| {
    let help = "Rows found that cannot be worked with, by table";
    metrics::counter("berth_malformed_rows_total", help, &["table"])
});
static TOLD: LazyLock<Mutex<HashSet<(&'static str, String)>>> = LazyLock::new(Mutex::default);

/// Pages of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The first; 0 upwards.
    pub from: i64,
    /// How many.
    pub pages: i64,
}

/// The first row of a page, as Postgres writes it.
pub(crate) fn at(page: i64) -> String {
    format!("({},0)", page.clamp(0, u32::MAX.into()))
}

/// Counts and logs that `row` of `table` cannot be worked with because of `what`, once each. No value of it: it may hold secrets.
pub fn tell(table: &'static str, row: &str, what: &str) {
    {
        let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= MOST_TOLD {
            told.clear();
        }
        if !told.insert((table, format!("{row} {what}"))) {
            return;
        }
    }
    ROWS.with(&[table]).inc();
    warn!(table, row, what, "`{row}` in `{table}` is malformed: {what}");
}
