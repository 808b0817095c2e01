//! What handlers read of a request besides its body: method, path, query, headers.
//!
//! Made by `server::dispatch`: of a request that came over HTTP, or of one that the dashboard makes in this process. Handlers
//! cannot tell which it was, so that both are answered by the same code under the same rules.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use actix_web::http::{Method, Uri};
use actix_web::web::Bytes;
use percent_encoding::percent_decode_str;
use std::rc::Rc;

/// A request without its body; cheap to clone.
#[derive(Debug, Clone)]
pub struct Head(Source);

#[derive(Debug, Clone)]
enum Source {
    Received(HttpRequest),
    Made(Rc<Made>),
}

/// A request that is made in this process.
#[derive(Debug)]
pub(crate) struct Made {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    pattern: &'static str,
    /// The varying parts of the path, decoded.
    parts: Vec<(&'static str, String)>,
}

impl Made {
    /// A request to the route with the path `pattern`, which `uri` has.
    pub(crate) fn new(
        (method, uri): (Method, Uri),
        pattern: &'static str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Self {
        let parts = parts(pattern, uri.path());
        Self { method, uri, headers, body, pattern, parts }
    }
}

/// What stands in `path` where `pattern` has a part in braces; what is no UTF-8 is left out, as a part that does not exist.
fn parts(pattern: &'static str, path: &str) -> Vec<(&'static str, String)> {
    let both = pattern.split('/').zip(path.split('/'));
    let part = |(wanted, sent): (&'static str, &str)| {
        let name = wanted.strip_prefix('{')?.strip_suffix('}')?;
        Some((name, percent_decode_str(sent).decode_utf8().ok()?.into_owned()))
    };
    both.filter_map(part).collect()
}

impl From<HttpRequest> for Head {
    fn from(request: HttpRequest) -> Self {
        Self(Source::Received(request))
    }
}

impl From<Made> for Head {
    fn from(made: Made) -> Self {
        Self(Source::Made(Rc::new(made)))
    }
}

impl Head {
    /// Method.
    #[must_use]
    pub fn method(&self) -> &Method {
        match &self.0 {
            Source::Received(request) => request.method(),
            Source::Made(made) => &made.method,
        }
    }

    /// Path and query.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        match &self.0 {
            Source::Received(request) => request.uri(),
            Source::Made(made) => &made.uri,
        }
    }

    /// Headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        match &self.0 {
            Source::Received(request) => request.headers(),
            Source::Made(made) => &made.headers,
        }
    }

    /// The query, empty where there is none.
    #[must_use]
    pub fn query_string(&self) -> &str {
        self.uri().query().unwrap_or_default()
    }

    /// The path of the route, with its parts in braces.
    pub(crate) fn pattern(&self) -> Option<String> {
        match &self.0 {
            Source::Received(request) => request.match_pattern(),
            Source::Made(made) => Some(made.pattern.to_owned()),
        }
    }

    /// A part of the path, as the router decodes it.
    #[must_use]
    pub fn part(&self, name: &str) -> Option<&str> {
        match &self.0 {
            Source::Received(request) => request.match_info().get(name),
            Source::Made(made) => {
                made.parts.iter().find(|(part, _)| *part == name).map(|(_, text)| text.as_str())
            }
        }
    }

    /// The body, where it came with the request and not after it.
    pub(crate) fn body(&self) -> Option<&Bytes> {
        match &self.0 {
            Source::Received(_) => None,
            Source::Made(made) => Some(&made.body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::text_in_path;

    #[test]
    fn a_request_that_was_made_has_the_parts_of_its_path() {
        let uri = "/v1/users/a%2Fb%20c/x?limit=2".parse().unwrap();
        let none = (HeaderMap::new(), Bytes::new());
        let made = Made::new((Method::GET, uri), "/v1/users/{id}/x", none.0, none.1);
        let head = Head::from(made);
        assert_eq!(head.part("id"), Some("a/b c"));
        assert_eq!(text_in_path(&head, "id").as_deref(), Some("a/b c"));
        assert_eq!((head.part("x"), head.query_string()), (None, "limit=2"));
    }
}
