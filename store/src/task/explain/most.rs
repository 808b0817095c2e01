//! Where counts end.

/// Tasks that are counted, at most.
pub(super) const MOST: i64 = 10_000;
