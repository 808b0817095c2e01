//! `GET /v1/tasks/{id}/logs`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, LogChunk, LogFilter, Page, PageRequest};
use domain::id::TaskId;

impl Client {
    /// One page of a task's output: in the order in which it was written. A page may be shorter than its limit.
    ///
    /// # Errors
    /// 404 for an unknown task; no response.
    pub async fn logs(
        &self,
        id: TaskId,
        filter: LogFilter,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<LogChunk>>, ClientError> {
        self.send(
            Call::get(format!("v1/tasks/{id}/logs"))
                .query(filter.parameters())
                .query(page.parameters()),
        )
        .await
    }
}
