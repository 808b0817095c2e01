//! A limit as it is stored, and as the audit tells of it.

use crate::statement::RowCount;
use domain::batch::ConcurrencyKey;
use domain::time::Timestamp;
use serde_json::{Value, json};

/// A limit that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcurrencyLimit {
    /// What shares it.
    pub key: ConcurrencyKey,
    /// Tasks queued, running or cancelling at once; 0: none starts.
    pub running: u32,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// A row as the statements give it.
pub(super) struct LimitRow {
    pub key: String,
    pub running: i32,
    pub updated_at: Timestamp,
}

impl RowCount for LimitRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl From<LimitRow> for ConcurrencyLimit {
    fn from(row: LimitRow) -> Self {
        Self {
            key: ConcurrencyKey(row.key.into()),
            running: row.running.unsigned_abs(),
            updated_at: row.updated_at,
        }
    }
}

/// What the audit shows of one.
pub(super) fn audit_value(running: u32) -> Value {
    json!({"running": running})
}
