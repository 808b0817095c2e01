//! `POST /v1/tasks/{id}/complete`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, CompletedTask};
use api_types::request::TaskCompletion;
use domain::id::TaskId;

impl Client {
    /// Says how an HTTP task with `"complete": "callback"` ended. Needs no API key: the token in `completion` is the credential. May be
    /// repeated: the same outcome again changes nothing.
    ///
    /// # Errors
    /// 401 for an invalid token; 409 where the attempt ended otherwise, or its cap was over; 422 for a result above 64 KiB; no response.
    pub async fn complete(
        &self,
        id: TaskId,
        completion: &TaskCompletion,
    ) -> Result<ApiResponse<CompletedTask>, ClientError> {
        let call = Call::post_repeatable(format!("v1/tasks/{id}/complete"));
        self.send(call.json(to_json(completion)?)).await
    }
}
