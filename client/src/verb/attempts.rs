//! `GET /v1/tasks/{id}/attempts`.

use crate::send::Call;
use crate::{ApiResponse, Attempt, Client, ClientError, Page, PageRequest};
use domain::id::TaskId;

impl Client {
    /// One page of a task's tries, in order, the running one last.
    ///
    /// # Errors
    /// 404 for an unknown task; no response.
    pub async fn attempts(
        &self,
        id: TaskId,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<Attempt>>, ClientError> {
        self.send(Call::get(format!("v1/tasks/{id}/attempts")).query(page.parameters())).await
    }
}
