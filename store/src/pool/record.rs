//! A pool as operators see it.

use crate::StoreError;
use crate::statement::RowCount;
use domain::id::PoolName;
use domain::pool::PoolPolicy;
use domain::time::Timestamp;

/// A pool as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRecord {
    /// Its name.
    pub name: PoolName,
    /// What its attempts may do.
    pub policy: PoolPolicy,
    /// Why nothing of it is handed out, while it is paused.
    pub pause: Option<Pause>,
}

/// Why nothing of a pool is handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub at: Timestamp,
    /// Why, for people; up to 500 characters.
    pub because: String,
}

/// A row as the statements give it.
pub(super) struct Row {
    pub name: String,
    pub command_network: bool,
    pub private_targets: bool,
    pub paused_at: Option<Timestamp>,
    pub paused_because: Option<String>,
}

impl RowCount for Row {
    fn rows(&self) -> u64 {
        1
    }
}

impl TryFrom<Row> for PoolRecord {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let Row { name, command_network, private_targets, paused_at, paused_because } = row;
        let because = paused_because.unwrap_or_default();
        Ok(Self {
            name: name.parse().map_err(|_| StoreError::Malformed {
                what: "name",
                row: "a pool".into(),
                value: name,
            })?,
            policy: PoolPolicy { command_network, private_targets },
            pause: paused_at.map(|at| Pause { at, because }),
        })
    }
}
