//! What is priced: tasks, and what holds for all of them.

use super::month::CountedMonth;
use crate::problem::Problem;
use domain::price::TaskToPrice;
use domain::task::Labels;
use domain::time::Timestamp;
use domain::workflow::NodeTasks;
use store::quote::Like;
use store::task::UnsentTask;

/// What is priced.
pub(super) struct Subject {
    /// Its tasks; of a schedule those of one fire.
    pub items: Vec<Item>,
    /// The name of the schedule that makes them, for spend caps.
    pub schedule: Option<String>,
    /// Of which recent tasks they are, before their tiers.
    pub like: Option<Like>,
    /// Of a schedule.
    pub month: Option<CountedMonth>,
    /// Tasks that a submit would refuse, by their places.
    pub rejected: Vec<(usize, Problem)>,
    /// What says when the first one starts.
    pub start: Start,
    /// Lines are of tasks that are alike, and not of each item.
    pub is_gathered: bool,
}

/// One task, or those of a node.
pub(super) struct Item {
    /// Its name.
    pub name: Option<String>,
    /// Each of them.
    pub task: TaskToPrice,
    /// How many there are.
    pub tasks: NodeTasks,
    /// Its labels, for spend caps.
    pub labels: Labels,
}

/// What says when something starts.
pub(super) enum Start {
    /// This task, submitted now.
    Task(Box<UnsentTask>),
    /// A due time.
    Due(Timestamp),
    /// Nothing.
    Unknown(&'static str),
}
