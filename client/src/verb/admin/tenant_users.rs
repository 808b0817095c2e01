//! `/v1/admin/tenants/{id}/users`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, NewUser, Page, PageRequest, User};
use api_types::request::UserInvite;
use domain::access::Role;
use domain::id::TenantId;

impl Client {
    /// One page of a tenant's users, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant; a cursor that the server refuses; no response.
    pub async fn tenant_users(
        &self,
        tenant: TenantId,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<User>>, ClientError> {
        self.send(Call::get(of(tenant)).query(page.parameters())).await
    }

    /// Invites a user of a tenant, such as its first owner, who sets a password with the returned token.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant; a taken address; no response.
    pub async fn invite_tenant_user(
        &self,
        tenant: TenantId,
        email: &str,
        role: Role,
    ) -> Result<ApiResponse<NewUser>, ClientError> {
        let body = to_json(&UserInvite { email: email.to_owned(), role })?;
        self.send(Call::post_once(of(tenant)).json(body)).await
    }
}

fn of(tenant: TenantId) -> String {
    format!("v1/admin/tenants/{tenant}/users")
}
