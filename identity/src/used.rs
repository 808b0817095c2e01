//! Which keys were used lately, for `last_used_at`.
//!
//! Requests only add to a set in memory; a tick writes it in one statement. What a crash loses is
//! a minute of "last used".

use crate::key::KeyId;
use parking_lot::Mutex;
use runtime::tick::TickOutcome;
use std::collections::HashSet;
use store::StoreError;

/// Keys written in one statement.
const BATCH: usize = 1000;

/// Keys used since the last tick.
#[derive(Debug, Default)]
pub struct UsedKeys(Mutex<HashSet<KeyId>>);

impl UsedKeys {
    /// The key was used now.
    pub(crate) fn mark(&self, id: KeyId) {
        self.0.lock().insert(id);
    }

    /// Writes what gathered. On an error the keys of this batch are forgotten: they are used again soon.
    ///
    /// # Errors
    /// What `write` says.
    pub async fn flush<F, Fut>(&self, write: F) -> Result<TickOutcome, StoreError>
    where
        F: Fn(Vec<String>) -> Fut,
        Fut: Future<Output = Result<(), StoreError>>,
    {
        let used: Vec<KeyId> = self.0.lock().drain().collect();
        for batch in used.chunks(BATCH) {
            write(batch.iter().map(KeyId::to_string).collect()).await?;
        }
        Ok(TickOutcome::idle(used.len() as u64))
    }
}
