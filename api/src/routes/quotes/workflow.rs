//! Prices a run: each node once, whatever its conditions.

use super::subject::{Item, Start, Subject};
use crate::call::Call;
use crate::problem::Problem;
use crate::request::json;
use crate::routes::workflow_run::{Asked, checked_run, usable_pools};
use actix_web::web::Bytes;
use api_types::request::NewWorkflowRun;
use domain::plan::Quota;
use domain::price::TaskToPrice;
use domain::schedule::TaskTemplate;
use domain::workflow::{Plan, bears_fire};
use serde_json::value::RawValue;
use std::time::Duration;
use store::quote::Like;
use store::task::{UnsentDue, UnsentTask};

/// What a run is priced by.
///
/// # Errors
/// Those of its start; what the database said.
pub(super) async fn workflow(call: &Call, text: Bytes) -> Result<Subject, Problem> {
    let read = move || json::parse::<NewWorkflowRun<Box<RawValue>>>(&text);
    let asked = call.reading(call.body.len(), read).await?;
    let Asked { workflow, plan, .. } = checked_run(call, asked).await?;
    usable_pools(call, &plan).await?;
    let like = workflow.map(|(name, _)| Like::Workflow(name));
    Ok(Subject {
        items: items(call, &plan, false),
        schedule: None,
        like,
        month: None,
        rejected: Vec::new(),
        start: start(&plan),
        is_gathered: false,
    })
}

/// The tasks of each node; of a run that a fire starts, one of them bears the fire.
pub(super) fn items(call: &Call, plan: &Plan, is_fired: bool) -> Vec<Item> {
    let most = call.caller.limits().of(Quota::WorkflowTasks);
    let bears = bears_fire(plan).filter(|_| is_fired);
    let nodes = plan.nodes.iter().zip(plan.most_tasks(most)).enumerate();
    let runs = nodes.filter(|(_, (node, _))| node.wait.is_none());
    runs.map(|(place, (node, tasks))| Item {
        name: Some(node.name.clone()),
        task: to_price(&node.task, bears == Some(place)),
        tasks,
        labels: node.task.labels.clone(),
    })
    .collect()
}

/// A task of a template, to be priced.
pub(super) fn to_price(template: &TaskTemplate, is_fired: bool) -> TaskToPrice {
    TaskToPrice { most: template.most(), attempts: template.max_attempts, is_fired }
}

/// The first node that waits for none.
fn start(plan: &Plan) -> Start {
    let is_first = |place: &usize| plan.nodes.get(*place).is_some_and(|node| node.after.is_empty());
    let first = (0..plan.nodes.len()).find(is_first).and_then(|place| plan.nodes.get(place));
    match first {
        Some(node) if node.wait.is_none() => {
            Start::Task(Box::new(unsent(&node.task, node.delay.unwrap_or_default())))
        }
        _ => Start::Unknown("A signal must come, a person must decide, or time must pass first."),
    }
}

/// A task of a template.
fn unsent(template: &TaskTemplate, delay: Duration) -> UnsentTask {
    UnsentTask {
        pool: template.pool.clone(),
        resources: template.resources,
        driver: template.run.driver(),
        priority: template.priority,
        flexible: template.flexible,
        concurrency_key: template.concurrency_key.clone(),
        due: UnsentDue::In(delay),
        delay_tolerance: template.delay_tolerance,
    }
}
