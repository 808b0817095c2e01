//! `/v1/admin/executors`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Executor, Page, PageRequest};
use domain::id::PoolName;

impl Client {
    /// One page of the connected executors, by name; of one pool if one is given.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn executors(
        &self,
        pool: Option<&PoolName>,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<Executor>>, ClientError> {
        let query = [("pool", pool.map(ToString::to_string))];
        self.send(Call::get("v1/admin/executors").query(query).query(page.parameters())).await
    }
}
