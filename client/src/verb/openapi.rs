//! `GET /openapi.json`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError};
use serde_json::Value;

impl Client {
    /// The OpenAPI document of the server, with the defaults of this installation.
    ///
    /// # Errors
    /// No response.
    pub async fn openapi(&self) -> Result<ApiResponse<Value>, ClientError> {
        self.send(Call::get("openapi.json")).await
    }
}
