//! The writers, on the threads that serve requests.
//!
//! So a request, the statement that stores its task and the response stay on one thread. Each thread starts a task for every
//! writer; one of these tasks holds the writer's lock and runs it. If its thread ends, another takes over.

use super::queue::Queue;
use super::writer::Writer;
use bus::Bus;
use runtime::config::Config;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use store::StoreError;
use store::connect::SubmitDb;
use tokio::sync::Mutex;

/// All writers of a process; cheap to clone.
#[derive(Clone)]
pub(crate) struct Writers {
    /// The holder of its lock runs a writer.
    all: Arc<[Arc<Mutex<Writer>>]>,
    tasks: TaskGroup,
    until: Shutdown,
}

impl Writers {
    /// `api.submit_writers` of them, each with connections of its own, until `until`.
    ///
    /// # Errors
    /// When the database URL is not usable.
    pub(crate) fn new(
        config: &Config,
        bus: &Bus,
        queue: &Queue,
        tasks: &TaskGroup,
        until: &Shutdown,
    ) -> Result<Self, StoreError> {
        let writer = |_| {
            let db = SubmitDb::connect_for_writer(&config.database)?;
            Ok(Arc::new(Mutex::new(Writer::new(db, bus.clone(), queue.clone()))))
        };
        let all = (0..config.api.submit_writers).map(writer).collect::<Result<_, StoreError>>()?;
        Ok(Self { all, tasks: tasks.clone(), until: until.clone() })
    }

    /// Offers this thread to each writer. Call it once per thread, within its runtime.
    pub(crate) fn offer_this_thread(&self) {
        for writer in self.all.iter() {
            let writer = Arc::clone(writer);
            self.tasks.supervise("api.submit_writer", self.until.clone(), move || {
                let writer = Arc::clone(&writer);
                async move { writer.lock().await.run().await }
            });
        }
    }
}
