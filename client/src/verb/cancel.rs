//! `POST /v1/tasks/{id}/cancel`.

use crate::send::Call;
use crate::{Answer, Cancelled, Client, ClientError, IdempotencyKey};
use domain::id::TaskId;

impl Client {
    /// Asks that a task does not run, or stops. Repeating it is safe.
    ///
    /// # Errors
    /// 404 when there is none of this id among your tasks; no answer.
    pub async fn cancel(&self, id: TaskId) -> Result<Answer<Cancelled>, ClientError> {
        self.send(Call::post(format!("v1/tasks/{id}/cancel"), IdempotencyKey::fresh())).await
    }
}
