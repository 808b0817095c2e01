//! `GET /v1/limits`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Limits};

impl Client {
    /// What the plan allows, and what is used of it.
    ///
    /// # Errors
    /// No response.
    pub async fn limits(&self) -> Result<ApiResponse<Limits>, ClientError> {
        self.send(Call::get("v1/limits")).await
    }
}
