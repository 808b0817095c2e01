//! What became of each task of a batch: judged, then stored, then shown.

use crate::problem::{Code, Problem, over_cap};
use crate::task::task;
use api_types::{BatchItem, BatchTask, Extensible, TaskState, TaskWarning};
use domain::task::State;
use store::task::TaskRecord;
use store::task::submit::{NewTask, SubmitAnswer};

/// Bytes of one task's place in an answer, about: as it is usually, and whole without what it runs.
const BRIEF: usize = 160;
const FULL: usize = 1024;

/// The tasks that can be stored, and where each task that was sent went.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub tasks: Vec<NewTask>,
    /// What is to be known of each of `tasks`.
    pub warnings: Vec<Vec<TaskWarning>>,
    /// Place in the request, and in `tasks`.
    pub places: Vec<(usize, Result<usize, Problem>)>,
    /// Some depend on others: all are stored, or none is.
    pub is_linked: bool,
}

impl Judged {
    /// Keeps the first `most` tasks that can be stored; the others are refused.
    pub(super) fn keep(&mut self, most: usize, refusal: impl Fn() -> Problem) {
        self.tasks.truncate(most);
        for (_, place) in &mut self.places {
            if place.as_ref().is_ok_and(|place| *place >= most) {
                *place = Err(refusal());
            }
        }
    }

    /// Bytes that its answer will have, about; `text` bytes were sent.
    pub(super) fn answer_bytes(&self, full: bool, text: usize) -> usize {
        let (each, more) = if full { (FULL, text) } else { (BRIEF, 0) };
        self.places.len() * each + more
    }

    /// What became of each, in order.
    ///
    /// # Errors
    /// `internal` when a task cannot be shown, which would be a bug.
    pub(super) fn items(
        &self,
        answers: &[SubmitAnswer],
        full: bool,
    ) -> Result<Vec<BatchItem>, Problem> {
        let mut items = Vec::with_capacity(self.places.len());
        for (index, place) in &self.places {
            let (task, error, warnings) = match place {
                Err(problem) => (None, Some(Box::new(problem.shown(None))), Vec::new()),
                Ok(place) => {
                    let (task, answer) = (self.tasks.get(*place), answers.get(*place));
                    let (Some(task), Some(answer)) = (task, answer) else { return Err(internal()) };
                    if let SubmitAnswer::OverCap(refusal) = answer {
                        let error = Some(Box::new(over_cap(refusal).shown(None)));
                        let (index, warnings) = (*index, Vec::new());
                        items.push(BatchItem { index, task: None, error, warnings });
                        continue;
                    }
                    let is_new = matches!(answer, SubmitAnswer::Created(_));
                    let warnings = self.warnings.get(*place).filter(|_| is_new).cloned();
                    (Some(shown(task, answer, full)?), None, warnings.unwrap_or_default())
                }
            };
            items.push(BatchItem { index: *index, task, error, warnings });
        }
        Ok(items)
    }
}

fn shown(new: &NewTask, answer: &SubmitAnswer, full: bool) -> Result<BatchTask, Problem> {
    let brief = |id, state: Option<State>| {
        let (state, existing) = (state.map(Extensible::Known), state.is_none());
        BatchTask::Brief(TaskState { id, state, existing })
    };
    Ok(match answer {
        SubmitAnswer::Created(created) if full => {
            BatchTask::Full(Box::new(task(TaskRecord::created(new, created))))
        }
        SubmitAnswer::Created(created) => brief(new.id, Some(created.state)),
        // A batch's tasks carry no keys of their own, so only a unique key can lead elsewhere.
        SubmitAnswer::Existing(id) | SubmitAnswer::Replayed(id) => brief(*id, None),
        SubmitAnswer::KeyReused | SubmitAnswer::UnknownParents(_) | SubmitAnswer::OverCap(_) => {
            return Err(internal());
        }
    })
}

/// What would be a bug.
pub(super) fn internal() -> Problem {
    Problem::new(Code::Internal, Code::Internal.advice())
}
