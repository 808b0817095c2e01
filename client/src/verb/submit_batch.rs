//! `POST /v1/tasks/batch`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, BatchResult, Client, ClientError, IdempotencyKey, NewTask};
use api_types::request::TaskBatch;

impl Client {
    /// Submits many tasks, 1 to 10 000. Those without mistakes are stored together, durably, when this returns; the
    /// others are errors in the result.
    ///
    /// # Errors
    /// A refused batch; no response.
    pub async fn submit_batch(
        &self,
        tasks: &[NewTask],
    ) -> Result<ApiResponse<BatchResult>, ClientError> {
        self.submit_batch_with_key(tasks, IdempotencyKey::fresh()).await
    }

    /// The same under a key of your own.
    ///
    /// # Errors
    /// As [`Self::submit_batch`], and when the key was used for another batch.
    pub async fn submit_batch_with_key(
        &self,
        tasks: &[NewTask],
        key: IdempotencyKey,
    ) -> Result<ApiResponse<BatchResult>, ClientError> {
        let body = to_json(&TaskBatch { tasks: tasks.iter().collect() })?;
        self.send(Call::post("v1/tasks/batch", key).json(body)).await
    }
}
