//! Puts the writers on the threads that serve requests.
//!
//! A request, the statement that stores its task and the answer then stay on one thread: each hand-over to another is a wake-up, and one
//! of those may find its processor busy for milliseconds. The rule: a thread that ends gives its writers back, to the one that is started
//! in its place.

use super::queue::Queue;
use super::writer::Writer;
use bus::Bus;
use runtime::config::Config;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::sync::{Arc, Mutex, PoisonError};
use store::StoreError;
use store::connect::SubmitDb;

/// All writers, and which of them no thread has.
#[derive(Clone)]
pub(crate) struct Writers {
    free: Free<Share>,
    tasks: TaskGroup,
    until: Shutdown,
}

/// The writers of one thread. They share its connections: what one has used last is the next one's, and warm.
#[derive(Clone)]
struct Share {
    writer: Writer,
    number: u32,
}

impl Writers {
    /// `api.submit_writers` of them, each with a connection of its own. They run until the shutdown.
    ///
    /// # Errors
    /// When the database URL is not usable.
    pub(crate) fn new(
        config: &Config,
        bus: &Bus,
        queue: &Queue,
        (tasks, until): (&TaskGroup, &Shutdown),
    ) -> Result<Self, StoreError> {
        let share = |number| {
            let db = SubmitDb::connect_for_writers(&config.database, number)?;
            Ok(Share { writer: Writer::new(db, bus.clone(), queue.clone()), number })
        };
        let shares = shares(config.api.submit_writers, config.api.http_workers());
        let free = Free::of(shares.map(share).collect::<Result<_, StoreError>>()?);
        Ok(Self { free, tasks: tasks.clone(), until: until.clone() })
    }

    /// Starts this thread's part of the writers. To be called once by each, within its runtime.
    pub(crate) fn start_here(&self) {
        let Some(taken) = self.free.take().map(Arc::new) else { return };
        for _ in 0..taken.value.number {
            let taken = Arc::clone(&taken);
            let run = move || taken.value.writer.clone().run();
            self.tasks.supervise("api.submit_writer", self.until.clone(), run);
        }
    }
}

/// How many writers each thread has, of those that have any.
fn shares(writers: usize, threads: usize) -> impl Iterator<Item = u32> {
    let of = move |thread| (writers / threads + usize::from(thread < writers % threads)) as u32;
    (0..threads).map(of).filter(|number| *number > 0)
}

/// What nobody has.
#[derive(Clone)]
struct Free<T>(Arc<Mutex<Vec<T>>>);

/// What somebody has; it is free again when this is dropped.
struct Taken<T: Clone> {
    value: T,
    free: Free<T>,
}

impl<T: Clone> Free<T> {
    fn of(all: Vec<T>) -> Self {
        Self(Arc::new(Mutex::new(all)))
    }

    fn take(&self) -> Option<Taken<T>> {
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        Some(Taken { value, free: self.clone() })
    }
}

impl<T: Clone> Drop for Taken<T> {
    fn drop(&mut self) {
        self.free.0.lock().unwrap_or_else(PoisonError::into_inner).push(self.value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_writer_has_one_thread_and_threads_have_as_many_as_each_other() {
        let of = |writers, threads| shares(writers, threads).collect::<Vec<_>>();
        assert_eq!(of(2, 1), [2]);
        assert_eq!(of(2, 8), [1, 1]);
        assert_eq!(of(5, 2), [3, 2]);
        assert_eq!(of(64, 16), [4; 16]);
    }

    #[test]
    fn a_thread_that_ends_gives_its_writers_back() {
        let free = Free::of(vec![1, 2]);
        let (first, second) = (free.take().unwrap(), free.take().unwrap());
        assert!(free.take().is_none());
        let shared = Arc::new(first);
        let task = Arc::clone(&shared);
        drop(shared);
        assert!(free.take().is_none(), "one of its tasks still runs");
        let had = task.value;
        drop(task);
        assert_eq!(free.take().map(|taken| taken.value), Some(had));
        assert_ne!(second.value, had);
    }
}
