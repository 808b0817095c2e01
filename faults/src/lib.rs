//! Every fault point there is: where each step of each operation can fail, or its process die.
//!
//! A point stands on one side of what a step commits. At one before the commit an error means that the step failed once; at one
//! after it the error makes its caller do the step again, so that it is run twice. The tests attack each point both ways, and a point
//! of the source that is not listed here fails them.
//!
//! This crate is also what compiles the points in: see its manifest.

pub use runtime::fault::Action;

/// What is attacked together, by one test each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A submit, from the request to the reply.
    Submit,
    /// From ready to a hint with the broker, and from due to ready.
    Dispatch,
    /// A due time of a schedule becomes a task.
    Fire,
    /// A due time of a schedule starts a workflow run.
    Start,
    /// From a hint to an assignment on an executor.
    Place,
    /// From a result to the answer to its executor.
    Settle,
    /// A session whose term has passed is ended.
    Reap,
    /// A retry that waited for its target goes.
    LetGo,
    /// Children of a parent that has many are released.
    Release,
    /// A task that nobody completes ends.
    Complete,
    /// A workflow run: its gates, its end, and its cancel.
    Workflow,
    /// What was used is counted, and billed.
    Count,
    /// From an assignment to a result, on the executor.
    Execute,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Submit,
        Self::Dispatch,
        Self::Fire,
        Self::Start,
        Self::Place,
        Self::Settle,
        Self::Reap,
        Self::LetGo,
        Self::Release,
        Self::Complete,
        Self::Workflow,
        Self::Count,
        Self::Execute,
    ];

    /// Its points.
    pub fn points(self) -> impl Iterator<Item = &'static Point> {
        POINTS.iter().filter(move |point| point.of == self)
    }
}

/// A fault point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Its name, as in the source.
    pub name: &'static str,
    /// What it is a step of.
    pub of: Operation,
    /// An error there means something: there is a caller who hears of it.
    pub fails: bool,
}

impl Point {
    /// What is done at it.
    pub fn actions(&self) -> impl Iterator<Item = Action> {
        self.fails.then_some(Action::Error).into_iter().chain([Action::Kill])
    }
}

const fn point(name: &'static str, of: Operation) -> Point {
    Point { name, of, fails: true }
}

/// A point at which nobody could hear of an error.
const fn kills_only(name: &'static str, of: Operation) -> Point {
    Point { name, of, fails: false }
}

/// All points, in the order of a task's life.
pub const POINTS: [Point; 34] = [
    point("api.submit.before_insert", Operation::Submit),
    point("api.submit.after_commit", Operation::Submit),
    point("scheduler.fire.before_commit", Operation::Fire),
    point("scheduler.fire.committed", Operation::Fire),
    point("scheduler.fire_runs.before_commit", Operation::Start),
    point("scheduler.fire_runs.committed", Operation::Start),
    point("scheduler.due.committed", Operation::Dispatch),
    point("scheduler.batcher.marked", Operation::Dispatch),
    point("bus.hints.sent", Operation::Dispatch),
    point("scheduler.batcher.published", Operation::Dispatch),
    point("resource_manager.claim.delivered", Operation::Place),
    point("resource_manager.claim.committed", Operation::Place),
    kills_only("resource_manager.claim.assigned", Operation::Place),
    kills_only("executor.heard", Operation::Execute),
    kills_only("executor.ended", Operation::Execute),
    kills_only("executor.spooled", Operation::Execute),
    point("resource_manager.settle.before_commit", Operation::Settle),
    point("resource_manager.settle.committed", Operation::Settle),
    point("resource_manager.reap.before_commit", Operation::Reap),
    point("resource_manager.reap.committed", Operation::Reap),
    point("resource_manager.retries.before_commit", Operation::LetGo),
    point("resource_manager.retries.committed", Operation::LetGo),
    point("scheduler.children.before_commit", Operation::Release),
    point("scheduler.children.committed", Operation::Release),
    point("scheduler.called.committed", Operation::Complete),
    point("scheduler.gates.before_commit", Operation::Workflow),
    point("scheduler.gates.committed", Operation::Workflow),
    point("scheduler.runs.before_commit", Operation::Workflow),
    point("scheduler.runs.committed", Operation::Workflow),
    point("scheduler.stop.committed", Operation::Workflow),
    point("scheduler.usage.before_commit", Operation::Count),
    point("scheduler.usage.committed", Operation::Count),
    point("scheduler.invoices.before_commit", Operation::Count),
    point("scheduler.invoices.committed", Operation::Count),
];
