//! `/v1/admin/pools`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, DeletedPool, Page, Pool, PoolFlow};
use api_types::request::{PoolPause, PoolPut};
use domain::id::PoolName;

const PATH: &str = "v1/admin/pools";

impl Client {
    /// Every pool, by name.
    ///
    /// # Errors
    /// No response.
    pub async fn pools(&self) -> Result<ApiResponse<Page<Pool>>, ClientError> {
        self.send(Call::get(PATH)).await
    }

    /// A pool.
    ///
    /// # Errors
    /// 404 for an unknown pool; no response.
    pub async fn pool(&self, name: &PoolName) -> Result<ApiResponse<Pool>, ClientError> {
        self.send(Call::get(of(name))).await
    }

    /// Where a pool's tasks are, and who gets how much of it.
    ///
    /// # Errors
    /// 404 for an unknown pool; no response.
    pub async fn pool_flow(&self, name: &PoolName) -> Result<ApiResponse<PoolFlow>, ClientError> {
        self.send(Call::get(format!("{}/flow", of(name)))).await
    }

    /// Stores a pool: with `if_version` only in that version, with 0 only if it is new.
    ///
    /// # Errors
    /// An unknown plan or tenant; 412 for another version; no response.
    pub async fn put_pool(
        &self,
        name: &PoolName,
        settings: &PoolPut,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Pool>, ClientError> {
        self.send(Call::put(of(name)).json(to_json(settings)?).if_version(if_version)).await
    }

    /// Deletes a pool that nothing is in: with `if_version` only in that version.
    ///
    /// # Errors
    /// 404 for an unknown pool; 409 while it is used; 412 for another version; no response.
    pub async fn delete_pool(
        &self,
        name: &PoolName,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<DeletedPool>, ClientError> {
        self.send(Call::delete(of(name)).if_version(if_version)).await
    }

    /// Pauses a pool: nothing of it is dispatched. One that is paused gets this reason.
    ///
    /// # Errors
    /// 404 for an unknown pool; no response.
    pub async fn pause_pool(
        &self,
        name: &PoolName,
        reason: &str,
    ) -> Result<ApiResponse<Pool>, ClientError> {
        let body = to_json(&PoolPause { reason: reason.to_owned() })?;
        self.send(Call::post_repeatable(format!("{}/pause", of(name))).json(body)).await
    }

    /// Resumes a paused pool. One that is not paused stays as it is.
    ///
    /// # Errors
    /// 404 for an unknown pool; no response.
    pub async fn resume_pool(&self, name: &PoolName) -> Result<ApiResponse<Pool>, ClientError> {
        self.send(Call::post_repeatable(format!("{}/resume", of(name)))).await
    }
}

fn of(name: &PoolName) -> String {
    format!("{PATH}/{name}")
}
