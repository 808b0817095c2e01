//! A page of a list whose filters may fit few rows, or none.
//!
//! However few fit, a page reads a bounded number of rows by the list's key. Where it ended before it was full, it says at which row:
//! whoever asked goes on after it. So no list can keep a connection for as long as a tenant has history.

use std::ops::Deref;

/// Rows that one page reads by its key to find those that fit: some 40 ms of a core where each needs its spec, too.
pub const MOST_READ: i64 = 10_000;

/// The rows of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOf<T, K> {
    /// Those that fit.
    pub rows: Vec<T>,
    /// The last row that was read, where others may come after it though the page is not full.
    pub stopped_at: Option<K>,
}

impl<T, K> Deref for PageOf<T, K> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.rows
    }
}

impl<T, K> PageOf<T, K> {
    /// At most `limit` rows of what was read until `bound`, the last one that might be read.
    pub(crate) fn until(bound: Option<K>, rows: Vec<T>, limit: u32) -> Self {
        let is_full = rows.len() >= limit as usize;
        Self { rows, stopped_at: bound.filter(|_| !is_full) }
    }
}
