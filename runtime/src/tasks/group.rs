//! A set of named tasks that is waited for together.
//!
//! Held by each role from start to end; cheap to clone into whoever spawns. `join_all` must be called
//! at the end of the role, after the shutdown was announced: it names what did not stop in time.

use super::caught::caught;
use super::handle::TaskHandle;
use crate::{clock, metrics};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio_util::task::TaskTracker;

static PANICS: LazyLock<metrics::CounterVec> = LazyLock::new(|| {
    metrics::counter("berth_task_panics_total", "Tasks that panicked, by name", &["task"])
});

/// Named tasks of one role.
#[derive(Debug, Clone, Default)]
pub struct TaskGroup {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    tracker: TaskTracker,
    next: AtomicU64,
    running: Mutex<HashMap<u64, (&'static str, AbortHandle)>>,
}

/// Tasks that had not stopped when the time was up. They were aborted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tasks still running at the end and aborted: {}", .names.join(", "))]
pub struct StillRunning {
    /// Their names, sorted, each as often as it ran.
    pub names: Vec<&'static str>,
}

/// Takes a task out of the list when its future is dropped, however it ends.
struct Entry {
    group: Arc<Inner>,
    id: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.group.running.lock().remove(&self.id);
    }
}

impl TaskGroup {
    /// An empty group.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `future` as a task of its own. A panic is logged at error and counted under `name`.
    pub fn spawn<F>(&self, name: &'static str, future: F) -> TaskHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let id = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let entry = Entry { group: Arc::clone(&self.inner), id };
        // Locked until the task is listed: one that ends at once must not be removed before.
        let mut running = self.inner.running.lock();
        let inner = self.inner.tracker.spawn(async move {
            let _entry = entry;
            watched(name, future).await
        });
        running.insert(id, (name, inner.abort_handle()));
        TaskHandle { inner }
    }

    /// Runs `future` as a task that lasts as long as the process: `join_all` does not wait for it.
    #[expect(clippy::disallowed_methods, reason = "this is the spawn the others are told to use")]
    pub fn spawn_detached<F>(&self, name: &'static str, future: F)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        drop(tokio::spawn(watched(name, future)));
    }

    /// How many tasks run.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.tracker.len()
    }

    /// Whether none runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.tracker.is_empty()
    }

    /// Waits until all tasks have ended; after `limit` the rest are aborted. Announce the shutdown
    /// first.
    ///
    /// # Errors
    /// `StillRunning` names those that were aborted.
    pub async fn join_all(&self, limit: Duration) -> Result<(), StillRunning> {
        self.inner.tracker.close();
        if clock::timeout(limit, self.inner.tracker.wait()).await.is_ok() {
            return Ok(());
        }
        let left: Vec<(&'static str, AbortHandle)> = {
            let running = self.inner.running.lock();
            running.values().cloned().collect()
        };
        let mut names: Vec<&'static str> = left.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        left.iter().for_each(|(_, handle)| handle.abort());
        // A task in the middle of a blocking call cannot be aborted; it ends with the process.
        let _ = clock::timeout(Duration::from_secs(1), self.inner.tracker.wait()).await;
        Err(StillRunning { names })
    }
}

async fn watched<F: Future>(name: &'static str, future: F) -> Option<F::Output> {
    match caught(future).await {
        Ok(output) => Some(output),
        Err(panic) => {
            report_panic(name, &panic);
            None
        }
    }
}

/// Logs and counts one panic.
pub(crate) fn report_panic(name: &str, panic: &str) {
    PANICS.with(&[name]).inc();
    tracing::error!(task = name, panic, "The background task `{name}` panicked: {panic}");
}
