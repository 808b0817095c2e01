//! What nodes of workflows wait for: `POST /v1/signals/{key}`, `POST /v1/tasks/{id}/approve` and `reject`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, IdempotencyKey, Signal, Task};
use api_types::request::{Decision, NewSignal};
use domain::id::TaskId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

impl Client {
    /// Sends a signal. Nodes that wait for its key succeed and return its payload.
    ///
    /// # Errors
    /// An invalid key or payload; too many signals; no response.
    pub async fn send_signal(
        &self,
        key: &str,
        signal: &NewSignal,
    ) -> Result<ApiResponse<Signal>, ClientError> {
        let path = format!("v1/signals/{}", utf8_percent_encode(key, NON_ALPHANUMERIC));
        self.send(Call::post(path, IdempotencyKey::fresh()).json(to_json(signal)?)).await
    }

    /// Approves a task that waits for a person. The `note` says why.
    ///
    /// # Errors
    /// 404 for an unknown task; 409 for one that does not wait for a person; no response.
    pub async fn approve(
        &self,
        id: TaskId,
        note: Option<&str>,
    ) -> Result<ApiResponse<Task>, ClientError> {
        self.send(decide(id, "approve", note)?).await
    }

    /// Rejects a task that waits for a person. The `note` says why.
    ///
    /// # Errors
    /// As [`Self::approve`].
    pub async fn reject(
        &self,
        id: TaskId,
        note: Option<&str>,
    ) -> Result<ApiResponse<Task>, ClientError> {
        self.send(decide(id, "reject", note)?).await
    }
}

fn decide(id: TaskId, verb: &str, note: Option<&str>) -> Result<Call, ClientError> {
    let body = to_json(&Decision { note: note.map(str::to_owned) })?;
    Ok(Call::post(format!("v1/tasks/{id}/{verb}"), IdempotencyKey::fresh()).json(body))
}
