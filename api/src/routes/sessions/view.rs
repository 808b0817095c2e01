//! What whoever signs in gets.

use crate::answer::json;
use crate::auth::token::Bearer;
use crate::call::SignInCall;
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::id::{SignInId, TenantId, UserId};
use runtime::clock::wall;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use utoipa::ToSchema;

/// An access token and a refresh token.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView<'a> {
    /// Id of the sign-in.
    #[schema(value_type = String)]
    id: SignInId,
    /// The tenant.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// The user.
    #[schema(value_type = String)]
    user: UserId,
    /// For the header `Authorization: Bearer …`.
    access_token: String,
    /// Always `Bearer`.
    token_type: &'static str,
    /// Seconds until the access token expires.
    expires_in: u64,
    /// For `POST /v1/sessions/refresh`; works once.
    refresh_token: &'a str,
}

/// Issues the access token and writes the answer.
pub(super) fn signed_in(
    call: &SignInCall,
    status: StatusCode,
    bearer: Bearer,
    refresh_token: &SecretString,
) -> Result<HttpResponse, Problem> {
    let tokens = call.state.authenticator.tokens().ok_or_else(no_signing_in)?;
    let access_token = tokens
        .issue(bearer, wall())
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))?;
    let view = SessionView {
        id: bearer.sign_in,
        tenant: bearer.tenant,
        user: bearer.user,
        access_token,
        token_type: "Bearer",
        expires_in: tokens.life().as_secs(),
        refresh_token: refresh_token.expose_secret(),
    };
    json(status, &view)
}

/// There is no key to sign tokens with.
pub(super) fn no_signing_in() -> Problem {
    Problem::new(
        Code::NotAvailable,
        "Sign-in is disabled on this installation (no `auth.jwt_key`); use an API key.",
    )
}
