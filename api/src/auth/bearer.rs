//! The token of a request, and the words in which one is refused.
//!
//! Used by everything here that looks at a credential: an unknown, a revoked and an expired one get the same answer.

use crate::problem::{Code, Problem};
use actix_web::http::header::{AUTHORIZATION, HeaderMap};

/// The token of the one `Authorization: Bearer` header.
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut all = headers.get_all(AUTHORIZATION);
    let (Some(header), None) = (all.next(), all.next()) else {
        return Err(unauthenticated(
            "Send one header `Authorization: Bearer <API key or access token>`.".to_owned(),
        ));
    };
    header
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim_matches(' '))
        .ok_or_else(|| {
            unauthenticated(
                "The Authorization header must be `Bearer <API key or access token>`.".to_owned(),
            )
        })
}

/// Not let in.
pub(super) fn unauthenticated(detail: String) -> Problem {
    Problem::new(Code::Unauthenticated, detail)
}

/// It was good a moment ago, when the request was let in.
pub(crate) fn ended() -> Problem {
    unauthenticated("The API key or sign-in has ended.".to_owned())
}

/// The key was looked up, and it is not good.
pub(super) fn rejected() -> Problem {
    unauthenticated("The API key is unknown, expired or revoked.".to_owned())
}

/// The key could not be looked up.
pub(super) fn checked_later(code: Code) -> Problem {
    Problem::new(code, "The credential cannot be checked now.")
}

/// A credential of the other kind. Judged by its form alone, before anything is looked up.
pub(super) fn wrong_kind(detail: &'static str) -> Problem {
    Problem::new(Code::WrongKindOfKey, detail)
}
