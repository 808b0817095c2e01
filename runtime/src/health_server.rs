//! Probes, metrics and the log filter over HTTP, on an internal address.
//!
//! `GET /healthz`, `/readyz` (200 or 503, with a line per check) and `/metrics`; `GET`, `PUT` and `DELETE /log-level`; all else is
//! 404. Started by each role, by the api where it has an address for it. It must outlive the drain, because `/readyz` is how a
//! drain is seen: give it a shutdown that comes last.

use crate::health::Health;
use crate::shutdown::Shutdown;
use crate::tasks::TaskGroup;
use crate::{clock, log_level, metrics};
use domain::time::parse_duration;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections served at once; more wait in the kernel.
const MAX_CONNECTIONS: usize = 64;
/// Time for a client to send its request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest life of a connection, so that idle ones cannot keep all places.
const CONNECTION_LIFE: Duration = Duration::from_secs(60);
/// Bytes of a log filter.
const MAX_FILTER: usize = 4096;
/// What an HTTP task always sends and cannot take away: a customer must not change what is logged where tasks reach this address.
const OF_A_TASK: &str = "berth-task-id";
/// Longest time for which a log filter can be set.
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Binds `address` (port 0: a free one), serves in the background until `shutdown`, and returns the
/// address it took.
///
/// # Errors
/// When the address cannot be bound.
pub async fn start(
    address: SocketAddr,
    health: Health,
    tasks: &TaskGroup,
    shutdown: Shutdown,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    tasks.spawn("health_server", accept(listener, health, tasks.clone(), shutdown));
    Ok(bound)
}

async fn accept(listener: TcpListener, health: Health, tasks: TaskGroup, shutdown: Shutdown) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            } => accepted,
        };
        match accepted {
            (Ok(place), Ok((stream, _))) => {
                let serving = serve(stream, health.clone(), tasks.clone(), shutdown.clone());
                tasks.spawn("health_connection", async move {
                    serving.await;
                    drop(place);
                });
            }
            (_, Err(error)) => {
                // Out of file descriptors, mostly: trying at once again would only spin.
                tracing::warn!(%error, "The health server cannot accept a connection: {error}");
                shutdown.sleep(Duration::from_millis(100)).await;
            }
            (Err(_), Ok(_)) => return,
        }
    }
}

async fn serve(stream: TcpStream, health: Health, tasks: TaskGroup, shutdown: Shutdown) {
    let until = shutdown.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (health, tasks, until) = (health.clone(), tasks.clone(), until.clone());
        async move {
            Ok::<_, Infallible>(match request.uri().path() {
                "/log-level" => log_level_of(request, &tasks, until).await,
                _ => answer(&request, &health),
            })
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        () = shutdown.cancelled() => {}
        result = clock::timeout(CONNECTION_LIFE, connection) => {
            if let Ok(Err(error)) = result {
                tracing::debug!(%error, "A probe's connection ended early: {error}");
            }
        }
    }
}

fn answer(request: &Request<Incoming>, health: &Health) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return not_allowed("GET, HEAD");
    }
    let probe = |report: crate::health::HealthReport| {
        let status = if report.ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        text(status, report.to_string())
    };
    match request.uri().path() {
        "/healthz" => probe(health.live()),
        "/readyz" => probe(health.ready()),
        "/metrics" => text(StatusCode::OK, metrics::render()),
        _ => text(StatusCode::NOT_FOUND, "not found\n".to_owned()),
    }
}

/// `GET`: the log filter. `PUT`: another, for the time of `?for=10m` or for good. `DELETE`: that of the settings.
async fn log_level_of(
    request: Request<Incoming>,
    tasks: &TaskGroup,
    shutdown: Shutdown,
) -> Response<Full<Bytes>> {
    let changed = match *request.method() {
        Method::GET | Method::HEAD => return log_level_now(),
        _ if request.headers().contains_key(OF_A_TASK) => {
            return text(StatusCode::FORBIDDEN, "not for tasks\n".to_owned());
        }
        Method::DELETE => log_level::change(None, None),
        Method::PUT => match wanted_filter(request).await {
            Ok((filter, time)) => log_level::change(Some(&filter), time),
            Err(problem) => return text(StatusCode::BAD_REQUEST, problem),
        },
        _ => return not_allowed("GET, HEAD, PUT, DELETE"),
    };
    match changed {
        Ok(change) => {
            let standing = change.standing.to_string();
            tasks.spawn_detached("log_level", change.end(shutdown));
            text(StatusCode::OK, standing)
        }
        Err(error) => text(StatusCode::BAD_REQUEST, format!("{error}\n")),
    }
}

fn log_level_now() -> Response<Full<Bytes>> {
    match log_level::standing() {
        Some(standing) => text(StatusCode::OK, standing.to_string()),
        None => text(StatusCode::NOT_FOUND, "the log of this process has no filter\n".to_owned()),
    }
}

/// The filter in the body, and for how long.
async fn wanted_filter(request: Request<Incoming>) -> Result<(String, Option<Duration>), String> {
    let mut time = None;
    let query = request.uri().query().unwrap_or_default();
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let range = Duration::from_secs(1)..=MAX_TIME;
        match (&*key, parse_duration(&value)) {
            ("for", Ok(wanted)) if range.contains(&wanted) => time = Some(wanted),
            ("for", Ok(_)) => return Err("`for` must be 1s to 24h\n".to_owned()),
            ("for", Err(error)) => return Err(format!("`for`: {error}\n")),
            _ => return Err(format!("unknown parameter `{key}`; there is `for`\n")),
        }
    }
    let body = Limited::new(request.into_body(), MAX_FILTER).collect().await;
    let body = body.map_err(|error| format!("the filter cannot be read: {error}\n"))?.to_bytes();
    let filter =
        String::from_utf8(body.into()).map_err(|_| "the filter is not UTF-8\n".to_owned())?;
    Ok((filter, time))
}

fn not_allowed(allowed: &'static str) -> Response<Full<Bytes>> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, format!("only {allowed}\n"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
