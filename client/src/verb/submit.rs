//! `POST /v1/tasks`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, IdempotencyKey, NewTask, Task};

impl Client {
    /// Submits a task. It is stored durably when this returns.
    ///
    /// # Errors
    /// What is wrong with the task, as [`ClientError::Api`]; no response, as [`ClientError::Unreachable`]: then it may
    /// have been stored or not, and [`Self::submit_with_key`] with a key of your own could have told.
    pub async fn submit(&self, task: &NewTask) -> Result<ApiResponse<Task>, ClientError> {
        self.submit_with_key(task, IdempotencyKey::fresh()).await
    }

    /// The same under a key of your own: the same key and task again give the same answer, also in another process.
    ///
    /// # Errors
    /// As [`Self::submit`], and when the key was used for another task.
    pub async fn submit_with_key(
        &self,
        task: &NewTask,
        key: IdempotencyKey,
    ) -> Result<ApiResponse<Task>, ClientError> {
        self.submit_json(to_json(task)?, key).await
    }

    /// The same with a body that is JSON already, sent as it is.
    ///
    /// # Errors
    /// As [`Self::submit_with_key`].
    pub async fn submit_json(
        &self,
        body: impl Into<bytes::Bytes> + Send,
        key: IdempotencyKey,
    ) -> Result<ApiResponse<Task>, ClientError> {
        self.send(Call::post("v1/tasks", key).json(body)).await
    }
}
