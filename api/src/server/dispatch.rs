//! Every request goes through here: ids, trace, key, scope, body, handler, headers, figures.
//!
//! In this order, so that nobody makes us read a body without a key, and nobody's body is parsed before
//! its size is known. A problem becomes an answer here and nowhere else, and is logged once.

use super::compress::compress;
use super::measure::Measure;
use crate::answer;
use crate::auth::bearer;
use crate::call::{Call, OpenCall, OperatorCall, SignInCall};
use crate::limit::TenantBucket;
use crate::pieces::{in_pieces, length};
use crate::problem::{Code, Problem};
use crate::request::{
    BodyRule, Head, Hold, Holder, Incoming, Lines, Media, RequestId, Unread, accepts_gzip, given,
    peer, plain_length,
};
use crate::routes::table::{Access, Endpoint, Verb};
use crate::state::State;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use domain::plan::PlanLimits;
use domain::time::Timestamp;
use identity::Peer;
use runtime::clock::{monotonic, timeout, wall};
use runtime::trace::TraceContext;
use runtime::{log_trace, otlp};
use std::cell::OnceCell;
use std::sync::Arc;
use tracing::{Instrument, Span};

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// What is known of who asks, once it is.
#[derive(Default)]
struct Asker {
    bucket: OnceCell<Arc<TenantBucket>>,
    /// What the request holds of the memory for requests; nobody has one on an open route.
    hold: OnceCell<Hold>,
}

/// A request that is to be answered, wherever it comes from.
pub(super) struct Coming {
    /// Method, path, query and headers.
    pub head: Head,
    /// The body, where it comes after them.
    pub unread: Unread,
    /// Whom it is counted as.
    pub from: Option<Peer>,
}

/// What was answered, and what is to be done with it.
struct Answered {
    answer: HttpResponse,
    id: RequestId,
    hold: Option<Hold>,
}

/// Answers a request to `endpoint` that came over HTTP.
pub(super) async fn serve(
    endpoint: &'static Endpoint,
    measure: Arc<Measure>,
    state: Arc<State>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let gzip = accepts_gzip(request.headers());
    let unread = Unread::of(&request, payload);
    let from = peer(&request, &state.trusted_proxies);
    let coming = Coming { head: request.into(), unread: unread.clone(), from };
    let Answered { answer, id, hold } = run(endpoint, &measure, &state, coming).await;
    let answer = compress(answer, gzip).await;
    let Some(hold) = hold else {
        return unread.held_by(open_answer(answer, id, &state));
    };
    if let Some(length) = length(&answer) {
        hold.shrink_to(length);
    }
    unread.held_by(in_pieces(answer, Some(hold)))
}

/// Answers a request to `endpoint` that was made in this process.
pub(super) async fn serve_inside(
    endpoint: &'static Endpoint,
    measure: &Measure,
    state: &Arc<State>,
    coming: Coming,
) -> HttpResponse {
    run(endpoint, measure, state, coming).await.answer
}

async fn run(
    endpoint: &'static Endpoint,
    measure: &Measure,
    state: &Arc<State>,
    coming: Coming,
) -> Answered {
    let started = monotonic();
    let began = otlp::is_on().then(wall);
    let id = state.ids.next();
    let (trace, parent) = trace_of(&coming.head);
    let span = (endpoint.span)();
    if !span.is_disabled() {
        span.record("request.id", tracing::field::display(id));
        span.record("trace.id", trace.trace_id());
        log_trace::tag(&span, trace);
    }
    let asker = Asker::default();
    let work = handle(endpoint, Arc::clone(state), coming, (id, trace), &asker);
    let done = timeout(state.request_timeout, work).instrument(span.clone()).await;
    let result = done.unwrap_or_else(|_| Err(Problem::new(Code::Timeout, Code::Timeout.advice())));
    let result = result.and_then(|answer| counted(answer, endpoint, asker.hold.get()));
    let mut answer = span.in_scope(|| finish(result, id, state));
    if let Some(bucket) = asker.bucket.get() {
        state.limiter.add_headers(bucket, answer.headers_mut());
    }
    measure.answered(answer.status(), started.elapsed());
    if let Some(began) = began {
        export(endpoint, (trace, parent), began, answer.status());
    }
    Answered { answer, id, hold: asker.hold.into_inner() }
}

/// An answer to somebody who was not asked who it is. Plain ones are all the same bytes; one that was compressed has its own.
fn open_answer(answer: HttpResponse, id: RequestId, state: &State) -> HttpResponse {
    let own = answer.headers().contains_key(CONTENT_ENCODING).then(|| length(&answer)).flatten();
    let hold = own.map(|_| state.memory.of(Holder::Strangers));
    match hold.as_ref().map_or(Ok(()), |hold| hold.grow(own.unwrap_or_default())) {
        Ok(()) => in_pieces(answer, hold),
        Err(problem) => finish(Err(problem), id, state),
    }
}

/// The same answer, counted in place of the body. What was written cannot be refused any more: where there is no room for its answer,
/// as much is counted as there was for the body.
fn counted(
    answer: HttpResponse,
    endpoint: &Endpoint,
    hold: Option<&Hold>,
) -> Result<HttpResponse, Problem> {
    let (Some(hold), Some(length)) = (hold, length(&answer)) else { return Ok(answer) };
    match hold.become_answer(length) {
        Err(problem) if endpoint.verb == Verb::Get => Err(problem),
        Ok(()) | Err(_) => Ok(answer),
    }
}

/// Exports the span of an answered request.
fn export(
    endpoint: &Endpoint,
    (context, parent): (TraceContext, Option<TraceContext>),
    start: Timestamp,
    status: StatusCode,
) {
    let attributes = vec![
        ("http.request.method", endpoint.verb.as_str().to_owned()),
        ("http.route", endpoint.path.to_owned()),
        ("http.response.status_code", status.as_str().to_owned()),
    ];
    let error = status.is_server_error().then(|| status.to_string());
    let (name, kind, end) = (endpoint.name, otlp::Kind::Server, wall());
    otlp::record(otlp::SpanRecord { name, context, parent, kind, start, end, attributes, error });
}

/// Answers a request that no route takes.
pub(super) fn refuse(
    problem: Problem,
    measure: &Measure,
    state: &State,
    (request, payload): (&HttpRequest, Payload),
) -> HttpResponse {
    let started = monotonic();
    let answer = finish(Err(problem), state.ids.next(), state);
    measure.answered(answer.status(), started.elapsed());
    Unread::of(request, payload).held_by(answer)
}

async fn handle(
    endpoint: &'static Endpoint,
    state: Arc<State>,
    Coming { head: request, unread, from }: Coming,
    (id, trace): (RequestId, TraceContext),
    asker: &Asker,
) -> Result<HttpResponse, Problem> {
    // Before anything is looked up for a stranger.
    if endpoint.counts_peers() {
        state.limiter.pass(from)?;
    }
    match endpoint.access {
        Access::Open(handler) => handler(OpenCall { state, request }).await,
        Access::SignIn(handler) => {
            let hold = asker.hold.get_or_init(|| state.memory.of(Holder::Strangers));
            let coming = (&request, &unread, hold);
            let (body, _) = body_of(endpoint, &state, None, coming).await?;
            handler(SignInCall { state, request, body, id, peer: from }).await
        }
        Access::Tenant(permission, handler) => {
            let caller = state.authenticator.authenticate(bearer(request.headers())?, from).await?;
            let bucket = Arc::clone(asker.bucket.get_or_init(|| state.limiter.bucket(&caller)));
            let holder = Holder::Tenant(caller.tenant());
            let hold = asker.hold.get_or_init(|| state.memory.of(holder)).clone();
            caller.require(permission)?;
            Span::current().record("tenant.id", tracing::field::display(caller.tenant()));
            let limits = caller.limits();
            let coming = (&request, &unread, &hold);
            let read = body_of(endpoint, &state, Some(limits), coming).await;
            let (body, lines) = match read {
                Err(problem) if is_of_a_task(&problem, endpoint) => {
                    let size = state.task_limit(Some(limits));
                    return Err(state.refusals.too_large(size, plain_length(&request)).await);
                }
                read => read?,
            };
            let peer = from;
            let asked = request.clone();
            let call = Call { state, caller, bucket, hold, request, body, lines, id, trace, peer };
            handler(call).await.map_err(|problem| naming(problem, &asked))
        }
        Access::Operator(scope, handler) => {
            let operator = state.operators.authenticate(bearer(request.headers())?, from).await?;
            operator.require(scope)?;
            let hold = asker.hold.get_or_init(|| state.memory.of(Holder::Operators));
            let coming = (&request, &unread, hold);
            let (body, _) = body_of(endpoint, &state, None, coming).await?;
            let asked = request.clone();
            let call = OperatorCall { state, operator, request, body, id, trace };
            handler(call).await.map_err(|problem| naming(problem, &asked))
        }
    }
}

/// What does not exist is named as the path names it.
fn naming(problem: Problem, request: &Head) -> Problem {
    match ["key_id", "login", "number", "id", "name", "key"]
        .into_iter()
        .find_map(|part| request.part(part))
    {
        Some(name) => problem.called(name),
        None => problem,
    }
}

/// The body, whole or as lines that have not been read.
async fn body_of(
    endpoint: &Endpoint,
    state: &State,
    limits: Option<&PlanLimits>,
    (request, unread, hold): (&Head, &Unread, &Hold),
) -> Result<(Bytes, Option<Lines>), Problem> {
    if endpoint.body == BodyRule::None {
        return Ok((Bytes::new(), None));
    }
    let task = state.task_limit(limits);
    let limit = match endpoint.body {
        BodyRule::Task | BodyRule::Change => task.bytes,
        BodyRule::None
        | BodyRule::Empty
        | BodyRule::Optional
        | BodyRule::Small
        | BodyRule::Payload
        | BodyRule::Workflow
        | BodyRule::Batch => state.body_limit(endpoint.body),
    };
    if let Some(body) = request.body() {
        return Ok((given(body, (endpoint.body, limit), hold)?, None));
    }
    let incoming = Incoming::open(request, (unread, hold), endpoint.body, limit)?;
    Ok(match incoming.media {
        Media::Json => (incoming.whole().await?, None),
        Media::Lines => {
            (Bytes::new(), Some(Lines::new(incoming, task.bytes, state.max_batch_tasks)))
        }
    })
}

/// A task was too large: which limit says so depends on the tenant's plan.
fn is_of_a_task(problem: &Problem, endpoint: &Endpoint) -> bool {
    problem.code() == Code::PayloadTooLarge
        && matches!(endpoint.body, BodyRule::Task | BodyRule::Change)
}

/// The client's trace, one step on, and its own step; a new one where it sent none that can be read.
fn trace_of(request: &Head) -> (TraceContext, Option<TraceContext>) {
    let sent = request.headers().get(&TRACEPARENT).and_then(|value| value.to_str().ok());
    let parent: Option<TraceContext> = sent.and_then(|text| text.parse().ok());
    (parent.map_or_else(TraceContext::generate, |parent| parent.child()), parent)
}

fn finish(result: Result<HttpResponse, Problem>, id: RequestId, state: &State) -> HttpResponse {
    let mut answer = result.unwrap_or_else(|problem| {
        log(&problem);
        answer::problem(&problem, id)
    });
    if state.closes_connections() {
        answer.head_mut().set_connection_type(ConnectionType::Close);
    }
    let headers = answer.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(&id.to_string()) {
        headers.insert(REQUEST_ID.clone(), id);
    }
    answer
}

fn log(problem: &Problem) {
    let row = problem.code().info();
    let (code, cause) = (row.code, problem.cause().unwrap_or_default());
    if row.status == 500 {
        tracing::error!(code, cause, "A request failed: {cause}");
    } else if row.status > 500 {
        tracing::warn!(code, cause, "A request was put off with `{code}`: {}", problem.detail());
    } else {
        tracing::debug!(code, "A request was refused with `{code}`: {}", problem.detail());
    }
}
