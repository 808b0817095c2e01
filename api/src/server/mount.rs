//! Puts the table of routes into actix. What it does not hold is a problem, too: 404, or 405 with `Allow`.

use super::dispatch::{refuse, serve};
use super::head::without_body;
use super::measure::Measure;
use crate::home::at_home;
use crate::problem::{Code, Problem};
use crate::routes::table::{Endpoint, TABLE, Verb};
use crate::state::State;
use actix_web::http::Method;
use actix_web::web::{Payload, ServiceConfig, method, resource, to};
use actix_web::{HttpRequest, Route};
use std::sync::Arc;
use tokio::runtime::Handle;

/// The state and the measures of all routes; shared by the worker threads.
#[derive(Clone)]
pub(super) struct Mounted {
    state: Arc<State>,
    measures: Arc<[Arc<Measure>]>,
    unmatched: Arc<Measure>,
    home: Handle,
}

impl Mounted {
    /// Made in the runtime in which requests are to be at home.
    pub(super) fn new(state: State) -> Self {
        let measures =
            TABLE.iter().map(|e| Arc::new(Measure::new(e.path, e.verb.as_str()))).collect();
        Self {
            state: Arc::new(state),
            measures,
            unmatched: Arc::new(Measure::new("unmatched", "")),
            home: Handle::current(),
        }
    }

    /// What all requests share.
    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state)
    }

    /// Called once for each worker thread.
    pub(super) fn configure(&self, config: &mut ServiceConfig) {
        let mut paths: Vec<&'static str> = Vec::new();
        for endpoint in &TABLE {
            if !paths.contains(&endpoint.path) {
                paths.push(endpoint.path);
            }
        }
        for path in paths {
            let mut at_path = resource(path);
            let mut verbs = Vec::new();
            for (endpoint, measure) in
                TABLE.iter().zip(self.measures.iter()).filter(|(e, _)| e.path == path)
            {
                verbs.push(endpoint.verb.as_str());
                at_path = at_path.route(self.route(endpoint, measure));
                if endpoint.verb == Verb::Get {
                    verbs.push("HEAD");
                    at_path = at_path.route(self.head(endpoint, measure));
                }
            }
            config.service(at_path.default_service(self.no_such_method(verbs.join(", "))));
        }
        config.default_service(self.no_such_route());
    }

    fn route(&self, endpoint: &'static Endpoint, measure: &Arc<Measure>) -> Route {
        let verb = match endpoint.verb {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
            Verb::Put => Method::PUT,
            Verb::Patch => Method::PATCH,
            Verb::Delete => Method::DELETE,
        };
        let (state, measure, home) =
            (Arc::clone(&self.state), Arc::clone(measure), self.home.clone());
        method(verb).to(move |request: HttpRequest, payload: Payload| {
            let (measure, state) = (Arc::clone(&measure), Arc::clone(&state));
            at_home(home.clone(), serve(endpoint, measure, state, request, payload))
        })
    }

    /// The answer to GET without its body, which is not even made where it is a stream.
    fn head(&self, endpoint: &'static Endpoint, measure: &Arc<Measure>) -> Route {
        let (state, measure, home) =
            (Arc::clone(&self.state), Arc::clone(measure), self.home.clone());
        method(Method::HEAD).to(move |request: HttpRequest, payload: Payload| {
            let (measure, state) = (Arc::clone(&measure), Arc::clone(&state));
            let answer = at_home(home.clone(), serve(endpoint, measure, state, request, payload));
            async move { without_body(answer.await) }
        })
    }

    fn no_such_method(&self, verbs: String) -> Route {
        let mounted = self.clone();
        to(move |request: HttpRequest, payload: Payload| {
            let detail =
                format!("The method {} is not allowed here; use {verbs}.", request.method());
            let problem = Problem::new(Code::MethodNotAllowed, detail).allowing(verbs.clone());
            let (measure, state) = (&mounted.unmatched, &mounted.state);
            std::future::ready(refuse(problem, measure, state, (&request, payload)))
        })
    }

    fn no_such_route(&self) -> Route {
        let mounted = self.clone();
        to(move |request: HttpRequest, payload: Payload| {
            let problem =
                Problem::new(Code::RouteNotFound, "There is no such route; see /openapi.json.");
            let (measure, state) = (&mounted.unmatched, &mounted.state);
            std::future::ready(refuse(problem, measure, state, (&request, payload)))
        })
    }
}
