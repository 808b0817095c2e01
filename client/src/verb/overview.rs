//! `GET /v1/overview`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Overview};

impl Client {
    /// Live tasks by state, how the newest finished ones went, and what needs attention.
    ///
    /// # Errors
    /// No response.
    pub async fn overview(&self) -> Result<ApiResponse<Overview>, ClientError> {
        self.send(Call::get("v1/overview")).await
    }
}
