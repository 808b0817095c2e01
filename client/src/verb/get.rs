//! `GET /v1/tasks/{id}`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Task};
use domain::id::TaskId;

impl Client {
    /// Reads a task, live or ended.
    ///
    /// # Errors
    /// 404 for an unknown task; no response.
    pub async fn get(&self, id: TaskId) -> Result<ApiResponse<Task>, ClientError> {
        self.send(Call::get(format!("v1/tasks/{id}"))).await
    }

    /// Reads a task with what its ended attempts cost.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn get_with_cost(&self, id: TaskId) -> Result<ApiResponse<Task>, ClientError> {
        let call = Call::get(format!("v1/tasks/{id}"));
        self.send(call.query([("include", Some("cost".to_owned()))])).await
    }
}
