//! What a new task has to do with others, as the rows that the statements take.

use super::NewTask;
use crate::rows::row_of;
use domain::dependency::{Dependencies, Edge};
use domain::time::millis;
use uuid::Uuid;

/// A row of `task_links`, in the order of its columns.
#[derive(Debug, Clone, Default, sqlx::Encode)]
pub(super) struct TaskLinks {
    rerun_of: Option<Uuid>,
    needs: Option<i64>,
    undecided: Option<i64>,
    release_delay_ms: Option<i64>,
    doomed_by: Option<Uuid>,
    children: Option<i64>,
    depends_on: Option<String>,
    run_id: Option<Uuid>,
    node: Option<String>,
    gate: Option<String>,
}
row_of!("task_links": TaskLinks);

/// What a new task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing (any more).
    None,
    /// Parents that have not ended.
    Parents(domain::dependency::Waiting),
    /// That it is skipped: this parent's end has left too few.
    Skip(domain::dependency::Waiting, Uuid),
}

impl TaskLinks {
    /// Of `task`, which `wait`s, and which so many edges name as their parent.
    pub(super) fn of(task: &NewTask, wait: Wait, children: i64) -> Self {
        let node = task.node.as_ref();
        let children = children + i64::from(node.is_some_and(|node| node.item_of.is_some()));
        let text = |depends_on: &Dependencies| serde_json::to_string(depends_on).ok();
        let counts = match wait {
            Wait::None => None,
            Wait::Parents(waiting) => Some((waiting, None)),
            Wait::Skip(waiting, parent) => Some((waiting, Some(parent))),
        };
        Self {
            rerun_of: task.rerun_of.map(|id| id.uuid()),
            needs: counts.map(|(waiting, _)| waiting.needs.into()),
            undecided: counts.map(|(waiting, _)| waiting.undecided.into()),
            release_delay_ms: counts.map(|_| task.delay.map_or(0, millis)),
            doomed_by: counts.and_then(|(_, parent)| parent),
            children: (children > 0).then_some(children),
            depends_on: task.depends_on.as_ref().and_then(text),
            run_id: node.map(|node| node.run.uuid()),
            node: node.map(|node| node.node.clone()),
            gate: node.and_then(|node| serde_json::to_string(node.gate.as_ref()?).ok()),
        }
    }
}

/// A row of `new_edge`, in the order of its columns.
#[derive(Debug, sqlx::Encode)]
pub(super) struct NewEdge {
    tenant_id: Uuid,
    parent_id: Uuid,
    child_id: Uuid,
    place: i16,
    condition: &'static str,
}
row_of!("new_edge": NewEdge);

impl NewEdge {
    /// The edge from `item` to the task that waits for it.
    pub(super) fn of_item(item: &NewTask) -> Option<Self> {
        let child = item.node.as_ref()?.item_of?;
        Some(Self {
            tenant_id: item.tenant.uuid(),
            parent_id: item.id.uuid(),
            child_id: child.uuid(),
            place: 0,
            condition: "item",
        })
    }

    /// The edge at `place` of `child`.
    pub(super) fn of(child: &NewTask, place: usize, edge: &Edge) -> Self {
        Self {
            tenant_id: child.tenant.uuid(),
            parent_id: edge.parent.uuid(),
            child_id: child.id.uuid(),
            place: i16::try_from(place).unwrap_or(i16::MAX),
            condition: edge.on.into(),
        }
    }
}
