//! `POST /v1/quotes`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, Quote};
use api_types::request::QuoteAsk;
use serde::Serialize;

impl Client {
    /// What a task, a batch, a workflow run or a month of a schedule would cost. Nothing is stored.
    ///
    /// # Errors
    /// What its submit would refuse; no response.
    pub async fn quote<J: Serialize + Sync>(
        &self,
        ask: &QuoteAsk<J>,
    ) -> Result<ApiResponse<Quote>, ClientError> {
        self.send(Call::post_repeatable("v1/quotes").json(to_json(ask)?)).await
    }
}
