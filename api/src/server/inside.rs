//! The API for the dashboard: the same endpoints, called in this process.
//!
//! Each call goes through `dispatch` as one from a socket does: peer's rate, credential, permission, body, handler, audit,
//! figures. Only compression and the pieces of large answers are left out, for there is no socket behind it. Pages are mounted at
//! home (`crate::home`), and so are their calls.

use super::dispatch::{Coming, serve_inside};
use super::measure::Measure;
use crate::answer;
use crate::problem::{Code, Problem};
use crate::request::{Head, Made, Unread, peer};
use crate::routes::table::{Endpoint, TABLE, Verb};
use crate::state::State;
use actix_web::body::to_bytes;
use actix_web::http::header::{
    AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
};
use actix_web::http::{Method, Uri};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures::future::LocalBoxFuture;
use std::sync::Arc;
use web::{Backend, Call, Kind, Reply, Who};

static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The endpoints, as the dashboard calls them.
pub(super) struct Inside {
    state: Arc<State>,
    measures: Arc<[Arc<Measure>]>,
    /// Whether this process itself speaks TLS.
    tls: bool,
}

impl Inside {
    pub(super) const fn new(state: Arc<State>, measures: Arc<[Arc<Measure>]>, tls: bool) -> Self {
        Self { state, measures, tls }
    }

    async fn answer(&self, call: Call<'_>) -> HttpResponse {
        let from = peer(call.from, &self.state.trusted_proxies);
        match route(&call) {
            Ok((index, endpoint, made)) => {
                let coming = Coming { head: Head::from(made), unread: Unread::default(), from };
                let Some(measure) = self.measures.get(index) else {
                    return answer::problem(&no_route(), self.state.ids.next());
                };
                serve_inside(endpoint, measure, &self.state, coming).await
            }
            Err(problem) => answer::problem(&problem, self.state.ids.next()),
        }
    }

    async fn who(&self, kind: Kind, credential: &str, from: &HttpRequest) -> Result<Who, Problem> {
        let from = peer(from, &self.state.trusted_proxies);
        self.state.limiter.pass(from)?;
        match kind {
            Kind::Tenant => {
                let caller = self.state.authenticator.authenticate(credential, from).await?;
                Ok(Who::Tenant(caller.tenant(), caller.permissions()))
            }
            Kind::Operator => {
                let operator = self.state.operators.authenticate(credential, from).await?;
                Ok(Who::Operator(operator.scopes().to_vec()))
            }
        }
    }
}

impl Backend for Inside {
    fn call<'a>(&'a self, call: Call<'a>) -> LocalBoxFuture<'a, Reply> {
        Box::pin(async move {
            let (head, body) = self.answer(call).await.into_parts();
            let text = |name| head.headers().get(name).and_then(|value| value.to_str().ok());
            let etag = text(ETAG).map(str::to_owned);
            let content_type = text(CONTENT_TYPE).unwrap_or_default().to_owned();
            // Of a stream the rest is missing where it breaks; no page asks for one.
            let body = to_bytes(body).await.unwrap_or_default();
            Reply { status: head.status().as_u16(), etag, content_type, body }
        })
    }

    fn admit<'a>(
        &'a self,
        kind: Kind,
        credential: &'a str,
        from: &'a HttpRequest,
    ) -> LocalBoxFuture<'a, Result<Who, Box<api_types::Problem>>> {
        Box::pin(async move {
            let found = self.who(kind, credential, from).await;
            found.map_err(|problem| Box::new(problem.shown(Some(self.state.ids.next()))))
        })
    }

    /// What a proxy says is believed of anybody: whoever makes it up gets a cookie that their own browser keeps from them.
    fn is_secure(&self, from: &HttpRequest) -> bool {
        let proxy = from.headers().get(&FORWARDED_PROTO);
        self.tls || proxy.is_some_and(|proto| proto.as_bytes().eq_ignore_ascii_case(b"https"))
    }
}

/// The endpoint of a call, its place in the table, and the request to it.
fn route(call: &Call<'_>) -> Result<(usize, &'static Endpoint, Made), Problem> {
    let uri: Uri = call.target.parse().map_err(|_| no_route())?;
    let (verb, method) = match call.method {
        web::Method::Get => (Verb::Get, Method::GET),
        web::Method::Post => (Verb::Post, Method::POST),
        web::Method::Put => (Verb::Put, Method::PUT),
        web::Method::Patch => (Verb::Patch, Method::PATCH),
        web::Method::Delete => (Verb::Delete, Method::DELETE),
    };
    let fits = TABLE.iter().enumerate().filter(|(_, endpoint)| endpoint.verb == verb);
    let fits = fits.filter_map(|(index, endpoint)| {
        Some((fixed_parts(endpoint.path, uri.path())?, index, endpoint))
    });
    // `/v1/tasks/batch` is not the task `batch`.
    let (_, index, endpoint) = fits.max_by_key(|(fixed, ..)| *fixed).ok_or_else(no_route)?;
    let mut headers = HeaderMap::new();
    if let Some(credential) = call.credential {
        headers.insert(AUTHORIZATION, value(&format!("Bearer {credential}"))?);
    }
    for (name, text) in &call.headers {
        headers.insert(HeaderName::from_static(name), value(text)?);
    }
    let body = call.body.clone().map(Bytes::from).unwrap_or_default();
    Ok((index, endpoint, Made::new((method, uri), endpoint.path, headers, body)))
}

/// How many parts of `pattern` are fixed, where `path` fits it.
fn fixed_parts(pattern: &str, path: &str) -> Option<usize> {
    let (mut wanted, mut sent) = (pattern.split('/'), path.split('/'));
    let mut fixed = 0;
    loop {
        match (wanted.next(), sent.next()) {
            (None, None) => return Some(fixed),
            (Some(part), Some(sent)) if part.starts_with('{') && !sent.is_empty() => {}
            (Some(part), Some(sent)) if part == sent => fixed += 1,
            _ => return None,
        }
    }
}

fn value(text: &str) -> Result<HeaderValue, Problem> {
    let wrong =
        || Problem::new(Code::InvalidParameter, "A header has characters that it must not.");
    HeaderValue::from_str(text).map_err(|_| wrong())
}

fn no_route() -> Problem {
    Problem::new(Code::RouteNotFound, "There is no such route.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_fits_the_pattern_with_the_most_fixed_parts() {
        assert_eq!(fixed_parts("/v1/tasks/{id}", "/v1/tasks/batch"), Some(3));
        assert_eq!(fixed_parts("/v1/tasks/batch", "/v1/tasks/batch"), Some(4));
        for path in ["/v1/tasks", "/v1/tasks/", "/v1/tasks/a/b", "/v1/keys/a"] {
            assert_eq!(fixed_parts("/v1/tasks/{id}", path), None, "{path}");
        }
    }
}
