//! What whoever signs in gets.

use crate::answer::json;
use crate::auth::token::Bearer;
use crate::call::SignInCall;
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{Secret, Session, TokenType};
use runtime::clock::wall;
use secrecy::SecretString;

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
    let session = Session {
        id: bearer.sign_in,
        tenant: bearer.tenant,
        user: bearer.user,
        access_token: Secret::from(access_token.as_str()),
        token_type: TokenType::Bearer,
        expires_in: tokens.life().as_secs(),
        refresh_token: refresh_token.clone().into(),
    };
    json(status, &session)
}

/// There is no key to sign tokens with.
pub(super) fn no_signing_in() -> Problem {
    Problem::new(
        Code::NotAvailable,
        "Sign-in is disabled on this installation (no `auth.jwt_key`); use an API key.",
    )
}
