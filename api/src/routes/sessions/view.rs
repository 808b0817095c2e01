//! What whoever signs in gets.

use crate::answer::json;
use crate::problem::Problem;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::id::{SignInId, TenantId, UserId};
use identity::Session;
use secrecy::ExposeSecret;
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
    access_token: &'a str,
    /// Always `Bearer`.
    token_type: &'static str,
    /// Seconds until the access token expires.
    expires_in: u64,
    /// For `POST /v1/sessions/refresh`; works once.
    refresh_token: &'a str,
}

/// Answers with a sign-in.
pub(super) fn signed_in(status: StatusCode, session: &Session) -> Result<HttpResponse, Problem> {
    let view = SessionView {
        id: session.bearer.sign_in,
        tenant: session.bearer.tenant,
        user: session.bearer.user,
        access_token: &session.access_token,
        token_type: "Bearer",
        expires_in: session.expires_in.as_secs(),
        refresh_token: session.refresh_token.expose_secret(),
    };
    json(status, &view)
}
