//! `/v1/users`.

use crate::send::{Call, to_json};
use crate::{Answer, Client, ClientError, IdempotencyKey, NewUser, Page, PageRequest, User};
use domain::access::Role;
use domain::id::UserId;
use serde_json::json;

impl Client {
    /// One page of your tenant's users, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no answer.
    pub async fn users(&self, page: &PageRequest) -> Result<Answer<Page<User>>, ClientError> {
        self.send(Call::get("v1/users").query(page.parameters())).await
    }

    /// Invites a user, who sets a password with the token of the answer.
    ///
    /// # Errors
    /// A role that you cannot give, an address that is taken; no answer.
    pub async fn invite_user(
        &self,
        email: &str,
        role: Role,
    ) -> Result<Answer<NewUser>, ClientError> {
        let call = Call::post("v1/users", IdempotencyKey::fresh());
        self.send(call.json(to_json(&json!({"email": email, "role": role}))?)).await
    }

    /// Gives a user another role.
    ///
    /// # Errors
    /// 404 when there is no such user; a role that you cannot give; the last owner; no answer.
    pub async fn change_user(&self, user: UserId, role: Role) -> Result<Answer<User>, ClientError> {
        let call = Call::patch(format!("v1/users/{user}"));
        self.send(call.json(to_json(&json!({"role": role}))?)).await
    }

    /// Removes a user: signed out everywhere, with the keys that lead back to them revoked.
    ///
    /// # Errors
    /// 404 when there is no such user; the last owner; no answer.
    pub async fn remove_user(&self, user: UserId) -> Result<Answer<User>, ClientError> {
        self.send(Call::delete(format!("v1/users/{user}"))).await
    }
}
