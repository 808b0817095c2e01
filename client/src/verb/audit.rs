//! `GET /v1/audit`.

use crate::send::Call;
use crate::{ApiResponse, AuditEntry, AuditFilter, Client, ClientError, Page, PageRequest};

impl Client {
    /// One page of your tenant's audit, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A filter or cursor that the server refuses; no response.
    pub async fn audit(
        &self,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<AuditEntry>>, ClientError> {
        self.send(Call::get("v1/audit").query(filter.parameters()).query(page.parameters())).await
    }
}
