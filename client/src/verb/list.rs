//! `GET /v1/tasks`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Page, PageRequest, Task, TaskFilter};

impl Client {
    /// One page of your tasks, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A filter or cursor that the server refuses; no response.
    pub async fn list(
        &self,
        filter: &TaskFilter,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<Task>>, ClientError> {
        self.send(Call::get("v1/tasks").query(filter.parameters()).query(page.parameters())).await
    }
}
