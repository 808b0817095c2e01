//! Puts the table of routes into actix. What it does not hold is a problem, too: 404, or 405 with `Allow`.

use super::compress::compress;
use super::dispatch::{refuse, serve};
use super::head::without_body;
use super::inside::Inside;
use super::measure::Measure;
use crate::home::at_home;
use crate::problem::{Code, Problem};
use crate::request::{Unread, accepts_gzip};
use crate::routes::table::{Endpoint, TABLE, Verb};
use crate::start_error::StartError;
use crate::state::State;
use actix_web::http::{ConnectionType, Method};
use actix_web::web::{Payload, ServiceConfig, method, resource, to};
use actix_web::{HttpRequest, HttpResponse, Route};
use runtime::clock::monotonic;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use web::{Dashboard, PAGES, Page};

/// The state and the measures of all routes; shared by the worker threads.
#[derive(Clone)]
pub(super) struct Mounted {
    state: Arc<State>,
    measures: Arc<[Arc<Measure>]>,
    unmatched: Arc<Measure>,
    home: Handle,
    dashboard: Arc<Dashboard>,
    /// Of the pages.
    seen: Arc<[Arc<Measure>]>,
}

impl Mounted {
    /// Made in the runtime in which requests are to be at home. `tls`: whether the socket speaks it.
    ///
    /// # Errors
    /// When the cookies of the dashboard cannot be encrypted, which would be a bug.
    pub(super) fn new(state: State, tls: bool) -> Result<Self, StartError> {
        let state = Arc::new(state);
        let measures: Arc<[_]> =
            TABLE.iter().map(|e| Arc::new(Measure::new(e.path, e.verb.as_str()))).collect();
        let seen = PAGES.iter().map(|page| Arc::new(Measure::new(page.path, page.method.as_str())));
        let inside = Inside::new(Arc::clone(&state), Arc::clone(&measures), tls);
        let dashboard =
            Dashboard::new(Arc::new(inside), &state.cookie_key, state.status.is_shown());
        Ok(Self {
            state,
            measures,
            unmatched: Arc::new(Measure::new("unmatched", "")),
            home: Handle::current(),
            dashboard: Arc::new(dashboard.ok_or(StartError::Cookies)?),
            seen: seen.collect(),
        })
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
        self.configure_pages(config);
        config.default_service(self.no_such_route());
    }

    fn configure_pages(&self, config: &mut ServiceConfig) {
        let mut paths: Vec<&'static str> = Vec::new();
        for page in &PAGES {
            if !paths.contains(&page.path) {
                paths.push(page.path);
            }
        }
        for path in paths {
            let mut at_path = resource(path);
            let mut verbs = Vec::new();
            for (page, measure) in
                PAGES.iter().zip(self.seen.iter()).filter(|(p, _)| p.path == path)
            {
                verbs.push(page.method.as_str());
                at_path = at_path.route(self.page(page, measure));
                if page.method == web::Verb::Get {
                    verbs.push("HEAD");
                    at_path = at_path.route(self.head_of_page(page, measure));
                }
            }
            config.service(at_path.default_service(self.no_such_method(verbs.join(", "))));
        }
    }

    fn page(&self, page: &'static Page, measure: &Arc<Measure>) -> Route {
        let verb = match page.method {
            web::Verb::Get => Method::GET,
            web::Verb::Post => Method::POST,
        };
        let (mounted, measure) = (self.clone(), Arc::clone(measure));
        method(verb).to(move |request: HttpRequest, payload: Payload| {
            mounted.show(page, Arc::clone(&measure), (request, payload))
        })
    }

    fn head_of_page(&self, page: &'static Page, measure: &Arc<Measure>) -> Route {
        let (mounted, measure) = (self.clone(), Arc::clone(measure));
        method(Method::HEAD).to(move |request: HttpRequest, payload: Payload| {
            let answer = mounted.show(page, Arc::clone(&measure), (request, payload));
            async move { without_body(answer.await) }
        })
    }

    fn show(
        &self,
        page: &'static Page,
        measure: Arc<Measure>,
        (request, payload): (HttpRequest, Payload),
    ) -> impl Future<Output = HttpResponse> + use<> {
        let (dashboard, state) = (Arc::clone(&self.dashboard), Arc::clone(&self.state));
        at_home(self.home.clone(), async move {
            let (started, gzip) = (monotonic(), accepts_gzip(request.headers()));
            let mut answer = page.answer(dashboard, request, payload).await;
            if state.closes_connections() {
                answer.head_mut().set_connection_type(ConnectionType::Close);
            }
            measure.answered(answer.status(), started.elapsed());
            compress(answer, gzip).await
        })
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
            let mounted = mounted.clone();
            at_home(mounted.home.clone(), async move {
                let (measure, state) = (&mounted.unmatched, &mounted.state);
                if web::wants_page(&request) {
                    let unread = Unread::of(&request, payload);
                    let dashboard = Arc::clone(&mounted.dashboard);
                    let answer = dashboard.no_such_page(request).await;
                    measure.answered(answer.status(), Duration::ZERO);
                    return unread.held_by(answer);
                }
                let problem =
                    Problem::new(Code::RouteNotFound, "There is no such route; see /openapi.json.");
                refuse(problem, measure, state, (&request, payload))
            })
        })
    }
}
