//! Makes the tasks of a run of its plan.

use super::record::RunRecord;
use crate::task::submit::{FiredBy, NewTask, NodeTask};
use domain::batch::ConcurrencyKey;
use domain::dependency::{Dependencies, Edge};
use domain::id::{TaskId, TenantId, WorkflowRunId};
use domain::task::{Run, TaskSpec};
use domain::time::Timestamp;
use domain::workflow::{Gate, Node, ParentNode, Plan, bears_fire, longest_path_first};

/// What a run is of.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOf {
    /// The tenant.
    pub tenant: TenantId,
    /// A definition, in a version; `None` where it comes with the run.
    pub workflow: Option<(String, i64)>,
    /// Its plan, with the input in it.
    pub plan: Plan,
    /// The input, JSON.
    pub input: Option<String>,
    /// The key or the sign-in that starts it.
    pub started_by: String,
    /// W3C traceparent of the request.
    pub traceparent: Option<String>,
    /// The fire of a schedule that starts it; of a re-run, that of the run before.
    pub fired: Option<FiredBy>,
}

/// A run to start.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// Its id.
    pub id: WorkflowRunId,
    /// What it is of.
    pub of: RunOf,
    /// The task of each node; those of a run that it runs again, too.
    pub nodes: Vec<TaskId>,
    /// The tasks that are new.
    pub tasks: Vec<NewTask>,
    /// The run that it runs again, and since when that had tasks.
    pub rerun_of: Option<(WorkflowRunId, Timestamp)>,
    /// Of one that a fire starts: the task that bears the fire's price.
    pub fire_task: Option<TaskId>,
    /// Its schedule counts how it ends.
    pub is_counted: bool,
}

impl NewRun {
    /// A run of all nodes.
    #[must_use]
    pub fn new(of: RunOf) -> Self {
        Self::make(WorkflowRunId::fresh(), of, None, |_| None)
    }

    /// The run `id` of all nodes, of a due time whose end is counted, or not.
    pub(crate) fn of_fire(id: WorkflowRunId, of: RunOf, is_counted: bool) -> Self {
        Self { is_counted, ..Self::make(id, of, None, |_| None) }
    }

    /// A run of the nodes of `before` that are `chosen`; it takes over the others.
    #[must_use]
    pub fn again(of: RunOf, before: &RunRecord, chosen: &[bool]) -> Self {
        let stays = |place: usize| chosen.get(place).is_some_and(|chosen| !chosen);
        let kept = |place: usize| before.tasks.get(place).copied().filter(|_| stays(place));
        Self::make(WorkflowRunId::fresh(), of, Some((before.id, before.tasks_since)), kept)
    }

    fn make(
        id: WorkflowRunId,
        of: RunOf,
        rerun_of: Option<(WorkflowRunId, Timestamp)>,
        kept: impl Fn(usize) -> Option<TaskId>,
    ) -> Self {
        // Among tasks of equal deadlines the smaller id is placed first; and locks are taken in the order of ids, parents first.
        let order = longest_path_first(&of.plan);
        let mut nodes: Vec<TaskId> = vec![TaskId(uuid::Uuid::nil()); of.plan.nodes.len()];
        for &place in &order {
            nodes[place] = kept(place).unwrap_or_else(TaskId::fresh);
        }
        let is_new = |place: &&usize| kept(**place).is_none();
        let tasks =
            order.iter().filter(is_new).map(|&place| task(&of, id, &nodes, place)).collect();
        let is_fired = of.fired.is_some() && rerun_of.is_none();
        let fire_task = bears_fire(&of.plan).filter(|_| is_fired).map(|place| nodes[place]);
        Self { id, of, nodes, tasks, rerun_of, fire_task, is_counted: false }
    }
}

/// The task of the node at `place`.
fn task(of: &RunOf, run: WorkflowRunId, nodes: &[TaskId], place: usize) -> NewTask {
    let node = &of.plan.nodes[place];
    let parent =
        |place: usize| ParentNode { node: of.plan.nodes[place].name.clone(), task: nodes[place] };
    let edges: Vec<Edge> =
        node.after.iter().map(|after| Edge { parent: nodes[after.node], on: after.on }).collect();
    let node_task =
        NodeTask { run, node: node.name.clone(), gate: Gate::of(node, parent), item_of: None };
    NewTask {
        id: nodes[place],
        delay: node.delay,
        depends_on: (!edges.is_empty()).then_some(Dependencies { edges, join: node.join }),
        ..plain(of, node, node_task)
    }
}

/// The task of the item at `place` of what `node` became, for which the task `item_of` waits.
pub(in crate::workflow) fn item(
    of: &RunOf,
    node: &Node,
    (run, item_of, place): (WorkflowRunId, TaskId, usize),
    what: Run,
) -> NewTask {
    let name = format!("{}[{place}]", node.name);
    let mut task =
        plain(of, node, NodeTask { run, node: name, gate: None, item_of: Some(item_of) });
    task.spec.run = what;
    task
}

fn plain(of: &RunOf, node: &Node, node_task: NodeTask) -> NewTask {
    let template = &node.task;
    // Its limit is stored with the run.
    let own_key = || of.plan.max_parallel.map(|_| ConcurrencyKey(node_task.run.to_string().into()));
    NewTask {
        tenant: of.tenant,
        id: TaskId::fresh(),
        name: template.name.clone().or_else(|| Some(node.name.clone())),
        pool: template.pool.clone(),
        tier: template.tier,
        resources: template.resources,
        spec: TaskSpec {
            run: template.run.clone(),
            retry: template.retry.clone(),
            labels: template.labels.clone(),
        },
        delay: None,
        run_at: None,
        delay_tolerance: template.delay_tolerance,
        execution_cap: template.execution_cap,
        expire_if_late: template.expire_if_late,
        priority: template.priority,
        flexible: template.flexible,
        concurrency_key: template
            .concurrency_key
            .as_deref()
            .map(|key| ConcurrencyKey(key.into()))
            .or_else(own_key),
        max_attempts: template.max_attempts,
        delivery: template.delivery,
        unique_key: None,
        traceparent: of.traceparent.clone(),
        key_id: of.started_by.clone(),
        schedule: of.fired.clone(),
        rerun_of: None,
        reservation: None,
        node: Some(node_task),
        depends_on: None,
        idempotency: None,
    }
}
