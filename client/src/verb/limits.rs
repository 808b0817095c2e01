//! `GET /v1/limits`.

use crate::send::Call;
use crate::{Answer, Client, ClientError, Limits};

impl Client {
    /// What the plan allows, and what is used of it.
    ///
    /// # Errors
    /// No answer.
    pub async fn limits(&self) -> Result<Answer<Limits>, ClientError> {
        self.send(Call::get("v1/limits")).await
    }
}
