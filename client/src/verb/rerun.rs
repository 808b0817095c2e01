//! `POST /v1/tasks/{id}/rerun`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, IdempotencyKey, Task};
use domain::id::TaskId;
use serde_json::Value;

impl Client {
    /// Runs a task again, as a new task that names it as [`Task::rerun_of`]. `change` says what differs, as a JSON merge patch
    /// (RFC 7396) of what was submitted; an empty object changes nothing. The same key and change again give the same answer.
    ///
    /// # Errors
    /// 404 for an unknown task, or no more; what is wrong with the change; no response.
    pub async fn rerun(
        &self,
        id: TaskId,
        change: &Value,
        key: IdempotencyKey,
    ) -> Result<ApiResponse<Task>, ClientError> {
        self.send(Call::post(format!("v1/tasks/{id}/rerun"), key).json(to_json(change)?)).await
    }
}
