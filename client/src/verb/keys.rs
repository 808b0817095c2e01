//! `/v1/keys`.

use crate::send::{Call, to_json};
use crate::{
    ApiKey, ApiResponse, Client, ClientError, IdempotencyKey, KeyId, NewApiKey, Page, PageRequest,
    RotatedApiKey,
};
use api_types::request::{ApiKeyCreate, ApiKeyRotate, Given};
use domain::access::Scope;
use std::time::Duration;

impl Client {
    /// One page of the API keys that you may manage, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn keys(&self, page: &PageRequest) -> Result<ApiResponse<Page<ApiKey>>, ClientError> {
        self.send(Call::get("v1/keys").query(page.parameters())).await
    }

    /// Makes an API key; `life` of `None` is for ever.
    ///
    /// # Errors
    /// A scope that you cannot grant; no response.
    pub async fn create_key(
        &self,
        name: &str,
        scopes: &[Scope],
        life: Option<Duration>,
    ) -> Result<ApiResponse<NewApiKey>, ClientError> {
        let (name, scopes) = (name.to_owned(), scopes.to_vec());
        let body = ApiKeyCreate { name, scopes, expires_in: life.map(Given::from) };
        let call = Call::post("v1/keys", IdempotencyKey::fresh());
        self.send(call.json(to_json(&body)?)).await
    }

    /// Replaces a key; the old one stays valid for `overlap`. Default: 24 hours.
    ///
    /// # Errors
    /// 404 for an unknown key; 422 if it was already replaced; no response.
    pub async fn rotate_key(
        &self,
        id: &KeyId,
        overlap: Option<Duration>,
    ) -> Result<ApiResponse<RotatedApiKey>, ClientError> {
        let body = ApiKeyRotate { overlap: overlap.map(Given::from) };
        let call = Call::post(format!("v1/keys/{id}/rotate"), IdempotencyKey::fresh());
        self.send(call.json(to_json(&body)?)).await
    }

    /// Ends a key at once.
    ///
    /// # Errors
    /// 404 for an unknown or revoked key; no response.
    pub async fn revoke_key(&self, id: &KeyId) -> Result<ApiResponse<ApiKey>, ClientError> {
        self.send(Call::delete(format!("v1/keys/{id}"))).await
    }
}
