//! `/v1/concurrency-limits`.

use crate::send::{Call, to_json};
use crate::{
    ApiResponse, Client, ClientError, ConcurrencyLimit, ConcurrencyUse, Page, PageRequest,
};
use api_types::request::ConcurrencyLimitPut;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

impl Client {
    /// One page of the limits that are stored, by key. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn concurrency_limits(
        &self,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<ConcurrencyLimit>>, ClientError> {
        self.send(Call::get("v1/concurrency-limits").query(page.parameters())).await
    }

    /// How many tasks of a key run at once, and how many do.
    ///
    /// # Errors
    /// An invalid key; no response.
    pub async fn concurrency_limit(
        &self,
        key: &str,
    ) -> Result<ApiResponse<ConcurrencyUse>, ClientError> {
        self.send(Call::get(path(key))).await
    }

    /// Sets the number of tasks of a key that run at once, 0 to 1 000 000; 0 pauses it.
    ///
    /// # Errors
    /// An invalid key; a number out of range; too many limits; no response.
    pub async fn set_concurrency_limit(
        &self,
        key: &str,
        running: u32,
    ) -> Result<ApiResponse<ConcurrencyLimit>, ClientError> {
        self.send(Call::put(path(key)).json(to_json(&ConcurrencyLimitPut { running })?)).await
    }

    /// Lets one task of a key run at a time again.
    ///
    /// # Errors
    /// An invalid key; no response.
    pub async fn delete_concurrency_limit(
        &self,
        key: &str,
    ) -> Result<ApiResponse<ConcurrencyLimit>, ClientError> {
        self.send(Call::delete(path(key))).await
    }
}

fn path(key: &str) -> String {
    format!("v1/concurrency-limits/{}", utf8_percent_encode(key, NON_ALPHANUMERIC))
}
