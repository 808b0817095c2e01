//! Tasks that wait for others, without the tasks that they wait for.

use super::world::World;
use domain::id::TaskId;
use domain::task::State;
use store::task::transition::{self, DoomedTask};

impl World {
    /// Makes a task the only child of a parent that has succeeded, and whose children are still to be released. Of a task that is not
    /// scheduled the counters stay as they are.
    pub async fn make_child(&self, task: TaskId) {
        let (id, parent) = (task.uuid(), TaskId::fresh().uuid());
        self.sql(format!(
            "insert into task_edge (tenant_id, parent_id, child_id, place, condition)
                select tenant_id, '{parent}', id, 0, 'succeeded' from task where id = '{id}'"
        ))
        .await;
        self.sql(format!(
            "insert into task_release (tenant_id, parent_id, state)
                select tenant_id, '{parent}', 'succeeded' from task where id = '{id}'"
        ))
        .await;
        self.sql(format!(
            "update task set needs = 1, undecided = 1, release_delay_ms = 0, wake_at = null
                where id = '{id}' and state = 'scheduled'"
        ))
        .await;
    }

    /// Gives a scheduled task a gate.
    pub async fn give_gate(&self, task: TaskId, gate: &str) {
        let (id, run) = (task.uuid(), TaskId::fresh().uuid());
        self.sql(format!(
            "update task set run_id = '{run}', gate = '{gate}', wake_at = now() where id = '{id}' and state = 'scheduled'"
        ))
        .await;
    }

    /// Marks a scheduled task as one that is to be skipped.
    pub async fn doom(&self, task: TaskId) {
        let id = task.uuid();
        self.sql(format!(
            "update task set needs = 1, undecided = 0, release_delay_ms = 0, doomed_by = '{id}', wake_at = now()
                where id = '{id}' and state = 'scheduled'"
        ))
        .await;
    }

    /// Skips a scheduled task.
    pub async fn skip(&self, tenant: domain::id::TenantId, task: TaskId) {
        self.doom(task).await;
        let doomed = DoomedTask { tenant, task, parent: task };
        assert_eq!(transition::skipped(&self.scheduler, &[doomed]).await.unwrap(), 1);
        assert_eq!(self.state(task).await, Some(State::Skipped));
    }
}
