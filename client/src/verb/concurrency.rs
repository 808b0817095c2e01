//! `/v1/concurrency-limits`.

use crate::send::{Call, to_json};
use crate::{Answer, Client, ClientError, ConcurrencyLimit, Page, PageRequest};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

impl Client {
    /// One page of the limits that are stored, by key. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no answer.
    pub async fn concurrency_limits(
        &self,
        page: &PageRequest,
    ) -> Result<Answer<Page<ConcurrencyLimit>>, ClientError> {
        self.send(Call::get("v1/concurrency-limits").query(page.parameters())).await
    }

    /// How many tasks of a key run at once, and how many do.
    ///
    /// # Errors
    /// What can be no key; no answer.
    pub async fn concurrency_limit(
        &self,
        key: &str,
    ) -> Result<Answer<ConcurrencyLimit>, ClientError> {
        self.send(Call::get(path(key))).await
    }

    /// Lets so many tasks of a key run at once, 0 to 1 000 000; 0 pauses it.
    ///
    /// # Errors
    /// What can be no key; a number out of range; too many limits; no answer.
    pub async fn set_concurrency_limit(
        &self,
        key: &str,
        running: u32,
    ) -> Result<Answer<ConcurrencyLimit>, ClientError> {
        self.send(Call::put(path(key)).json(to_json(&json!({"running": running}))?)).await
    }

    /// Lets one task of a key run at a time again.
    ///
    /// # Errors
    /// What can be no key; no answer.
    pub async fn delete_concurrency_limit(
        &self,
        key: &str,
    ) -> Result<Answer<ConcurrencyLimit>, ClientError> {
        self.send(Call::delete(path(key))).await
    }
}

fn path(key: &str) -> String {
    format!("v1/concurrency-limits/{}", utf8_percent_encode(key, NON_ALPHANUMERIC))
}
