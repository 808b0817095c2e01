//! What `TaskGroup::spawn` hands back.
//!
//! Dropping it lets the task run on: the group still watches it and waits for it.

use tokio::task::JoinHandle;

/// One spawned task.
#[derive(Debug)]
pub struct TaskHandle<T> {
    pub(super) inner: JoinHandle<Option<T>>,
}

/// Why a task gave no output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TaskEnded {
    /// It panicked; the group has logged it.
    #[error("the task panicked")]
    Panicked,
    /// It was aborted, by its handle or because the group's time was up.
    #[error("the task was aborted")]
    Aborted,
}

impl<T> TaskHandle<T> {
    /// Waits for the end. May be dropped while waiting: the task runs on.
    ///
    /// # Errors
    /// When the task panicked or was aborted.
    pub async fn join(&mut self) -> Result<T, TaskEnded> {
        match (&mut self.inner).await {
            Ok(Some(output)) => Ok(output),
            Ok(None) => Err(TaskEnded::Panicked),
            Err(_) => Err(TaskEnded::Aborted),
        }
    }

    /// Drops the task at its next await.
    pub fn abort(&self) {
        self.inner.abort();
    }

    /// Whether it has ended, in whatever way.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }
}
