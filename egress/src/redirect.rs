//! Whether an answer leads on, and where to.
//!
//! Pure. The status says what becomes of the method, as in browsers: 303 asks for a GET, 301 and 302 turn a POST
//! into one, 307 and 308 repeat the request as it was. Where it leads is held to the rules of a customer's own URL.

use domain::target::{UrlProblem, redirect_url};
use domain::task::HttpMethod;
use hyper::StatusCode;
use hyper::header::{HeaderMap, LOCATION};
use url::Url;

/// Most redirects that are followed.
pub(super) const MAX_REDIRECTS: usize = 5;

/// Where to go next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) url: Url,
    /// Without its body, and with GET.
    pub(super) becomes_get: bool,
}

/// Where the answer to `method` from `base` leads. None when it is no redirect.
pub(super) fn step(
    method: HttpMethod,
    base: &Url,
    status: StatusCode,
    headers: &HeaderMap,
) -> Option<Result<Step, UrlProblem>> {
    let becomes_get = match status.as_u16() {
        301 | 302 => method == HttpMethod::Post,
        303 => method != HttpMethod::Head && method != HttpMethod::Get,
        307 | 308 => false,
        _ => return None,
    };
    let location = headers.get(LOCATION)?;
    let url = match location.to_str() {
        Ok(text) => redirect_url(base, text),
        Err(_) => Err(UrlProblem::Malformed),
    };
    Some(url.map(|url| Step { url, becomes_get }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn from(method: HttpMethod, status: u16, location: &str) -> Option<Result<Step, UrlProblem>> {
        let base = Url::parse("https://a.example/x").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_str(location).unwrap());
        step(method, &base, StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn the_status_says_what_becomes_of_the_method() {
        let gets =
            |method, status| from(method, status, "/y").map(|step| step.unwrap().becomes_get);
        for status in [301, 302] {
            assert_eq!(gets(HttpMethod::Post, status), Some(true));
            assert_eq!(gets(HttpMethod::Put, status), Some(false));
            assert_eq!(gets(HttpMethod::Get, status), Some(false));
        }
        assert_eq!(gets(HttpMethod::Put, 303), Some(true));
        assert_eq!(gets(HttpMethod::Head, 303), Some(false));
        for status in [307, 308] {
            assert_eq!(gets(HttpMethod::Post, status), Some(false));
        }
        for status in [200, 300, 304, 305, 404] {
            assert_eq!(gets(HttpMethod::Get, status), None);
        }
    }

    #[test]
    fn a_bad_place_is_told_and_none_is_no_redirect() {
        assert_eq!(from(HttpMethod::Get, 302, "file:///x"), Some(Err(UrlProblem::Scheme)));
        assert_eq!(
            from(HttpMethod::Get, 302, "http://a.example/"),
            Some(Err(UrlProblem::Downgrade))
        );
        let base = Url::parse("http://a.example/x").unwrap();
        assert_eq!(step(HttpMethod::Get, &base, StatusCode::FOUND, &HeaderMap::new()), None);
    }
}
