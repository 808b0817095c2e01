//! `/v1/admin/tenants/{id}/users`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, NewUser, Page, PageRequest, User};
use api_types::request::{UserInvite, UserPut};
use domain::access::Role;
use domain::id::TenantId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

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

    /// A user of a tenant by e-mail address or id.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant, or an unknown user; no response.
    pub async fn tenant_user(
        &self,
        tenant: TenantId,
        login: &str,
    ) -> Result<ApiResponse<User>, ClientError> {
        self.send(Call::get(named(tenant, login))).await
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

impl Client {
    /// Stores a user of a tenant under their address, with `if_version` only in that version, with 0 only if the user is new: who is not
    /// there is invited, who is gets the role.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant; the last owner; 412 for another version; no response.
    pub async fn put_tenant_user(
        &self,
        tenant: TenantId,
        email: &str,
        role: Role,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<NewUser>, ClientError> {
        let call = Call::put(named(tenant, email));
        self.send(call.json(to_json(&UserPut { role })?).if_version(if_version)).await
    }

    /// Removes a user of a tenant by e-mail address or id, with `if_version` only in that version: signed out everywhere, with the keys
    /// that lead back to them revoked.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant, or an unknown user; the last owner; 412 for another version; no response.
    pub async fn remove_tenant_user(
        &self,
        tenant: TenantId,
        login: &str,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<User>, ClientError> {
        self.send(Call::delete(named(tenant, login)).if_version(if_version)).await
    }
}

fn of(tenant: TenantId) -> String {
    format!("v1/admin/tenants/{tenant}/users")
}

fn named(tenant: TenantId, login: &str) -> String {
    format!("{}/{}", of(tenant), utf8_percent_encode(login, NON_ALPHANUMERIC))
}
