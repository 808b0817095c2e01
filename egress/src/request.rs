//! What is asked, of whom, and what a redirect makes of it.
//!
//! Pure.

use super::redirect::Step;
use bytes::Bytes;
use domain::task::HttpMethod;
use hyper::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, USER_AGENT};
use url::Url;

/// One request to be made. Its URL was parsed by [`domain::target::parse_url`].
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// As HTTP names it.
    pub method: HttpMethod,
    /// Where to.
    pub url: Url,
    /// The customer's own headers. They count before ours; to another origin only harmless ones go along.
    pub given: HeaderMap,
    /// Their names as the customer writes them; they are sent in this case.
    pub written: Vec<String>,
    /// Berth's headers, without `Host`.
    pub ours: HeaderMap,
    /// Whole; empty where there is none.
    pub body: Bytes,
}

impl Request {
    /// Whether an empty body must be announced as such. A server may refuse (411) a request that can have a body and
    /// does not say how long it is.
    pub(super) fn says_empty(&self) -> bool {
        self.body.is_empty()
            && matches!(self.method, HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch)
    }

    /// The request that an answer leads on to. To another origin only harmless headers of the customer go along:
    /// any other may be a key.
    pub(super) fn follow(mut self, step: Step) -> Self {
        if step.url.origin() != self.url.origin() {
            let kept = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT];
            let all = std::mem::take(&mut self.given);
            for (name, value) in &all {
                if kept.contains(name) {
                    self.given.append(name, value.clone());
                }
            }
        }
        if step.becomes_get {
            self.method = HttpMethod::Get;
            self.body = Bytes::new();
            for headers in [&mut self.given, &mut self.ours] {
                let about_body: Vec<HeaderName> = headers
                    .keys()
                    .filter(|name| name.as_str().starts_with("content-"))
                    .cloned()
                    .collect();
                for name in about_body {
                    headers.remove(name);
                }
            }
        }
        self.url = step.url;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::target::parse_url;
    use hyper::header::HeaderValue;

    fn post() -> Request {
        let given = [
            ("authorization", "Bearer x"),
            ("cookie", "c"),
            ("x-api-key", "k"),
            ("content-type", "text/plain"),
            ("accept", "a/b"),
        ];
        let header =
            |(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        Request {
            method: HttpMethod::Post,
            url: parse_url("https://a.example/x").unwrap(),
            given: given.into_iter().map(header).collect(),
            written: Vec::new(),
            ours: [("content-type", "b/c"), ("user-agent", "Berth")]
                .into_iter()
                .map(header)
                .collect(),
            body: Bytes::from("hi"),
        }
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    fn step(url: &str, becomes_get: bool) -> Step {
        Step { url: Url::parse(url).unwrap(), becomes_get }
    }

    #[test]
    fn a_redirect_keeps_all_within_an_origin_and_only_harmless_headers_across() {
        let within = post().follow(step("https://a.example/y", false));
        assert_eq!((within.given.len(), &within.body[..]), (5, &b"hi"[..]));
        for other in ["https://b.example/", "http://a.example/", "https://a.example:8443/"] {
            let across = post().follow(step(other, false));
            assert_eq!(names(&across.given), ["accept", "content-type"], "{other}");
            assert_eq!((across.method, &across.body[..]), (HttpMethod::Post, &b"hi"[..]));
        }
        let get = post().follow(step("https://a.example/y", true));
        assert_eq!(names(&get.given), ["accept", "authorization", "cookie", "x-api-key"]);
        assert_eq!(names(&get.ours), ["user-agent"]);
        assert_eq!((get.method, get.body.len()), (HttpMethod::Get, 0));
    }
}
