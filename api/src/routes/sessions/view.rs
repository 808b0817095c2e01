//! What whoever signs in gets.

use crate::answer::Answer;
use crate::problem::Problem;
use actix_web::http::StatusCode;
use api_types::{Secret, Session, TokenType};

/// Answers with a sign-in.
pub(super) fn signed_in(
    status: StatusCode,
    session: identity::Session,
) -> Result<Answer<Session>, Problem> {
    let shown = Session {
        id: session.bearer.sign_in,
        tenant: session.bearer.tenant,
        user: session.bearer.user,
        access_token: Secret::from(session.access_token.as_str()),
        token_type: TokenType::Bearer,
        expires_in: session.expires_in.as_secs(),
        refresh_token: session.refresh_token.into(),
    };
    Ok(Answer::new(status, shown))
}
