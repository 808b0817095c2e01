//! The version of a thing that a request asks for, with `If-Match` or `If-None-Match`.

use crate::problem::{Code, Problem};
use actix_web::http::header::{HeaderMap, IF_MATCH, IF_NONE_MATCH};

/// The version that `If-Match` asks for; 0, where `If-None-Match: *` asks that there is none.
///
/// # Errors
/// `invalid_parameter` for what is no version, or for both.
pub(crate) fn wanted_version(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    let wrong = |header: &str, detail: &str| {
        Err(Problem::at(Code::InvalidParameter, format!("header:{header}"), detail))
    };
    let mut wanted = headers.get_all(IF_MATCH);
    let (first, second) = (wanted.next(), wanted.next());
    let mut absent = headers.get_all(IF_NONE_MATCH);
    match (first, absent.next()) {
        (None, None) => Ok(None),
        (None, Some(value)) if value == "*" && absent.next().is_none() => Ok(Some(0)),
        (None, Some(_)) => wrong("If-None-Match", "must be given once, as `*`"),
        (Some(_), Some(_)) => wrong("If-None-Match", "cannot be given together with `If-Match`"),
        (Some(value), None) => {
            let digits =
                value.to_str().ok().and_then(|text| text.strip_prefix('"')?.strip_suffix('"'));
            let digits = digits.filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            // As it was shown, so that no version has two names.
            let digits = digits.filter(|text| !text.starts_with('0'));
            match digits.and_then(|text| text.parse().ok()) {
                Some(version) if second.is_none() => Ok(Some(version)),
                _ => wrong(
                    "If-Match",
                    "must be given once, as the version in quotes, such as `\"3\"`",
                ),
            }
        }
    }
}

/// The `kind` of object is in another version than was asked for; `None`: it does not exist.
pub(crate) fn other_version(kind: &'static str, version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The {kind} has version {version}."),
        None => format!("The {kind} does not exist."),
    };
    Problem::new(Code::VersionMismatch, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    #[test]
    fn a_version_is_asked_for_in_quotes_and_none_with_a_star() {
        let of = |given: &[(HeaderName, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(name.clone(), HeaderValue::from_static(value));
            }
            wanted_version(&headers).map_err(|problem| problem.errors()[0].pointer.clone())
        };
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(of(&[(IF_MATCH, "\"3\"")]), Ok(Some(3)));
        assert_eq!(of(&[(IF_NONE_MATCH, "*")]), Ok(Some(0)));
        for bad in
            ["3", "\"\"", "\"0\"", "\"03\"", "\"-1\"", "\"+1\"", "*", "W/\"3\"", "\"3\", \"4\""]
        {
            assert_eq!(of(&[(IF_MATCH, bad)]), Err("header:If-Match".to_owned()), "{bad}");
        }
        assert!(of(&[(IF_MATCH, "\"3\""), (IF_MATCH, "\"4\"")]).is_err());
        assert!(of(&[(IF_NONE_MATCH, "\"3\"")]).is_err());
        assert!(of(&[(IF_MATCH, "\"3\""), (IF_NONE_MATCH, "*")]).is_err());
    }
}
