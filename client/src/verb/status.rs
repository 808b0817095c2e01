//! `GET /v1/status`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Status};

impl Client {
    /// How the service does, as its canaries see it. Needs no key.
    ///
    /// # Errors
    /// 404 where the installation does not show it; no response.
    pub async fn status(&self) -> Result<ApiResponse<Status>, ClientError> {
        self.send(Call::get("v1/status")).await
    }
}
