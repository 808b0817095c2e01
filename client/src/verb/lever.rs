//! Levers of one task: `POST /v1/tasks/{id}/retry`, `run-now` and `mark-succeeded`, and `PATCH /v1/tasks/{id}`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, IdempotencyKey, Task};
use api_types::request::MarkSucceeded;
use domain::id::TaskId;
use serde_json::Value;

impl Client {
    /// Tries a task again: one that waits for a retry is due now, and is returned; one that has ended is run again as a new task, which
    /// names it as [`Task::rerun_of`]. The same key again gives the same answer.
    ///
    /// # Errors
    /// 404 for an unknown task; 409 for one that runs, or has not failed; no response.
    pub async fn retry(
        &self,
        id: TaskId,
        key: IdempotencyKey,
    ) -> Result<ApiResponse<Task>, ClientError> {
        self.send(Call::post(format!("v1/tasks/{id}/retry"), key)).await
    }

    /// Lets a task run without waiting for its time.
    ///
    /// # Errors
    /// 404 for an unknown task; 409 for one that runs or has ended; no response.
    pub async fn run_now(&self, id: TaskId) -> Result<ApiResponse<Task>, ClientError> {
        self.send(Call::post(format!("v1/tasks/{id}/run-now"), IdempotencyKey::fresh())).await
    }

    /// Ends a task that waits as succeeded. The `note` says how it was done.
    ///
    /// # Errors
    /// 404 for an unknown task; 409 for one that runs or has ended; a note that the server refuses; no response.
    pub async fn mark_succeeded(
        &self,
        id: TaskId,
        note: &str,
    ) -> Result<ApiResponse<Task>, ClientError> {
        let body = to_json(&MarkSucceeded { note: note.to_owned() })?;
        let call = Call::post(format!("v1/tasks/{id}/mark-succeeded"), IdempotencyKey::fresh());
        self.send(call.json(body)).await
    }

    /// Changes a task before it runs: with `if_version` only in that version. `change` is a JSON merge patch (RFC 7396) of what was
    /// submitted.
    ///
    /// # Errors
    /// 404 for an unknown task; 409 for one that runs or has ended; 412 for another version; what is wrong with the change; no response.
    pub async fn change_task(
        &self,
        id: TaskId,
        change: &Value,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Task>, ClientError> {
        let call = Call::patch(format!("v1/tasks/{id}")).json(to_json(change)?);
        self.send(call.if_version(if_version)).await
    }
}
