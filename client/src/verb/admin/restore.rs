//! `/v1/admin/restore`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Restore};

impl Client {
    /// Whether schedules are held after a restore, and what would fire.
    ///
    /// # Errors
    /// No response.
    pub async fn restore(&self) -> Result<ApiResponse<Restore>, ClientError> {
        self.send(Call::get("v1/admin/restore")).await
    }

    /// Lets schedules fire again. Where they do, nothing changes.
    ///
    /// # Errors
    /// No response.
    pub async fn resume_after_restore(&self) -> Result<ApiResponse<Restore>, ClientError> {
        self.send(Call::post_repeatable("v1/admin/restore/resume")).await
    }
}
