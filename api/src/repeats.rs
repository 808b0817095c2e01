//! How often a statement is tried again that is safe to repeat.

/// Tries after a connection broke: when Postgres restarts, all connections of the pool are broken and each is found out once.
pub(crate) const REPEATS: usize = 4;
