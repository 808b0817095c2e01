//! What became of one single submit.

use domain::id::TaskId;
use store::spend::CapRefusal;
use store::task::submit::{Created, NewTask, SubmitAnswer};

/// The database's verdict, with the task given back where it is needed to answer.
#[derive(Debug)]
pub enum Verdict {
    /// Stored, and committed.
    Created(Box<NewTask>, Created),
    /// Its unique key is held by this task.
    Existing(TaskId),
    /// The same request made this task before.
    Replayed(TaskId),
    /// The idempotency key was used with another body.
    KeyReused,
    /// Not stored: the tenant has no task as those at these places of `depends_on`.
    UnknownParents(Vec<usize>),
    /// Not stored: a spend cap has no room for it.
    OverCap(Box<CapRefusal>),
}

impl Verdict {
    /// Whether a task is there that was not there before.
    pub(crate) const fn is_new(&self) -> bool {
        matches!(self, Self::Created(..))
    }

    pub(crate) fn of(task: Box<NewTask>, answer: SubmitAnswer) -> Self {
        match answer {
            SubmitAnswer::Created(created) => Self::Created(task, created),
            SubmitAnswer::Existing(id) => Self::Existing(id),
            SubmitAnswer::Replayed(id) => Self::Replayed(id),
            SubmitAnswer::KeyReused => Self::KeyReused,
            SubmitAnswer::OverCap(refusal) => Self::OverCap(refusal),
            SubmitAnswer::UnknownParents(unknown) => {
                let edges = task.depends_on.iter().flat_map(|all| &all.edges).enumerate();
                let places = edges.filter(|(_, edge)| unknown.contains(&edge.parent));
                Self::UnknownParents(places.map(|(place, _)| place).collect())
            }
        }
    }
}
