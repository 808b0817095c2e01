//! Prices a task, or a batch of tasks.

use super::subject::{Item, Start, Subject};
use crate::call::Call;
use crate::problem::Problem;
use crate::routes::task::{QuotedBatch, quoted_batch, quoted_task};
use actix_web::web::Bytes;
use domain::price::TaskToPrice;
use domain::workflow::NodeTasks;
use store::task::submit::NewTask;
use store::task::{UnsentDue, UnsentTask};

/// What a task is priced by.
///
/// # Errors
/// Those of its submit; what the database said.
pub(super) async fn task(call: &Call, text: Bytes) -> Result<Subject, Problem> {
    let task = quoted_task(call, text).await?;
    Ok(of(vec![task], Vec::new()))
}

/// What a batch is priced by.
///
/// # Errors
/// Those of its submit as a whole; what the database said.
pub(super) async fn batch(call: &Call, text: Bytes) -> Result<Subject, Problem> {
    let QuotedBatch { tasks, rejected } = quoted_batch(call, text).await?;
    Ok(of(tasks, rejected))
}

fn of(tasks: Vec<NewTask>, rejected: Vec<(usize, Problem)>) -> Subject {
    let start = tasks.first().map_or(Start::Unknown("All of its tasks would be refused."), start);
    let items = tasks.into_iter().map(|task| Item {
        task: TaskToPrice { most: task.most(), attempts: task.max_attempts, is_fired: false },
        name: task.name,
        tasks: NodeTasks::Known(1),
        labels: task.spec.labels,
    });
    let items = items.collect();
    Subject { items, schedule: None, like: None, month: None, rejected, start, is_gathered: true }
}

fn start(task: &NewTask) -> Start {
    if task.depends_on.is_some() {
        return Start::Unknown("Other tasks must end first.");
    }
    Start::Task(Box::new(UnsentTask {
        pool: task.pool.clone(),
        resources: task.resources,
        driver: task.spec.run.driver(),
        priority: task.priority,
        flexible: task.flexible,
        concurrency_key: task.concurrency_key.as_ref().map(ToString::to_string),
        due: task.run_at.map_or(UnsentDue::In(task.delay.unwrap_or_default()), UnsentDue::At),
        delay_tolerance: task.delay_tolerance,
    }))
}
