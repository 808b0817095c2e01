//! What is asked, of whom, and what a redirect makes of it.
//!
//! Pure.

use super::redirect::Step;
use bytes::Bytes;
use domain::target::{UrlProblem, parse_url};
use domain::task::{HeaderProblem, HttpMethod, check_header};
use hyper::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use url::Url;

/// One request to be made, of which URL and headers were checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub(super) method: HttpMethod,
    pub(super) url: Url,
    /// The customer's own headers. They count before ours; to another origin only harmless ones go along.
    pub(super) given: HeaderMap,
    /// Their names as the customer writes them; they are sent in this case.
    pub(super) written: Vec<String>,
    /// Berth's headers, without `Host`.
    pub(super) ours: HeaderMap,
    /// Whole; empty where there is none.
    pub(super) body: Bytes,
}

/// Why a request cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Its URL.
    #[error("its URL {0}")]
    Url(#[from] UrlProblem),
    /// One of its headers.
    #[error("its header `{name}` {problem}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: HeaderProblem,
    },
}

impl Request {
    /// A request of a customer to `url`, with `headers` of theirs, and `ours` where they give no other. An empty `body` is none.
    ///
    /// # Errors
    /// When the URL or a header may not be used.
    pub fn new<'a>(
        method: HttpMethod,
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        ours: HeaderMap,
        body: Bytes,
    ) -> Result<Self, RequestError> {
        let (mut given, mut written) = (HeaderMap::new(), Vec::new());
        for (name, value) in headers {
            let failed = |problem| RequestError::Header { name: name.to_owned(), problem };
            check_header(name, value).map_err(failed)?;
            let header = HeaderName::from_bytes(name.as_bytes());
            let header = header.map_err(|_| failed(HeaderProblem::Name))?;
            let value = HeaderValue::from_str(value);
            given.append(header, value.map_err(|_| failed(HeaderProblem::Value))?);
            written.push(name.to_owned());
        }
        Ok(Self { method, url: parse_url(url)?, given, written, ours, body })
    }

    /// Where to.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// The customer's own headers.
    #[must_use]
    pub const fn given(&self) -> &HeaderMap {
        &self.given
    }

    /// Berth's headers.
    #[must_use]
    pub const fn ours(&self) -> &HeaderMap {
        &self.ours
    }

    /// What is sent with it.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

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
        let ours = [("content-type", "b/c"), ("user-agent", "Berth")].into_iter().map(header);
        let url = "https://a.example/x";
        Request::new(HttpMethod::Post, url, given, ours.collect(), Bytes::from("hi")).unwrap()
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
    fn what_may_not_be_sent_is_no_request() {
        let of = |url, headers: &[(&str, &str)]| {
            let ours = HeaderMap::new();
            let all = headers.iter().copied();
            Request::new(HttpMethod::Get, url, all, ours, Bytes::new()).map(|_| ()).unwrap_err()
        };
        assert_eq!(of("ftp://a/", &[]), RequestError::Url(UrlProblem::Scheme));
        for (name, value, problem) in [
            ("Host", "b", HeaderProblem::Reserved),
            ("Content-Length", "1", HeaderProblem::Reserved),
            ("a b", "c", HeaderProblem::Name),
        ] {
            let wrong = RequestError::Header { name: name.to_owned(), problem };
            assert_eq!(of("http://a/", &[(name, value)]), wrong);
        }
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
