//! `/v1/sessions` and `GET /v1/whoami`.

use crate::send::{Call, to_json};
use crate::{AcceptedUser, ApiResponse, Client, ClientError, IdempotencyKey, Session, WhoAmI};
use api_types::request::{InvitationAccept, SignIn};
use secrecy::SecretString;

impl Client {
    /// Signs a user in. Needs no API key. The server does not know a repeated request again: use
    /// [`RetryPolicy::NEVER`](crate::RetryPolicy::NEVER).
    ///
    /// # Errors
    /// 401 for a wrong tenant, address or password; 422 if sign-in is disabled; 429 after too many attempts; no
    /// response.
    pub async fn sign_in(
        &self,
        tenant: &str,
        email: &str,
        password: &SecretString,
    ) -> Result<ApiResponse<Session>, ClientError> {
        let (tenant, email) = (tenant.to_owned(), email.to_owned());
        let body = SignIn { tenant, email, password: password.clone().into() };
        let call = Call::post("v1/sessions", IdempotencyKey::fresh());
        self.send(call.json(to_json(&body)?)).await
    }

    /// Sets the first password with the token of an invitation, which is good once. Needs no API key.
    ///
    /// # Errors
    /// 401 for an invalid token; 422 for a password of less than 12 characters; no response.
    pub async fn accept_invitation(
        &self,
        token: &SecretString,
        password: &SecretString,
    ) -> Result<ApiResponse<AcceptedUser>, ClientError> {
        let (token, password) = (token.clone().into(), password.clone().into());
        let body = to_json(&InvitationAccept { token, password })?;
        let call = Call::post("v1/sessions/accept", IdempotencyKey::fresh());
        self.send(call.json(body)).await
    }

    /// Who this client's credential belongs to, and what it may do.
    ///
    /// # Errors
    /// An invalid credential; no response.
    pub async fn who_am_i(&self) -> Result<ApiResponse<WhoAmI>, ClientError> {
        self.send(Call::get("v1/whoami")).await
    }
}
