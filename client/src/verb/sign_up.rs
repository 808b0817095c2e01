//! `POST /v1/sign-up`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, IdempotencyKey, Session};
use api_types::request::SignUp;
use secrecy::SecretString;

impl Client {
    /// Makes the tenant of that name with `email` as its owner, and signs the owner in. Needs no API key. The server does not
    /// know a repeated request again: use [`RetryPolicy::NEVER`](crate::RetryPolicy::NEVER), and sign in where the answer was lost.
    ///
    /// # Errors
    /// 409 if the name is taken; 422 if sign-up is disabled, or for a password of less than 12 characters; no response.
    pub async fn sign_up(
        &self,
        tenant: &str,
        email: &str,
        password: &SecretString,
    ) -> Result<ApiResponse<Session>, ClientError> {
        let (tenant, email) = (tenant.to_owned(), email.to_owned());
        let body = SignUp { tenant, email, password: password.clone().into() };
        let call = Call::post("v1/sign-up", IdempotencyKey::fresh());
        self.send(call.json(to_json(&body)?)).await
    }
}
