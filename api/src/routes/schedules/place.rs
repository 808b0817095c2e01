//! Which schedule a request is about, in which version; and the answer that shows one.

use crate::answer::{raw_json, to_json};
use crate::problem::{Code, Problem};
use crate::request::Call;
use crate::schedule::ScheduleView;
use crate::task::Warning;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ETAG, HeaderMap, IF_MATCH, IF_NONE_MATCH};
use store::schedule::ScheduleRecord;

/// Longest name.
const MAX_NAME: usize = 100;

/// The schedule named in the path.
///
/// # Errors
/// `invalid_parameter` for what can be none.
pub(super) fn name_in_path(call: &Call) -> Result<&str, Problem> {
    let name = call.request.match_info().get("name").unwrap_or_default();
    if is_name(name) {
        return Ok(name);
    }
    let detail = format!(
        "must have 1 to {MAX_NAME} of a-z A-Z 0-9 _ . -, begin with a letter or digit, and not be `preview`"
    );
    Err(Problem::at(Code::InvalidParameter, "path:name", detail))
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(plain)
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && name != "preview"
}

/// The version that `If-Match` asks for; 0, where `If-None-Match: *` asks that there is none.
///
/// # Errors
/// `invalid_parameter` for what is no version, or for both.
pub(super) fn wanted_version(call: &Call) -> Result<Option<i64>, Problem> {
    version_of(call.request.headers())
}

fn version_of(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
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
            match digits.and_then(|text| text.parse().ok()).filter(|version| *version > 0) {
                Some(version) if second.is_none() => Ok(Some(version)),
                _ => wrong(
                    "If-Match",
                    "must be given once, as the version in quotes, such as `\"3\"`",
                ),
            }
        }
    }
}

/// "Not found", in the same words for a foreign, an unknown and a deleted one.
pub(crate) fn no_such_schedule() -> Problem {
    Problem::no_such("schedule")
}

/// It is in another version than was asked for.
pub(super) fn mismatch(version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The schedule is in version {version}."),
        None => "There is no schedule of this name.".to_owned(),
    };
    Problem::new(Code::VersionMismatch, detail)
}

/// Shows a schedule, with its version as `ETag` and what its owner should know of it.
pub(super) fn stored(
    status: StatusCode,
    schedule: &ScheduleRecord,
    warnings: &[Warning],
) -> Result<HttpResponse, Problem> {
    let view = ScheduleView::from(schedule).with_warnings(warnings);
    let mut answer = raw_json(status, to_json(&view)?);
    if let Ok(tag) = format!("\"{}\"", schedule.version).parse() {
        answer.headers_mut().insert(ETAG, tag);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    #[test]
    fn a_name_is_plain_and_not_the_word_of_another_route() {
        for good in ["a", "report", "Report-2.daily_x", "0", &"x".repeat(100)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "preview", ".", "..", ".x", "-x", "a b", "a/b", "ä", &"x".repeat(101)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_version_is_asked_for_in_quotes_and_none_with_a_star() {
        let of = |given: &[(HeaderName, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(name.clone(), HeaderValue::from_static(value));
            }
            version_of(&headers).map_err(|problem| problem.errors()[0].pointer.clone())
        };
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(of(&[(IF_MATCH, "\"3\"")]), Ok(Some(3)));
        assert_eq!(of(&[(IF_NONE_MATCH, "*")]), Ok(Some(0)));
        for bad in ["3", "\"\"", "\"0\"", "\"-1\"", "\"+1\"", "*", "W/\"3\"", "\"3\", \"4\""] {
            assert_eq!(of(&[(IF_MATCH, bad)]), Err("header:If-Match".to_owned()), "{bad}");
        }
        assert!(of(&[(IF_MATCH, "\"3\""), (IF_MATCH, "\"4\"")]).is_err());
        assert!(of(&[(IF_NONE_MATCH, "\"3\"")]).is_err());
        assert!(of(&[(IF_MATCH, "\"3\""), (IF_NONE_MATCH, "*")]).is_err());
    }
}
