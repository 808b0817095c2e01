//! `/v1/admin/tenants/{id}/keys`.

use crate::send::{Call, to_json};
use crate::{
    ApiKey, ApiResponse, Client, ClientError, KeyId, NewApiKey, Page, PageRequest, RotatedApiKey,
};
use api_types::request::{ApiKeyCreate, ApiKeyRotate, Given};
use domain::access::Scope;
use domain::id::TenantId;
use std::time::Duration;

impl Client {
    /// One page of a tenant's API keys, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant; a cursor that the server refuses; no response.
    pub async fn tenant_keys(
        &self,
        tenant: TenantId,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<ApiKey>>, ClientError> {
        self.send(Call::get(of(tenant)).query(page.parameters())).await
    }

    /// Makes an API key of a tenant; `life` of `None` is for ever.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant; no response.
    pub async fn create_tenant_key(
        &self,
        tenant: TenantId,
        name: &str,
        scopes: &[Scope],
        life: Option<Duration>,
    ) -> Result<ApiResponse<NewApiKey>, ClientError> {
        let (name, scopes) = (name.to_owned(), scopes.to_vec());
        let body = ApiKeyCreate { name, scopes, expires_in: life.map(Given::from) };
        self.send(Call::post_once(of(tenant)).json(to_json(&body)?)).await
    }

    /// Replaces an API key of a tenant; the old one stays valid for `overlap`. Default: 24 hours.
    ///
    /// # Errors
    /// 404 for an unknown tenant or key; 422 if it was already replaced; no response.
    pub async fn rotate_tenant_key(
        &self,
        tenant: TenantId,
        id: &KeyId,
        overlap: Option<Duration>,
    ) -> Result<ApiResponse<RotatedApiKey>, ClientError> {
        let body = to_json(&ApiKeyRotate { overlap: overlap.map(Given::from) })?;
        self.send(Call::post_once(super::path(&[&of(tenant), id.as_str(), "rotate"])).json(body))
            .await
    }

    /// Ends an API key of a tenant at once.
    ///
    /// # Errors
    /// 404 for an unknown tenant, or an unknown or revoked key; no response.
    pub async fn revoke_tenant_key(
        &self,
        tenant: TenantId,
        id: &KeyId,
    ) -> Result<ApiResponse<ApiKey>, ClientError> {
        self.send(Call::delete(super::path(&[&of(tenant), id.as_str()]))).await
    }
}

fn of(tenant: TenantId) -> String {
    format!("v1/admin/tenants/{tenant}/keys")
}
