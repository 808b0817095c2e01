//! Where single submits wait for a writer.
//!
//! Bounded: what does not fit is refused at once with `overloaded`, instead of waiting past its
//! client's timeout.

use super::outcome::Verdict;
use crate::problem::{Code, Problem};
use runtime::metrics::{Counter, counter};
use std::sync::Arc;
use store::task::submit::NewTask;
use tokio::sync::{Mutex, mpsc, oneshot};

/// Submits that may wait. At 8 000 a second this is half a second of work.
const CAPACITY: usize = 4096;
/// Submits stored in one statement.
const GROUP: usize = 500;

/// One submit, and where its request waits for the verdict.
#[derive(Debug)]
pub(super) struct Pending {
    pub task: Box<NewTask>,
    pub answer: oneshot::Sender<Result<Verdict, Problem>>,
}

/// The requests' end.
#[derive(Clone)]
pub(crate) struct Intake {
    sender: mpsc::Sender<Pending>,
    refused: Counter,
}

impl std::fmt::Debug for Intake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").field("free", &self.sender.capacity()).finish_non_exhaustive()
    }
}

/// The writers' end, shared by them: a free writer receives all that is queued.
#[derive(Debug, Clone)]
pub(crate) struct Queue(Arc<Mutex<mpsc::Receiver<Pending>>>);

/// A queue; it ends when all intakes are gone.
pub(crate) fn queue() -> (Intake, Queue) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    let refused =
        counter("berth_submits_refused_total", "Submits refused because too many waited", &[]);
    let intake = Intake { sender, refused: refused.with(&[]) };
    (intake, Queue(Arc::new(Mutex::new(receiver))))
}

impl Intake {
    /// Stores `task`; returns after the commit. Dropping the future does not take the submit back.
    ///
    /// # Errors
    /// `overloaded` when too many wait; what the database said otherwise.
    pub(crate) async fn submit(&self, task: NewTask) -> Result<Verdict, Problem> {
        let (answer, verdict) = oneshot::channel();
        self.sender.try_send(Pending { task: Box::new(task), answer }).map_err(|_| {
            self.refused.inc();
            Problem::new(Code::Overloaded, "Too many submits are waiting; try again later.")
        })?;
        verdict.await.unwrap_or_else(|_| {
            Err(Problem::new(Code::OutcomeUnknown, Code::OutcomeUnknown.advice()))
        })
    }
}

impl Queue {
    /// Waits for a submit, and receives all that are queued then, up to a group. Empty: the queue has ended.
    pub(super) async fn next_group(&self) -> Vec<Pending> {
        let mut group = Vec::new();
        self.0.lock().await.recv_many(&mut group, GROUP).await;
        group
    }

    /// Adds what is queued now, up to the limit of a group. Nothing while another writer waits for submits: it gets them.
    pub(super) fn add_to(&self, group: &mut Vec<Pending>) {
        let Ok(mut receiver) = self.0.try_lock() else { return };
        while group.len() < GROUP
            && let Ok(pending) = receiver.try_recv()
        {
            group.push(pending);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::pending;
    use super::*;
    use domain::id::TenantId;
    use futures::FutureExt;

    #[test]
    fn what_is_queued_when_a_writer_is_free_is_one_group_up_to_its_limit() {
        let (intake, queue) = queue();
        let submit = || intake.sender.try_send(pending(TenantId::fresh(), None).0).unwrap();
        let next = || queue.next_group().now_or_never().map(|group| group.len());
        assert_eq!(next(), None);
        submit();
        assert_eq!(next(), Some(1), "a lone submit waits for no other");
        (0..GROUP + 2).for_each(|_| submit());
        assert_eq!(next(), Some(GROUP));
        let mut group = queue.next_group().now_or_never().unwrap();
        submit();
        queue.add_to(&mut group);
        assert_eq!((group.len(), next()), (3, None));
        (0..GROUP).for_each(|_| submit());
        queue.add_to(&mut group);
        assert_eq!((group.len(), next()), (GROUP, Some(3)), "the rest is the next group");
        drop(intake);
        assert_eq!(next(), Some(0), "the queue has ended");
    }
}
