//! `/v1/users`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, IdempotencyKey, NewUser, Page, PageRequest, User};
use api_types::request::{UserChange, UserCreate, UserPut};
use domain::access::Role;
use domain::id::UserId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

impl Client {
    /// One page of your tenant's users, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn users(&self, page: &PageRequest) -> Result<ApiResponse<Page<User>>, ClientError> {
        self.send(Call::get("v1/users").query(page.parameters())).await
    }

    /// Shows a user, by e-mail address or id.
    ///
    /// # Errors
    /// 404 for an unknown user; no response.
    pub async fn user(&self, user: &str) -> Result<ApiResponse<User>, ClientError> {
        self.send(Call::get(path(user))).await
    }

    /// Invites a user, who sets a password with the returned token.
    ///
    /// # Errors
    /// A role that you cannot grant; a taken address; no response.
    pub async fn invite_user(
        &self,
        email: &str,
        role: Role,
    ) -> Result<ApiResponse<NewUser>, ClientError> {
        let call = Call::post("v1/users", IdempotencyKey::fresh());
        self.send(call.json(to_json(&UserCreate {
            email: email.to_owned(),
            role,
            password: None,
        })?))
        .await
    }

    /// Stores a user under their address, with `if_version` only in that version, with 0 only if the user is new: who is not there is
    /// invited, who is gets the role.
    ///
    /// # Errors
    /// A role that you cannot grant; the last owner; 412 for another version; no response.
    pub async fn put_user(
        &self,
        email: &str,
        role: Role,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<NewUser>, ClientError> {
        let call = Call::put(path(email));
        self.send(call.json(to_json(&UserPut { role })?).if_version(if_version)).await
    }

    /// Gives a user another role.
    ///
    /// # Errors
    /// 404 for an unknown user; a role that you cannot grant; the last owner; no response.
    pub async fn change_user(
        &self,
        user: UserId,
        role: Role,
    ) -> Result<ApiResponse<User>, ClientError> {
        let call = Call::patch(format!("v1/users/{user}"));
        self.send(call.json(to_json(&UserChange { role })?)).await
    }

    /// Removes a user, with `if_version` only in that version: signed out everywhere, with the keys that lead back to them revoked.
    ///
    /// # Errors
    /// 404 for an unknown user; the last owner; 412 for another version; no response.
    pub async fn remove_user(
        &self,
        user: UserId,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<User>, ClientError> {
        self.send(Call::delete(format!("v1/users/{user}")).if_version(if_version)).await
    }
}

fn path(user: &str) -> String {
    format!("v1/users/{}", utf8_percent_encode(user, NON_ALPHANUMERIC))
}
