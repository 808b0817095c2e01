//! `/v1/keys`.

use crate::send::{Call, to_json};
use crate::{
    Answer, ApiKey, Client, ClientError, IdempotencyKey, NewApiKey, Page, PageRequest,
    RotatedApiKey,
};
use domain::access::Scope;
use domain::time::format_duration;
use std::time::Duration;

impl Client {
    /// One page of the API keys that you may manage, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no answer.
    pub async fn keys(&self, page: &PageRequest) -> Result<Answer<Page<ApiKey>>, ClientError> {
        self.send(Call::get("v1/keys").query(page.parameters())).await
    }

    /// Makes an API key; `life` of `None` is for ever.
    ///
    /// # Errors
    /// A scope that you cannot give; no answer.
    pub async fn create_key(
        &self,
        name: &str,
        scopes: &[Scope],
        life: Option<Duration>,
    ) -> Result<Answer<NewApiKey>, ClientError> {
        let expires_in = life.map(format_duration);
        let body = serde_json::json!({"name": name, "scopes": scopes, "expires_in": expires_in});
        let call = Call::post("v1/keys", IdempotencyKey::fresh());
        self.send(call.json(to_json(&body)?)).await
    }

    /// Puts a new key in the place of one, which is good for `overlap` still; 24 hours when left out.
    ///
    /// # Errors
    /// 404 when there is no such key; 422 when it was replaced before; no answer.
    pub async fn rotate_key(
        &self,
        id: &str,
        overlap: Option<Duration>,
    ) -> Result<Answer<RotatedApiKey>, ClientError> {
        let body = serde_json::json!({"overlap": overlap.map(format_duration)});
        let call = Call::post(format!("v1/keys/{id}/rotate"), IdempotencyKey::fresh());
        self.send(call.json(to_json(&body)?)).await
    }

    /// Ends a key at once.
    ///
    /// # Errors
    /// 404 when there is no such key that is not revoked already; no answer.
    pub async fn revoke_key(&self, id: &str) -> Result<Answer<ApiKey>, ClientError> {
        self.send(Call::delete(format!("v1/keys/{id}"))).await
    }
}
