//! `GET /v1/tasks/{id}/explain`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Explanation};
use domain::id::TaskId;

impl Client {
    /// Explains what a task waits for, and when it will probably start.
    ///
    /// # Errors
    /// 404 for an unknown task; no response, or an unknown one.
    pub async fn explain(&self, id: TaskId) -> Result<ApiResponse<Explanation>, ClientError> {
        self.send(Call::get(format!("v1/tasks/{id}/explain"))).await
    }
}
