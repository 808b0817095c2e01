//! `GET /v1/tasks/{id}/result`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError};
use domain::id::TaskId;
use serde_json::value::RawValue;

impl Client {
    /// The JSON value that a task returned, as it was written.
    ///
    /// # Errors
    /// 409 `not_ended` until the task has ended; 404 `no_result` where it ended without one, and for an unknown task; no
    /// response.
    pub async fn result(&self, id: TaskId) -> Result<ApiResponse<Box<RawValue>>, ClientError> {
        self.send(Call::get(format!("v1/tasks/{id}/result"))).await
    }
}
