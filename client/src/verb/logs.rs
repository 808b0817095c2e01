//! `GET /v1/tasks/{id}/logs`.

use crate::send::Call;
use crate::{Answer, Client, ClientError, LogChunk, LogFilter, Page, PageRequest};
use domain::id::TaskId;

impl Client {
    /// One page of a task's output: in the order in which it was written. A page may be shorter than its limit.
    ///
    /// # Errors
    /// 404 when there is no such task among yours; no answer.
    pub async fn logs(
        &self,
        id: TaskId,
        filter: LogFilter,
        page: &PageRequest,
    ) -> Result<Answer<Page<LogChunk>>, ClientError> {
        self.send(
            Call::get(format!("v1/tasks/{id}/logs"))
                .query(filter.parameters())
                .query(page.parameters()),
        )
        .await
    }
}
