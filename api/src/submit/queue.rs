//! Where single submits wait for a writer.
//!
//! Bounded: what does not fit is refused at once with `overloaded`, instead of waiting past its
//! client's patience.

use super::gathering::{Company, ENOUGH, Gathering};
use super::outcome::Verdict;
use crate::problem::{Code, Problem};
use runtime::clock;
use runtime::fine_timer::FineTimer;
use runtime::metrics::{Counter, counter};
use std::sync::Arc;
use std::time::Duration;
use store::task::submit::NewTask;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Submits that may wait. At 8 000 a second this is half a second of work.
const CAPACITY: usize = 4096;
/// Submits stored in one statement.
pub(super) const GROUP: usize = 500;

/// The longest that a statement under way is waited for: several times what one takes, and little for whoever submits.
const PATIENCE: Duration = Duration::from_millis(10);

/// One submit and who waits for it.
#[derive(Debug)]
pub(super) struct Pending {
    pub task: Box<NewTask>,
    pub answer: oneshot::Sender<Result<Verdict, Problem>>,
}

/// The requests' end.
#[derive(Clone)]
pub(crate) struct Intake {
    sender: mpsc::Sender<Pending>,
    company: Arc<Company>,
    refused: Counter,
}

impl std::fmt::Debug for Intake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").field("free", &self.sender.capacity()).finish_non_exhaustive()
    }
}

/// The writers' end, shared by them: one takes what waits, while the others store.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    line: Arc<Mutex<Line>>,
    turn: Arc<Semaphore>,
}

/// What one writer at a time has in hand.
#[derive(Debug)]
struct Line {
    receiver: mpsc::Receiver<Pending>,
    gathering: Gathering,
    company: Arc<Company>,
}

/// Submits to be stored in one statement, and the turn to do so: it is given back when the statement has ended, before anybody is
/// answered. `None` where the statement before takes long.
#[derive(Debug)]
pub(super) struct Taken {
    pub pending: Vec<Pending>,
    pub turn: Option<OwnedSemaphorePermit>,
}

/// A queue; it ends when all intakes are gone.
pub(crate) fn queue() -> (Intake, Queue) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    let refused =
        counter("berth_submits_refused_total", "Submits refused because too many waited", &[]);
    let company = Arc::new(Company::new());
    let line = Line { receiver, gathering: Gathering::default(), company: Arc::clone(&company) };
    let (line, turn) = (Arc::new(Mutex::new(line)), Arc::new(Semaphore::new(1)));
    (Intake { sender, company, refused: refused.with(&[]) }, Queue { line, turn })
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
            Problem::new(
                Code::Overloaded,
                "Too many submits wait to be stored; try again in a moment.",
            )
        })?;
        self.company.come(self.sender.max_capacity() - self.sender.capacity());
        verdict.await.unwrap_or_else(|_| {
            Err(Problem::new(Code::OutcomeUnknown, Code::OutcomeUnknown.advice()))
        })
    }
}

impl Queue {
    /// Waits for a submit, for the statement that is under way and for [company](Gathering), and takes all that wait then, up to a
    /// group. Empty: the queue has ended.
    ///
    /// One statement at a time makes groups as large as they can be without anybody's waiting longer: half of what a small group costs
    /// is the statement. But one that takes long, of a distant database or behind a lock, does not hold up all others.
    pub(super) async fn take(&self, timer: &FineTimer) -> Taken {
        let mut line = self.line.lock().await;
        let Line { receiver, gathering, company } = &mut *line;
        let mut pending = Vec::new();
        if receiver.recv_many(&mut pending, GROUP).await == 0 {
            return Taken { pending, turn: None };
        }
        let turn = clock::timeout(PATIENCE, Arc::clone(&self.turn).acquire_owned()).await;
        let waiting = |receiver: &mpsc::Receiver<_>| pending.len() + receiver.len();
        while let Some(until) = gathering.pause(clock::monotonic(), waiting(receiver)) {
            company.or(ENOUGH.saturating_sub(pending.len()), timer.until(until)).await;
        }
        while pending.len() < GROUP
            && let Ok(next) = receiver.try_recv()
        {
            pending.push(next);
        }
        Taken { pending, turn: turn.ok().and_then(Result::ok) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::pending;
    use super::*;
    use domain::id::TenantId;
    use futures::FutureExt;

    #[tokio::test(start_paused = true)]
    async fn one_statement_at_a_time_unless_it_takes_long() {
        let (intake, queue) = queue();
        let timer = FineTimer::new();
        let submit = || intake.sender.try_send(pending(TenantId::fresh(), None).0).unwrap();
        submit();
        let alone = queue.take(&timer).now_or_never().expect("a lone submit waits for nobody");
        submit();
        let mut next = Box::pin(queue.take(&timer));
        assert!(next.as_mut().now_or_never().is_none(), "one is under way");
        submit();
        drop(alone.turn);
        let next = next.await;
        assert_eq!(next.pending.len(), 2, "what came meanwhile goes together");
        assert!(next.turn.is_some());
        submit();
        let began = clock::monotonic();
        let third = queue.take(&timer).await;
        assert!(third.turn.is_none() && began.elapsed() >= PATIENCE, "it is waited for no longer");
    }
}
