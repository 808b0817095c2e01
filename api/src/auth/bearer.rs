//! The credential of a request, as `identity` reads it.

use crate::problem::{Code, Problem};
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use identity::IdentityError;

/// The token of the one `Authorization: Bearer` header.
///
/// # Errors
/// `unauthenticated` without one, or with several.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut all = headers.get_all(AUTHORIZATION);
    let (Some(header), None) = (all.next(), all.next()) else {
        return Err(unauthenticated(
            "Send one header `Authorization: Bearer <API key or access token>`.",
        ));
    };
    header
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim_matches(' '))
        .ok_or_else(|| {
            unauthenticated("The Authorization header must be `Bearer <API key or access token>`.")
        })
}

/// It was good a moment ago, when the request was let in.
pub(crate) fn ended() -> Problem {
    IdentityError::ended().into()
}

fn unauthenticated(detail: &'static str) -> Problem {
    Problem::new(Code::Unauthenticated, detail)
}
