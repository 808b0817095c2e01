//! `POST /v1/tasks/{id}/cancel`.

use crate::send::Call;
use crate::{ApiResponse, CancelledTask, Client, ClientError, IdempotencyKey};
use domain::id::TaskId;

impl Client {
    /// Asks that a task does not run, or stops. Repeating it is safe.
    ///
    /// # Errors
    /// 404 for an unknown task; no response.
    pub async fn cancel(&self, id: TaskId) -> Result<ApiResponse<CancelledTask>, ClientError> {
        self.send(Call::post(format!("v1/tasks/{id}/cancel"), IdempotencyKey::fresh())).await
    }
}
