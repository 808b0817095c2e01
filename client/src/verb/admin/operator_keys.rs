//! `/v1/admin/operator-keys` and `/v1/admin/operator`.

use crate::send::{Call, to_json};
use crate::{
    ApiResponse, Client, ClientError, KeyId, NewOperatorKey, Operator, OperatorKey, Page,
    RotatedOperatorKey,
};
use api_types::request::{ApiKeyRotate, Given, OperatorKeyCreate};
use domain::access::OperatorScope;
use std::time::Duration;

const PATH: &str = "v1/admin/operator-keys";

impl Client {
    /// The operator of the key.
    ///
    /// # Errors
    /// A key that the server refuses; no response.
    pub async fn operator(&self) -> Result<ApiResponse<Operator>, ClientError> {
        self.send(Call::get("v1/admin/operator")).await
    }

    /// The operator keys, newest first.
    ///
    /// # Errors
    /// No response.
    pub async fn operator_keys(&self) -> Result<ApiResponse<Page<OperatorKey>>, ClientError> {
        self.send(Call::get(PATH)).await
    }

    /// Makes an operator key; `life` of `None` is for ever.
    ///
    /// # Errors
    /// A scope that you cannot grant; 409 for a taken name; no response.
    pub async fn create_operator_key(
        &self,
        name: &str,
        scopes: &[OperatorScope],
        life: Option<Duration>,
    ) -> Result<ApiResponse<NewOperatorKey>, ClientError> {
        let (name, scopes) = (name.to_owned(), scopes.to_vec());
        let body = OperatorKeyCreate { name, scopes, expires_in: life.map(Given::from) };
        self.send(Call::post_once(PATH).json(to_json(&body)?)).await
    }

    /// Replaces an operator key; the old one stays valid for `overlap`. Default: 24 hours.
    ///
    /// # Errors
    /// 404 for an unknown key; 422 if it was already replaced; a scope that you cannot grant; no response.
    pub async fn rotate_operator_key(
        &self,
        id: &KeyId,
        overlap: Option<Duration>,
    ) -> Result<ApiResponse<RotatedOperatorKey>, ClientError> {
        let body = to_json(&ApiKeyRotate { overlap: overlap.map(Given::from) })?;
        self.send(Call::post_once(super::path(&[PATH, id.as_str(), "rotate"])).json(body)).await
    }

    /// Ends an operator key at once.
    ///
    /// # Errors
    /// 404 for an unknown or revoked key; no response.
    pub async fn revoke_operator_key(
        &self,
        id: &KeyId,
    ) -> Result<ApiResponse<OperatorKey>, ClientError> {
        self.send(Call::delete(super::path(&[PATH, id.as_str()]))).await
    }
}
