//! Probes and metrics over HTTP, for roles that have no HTTP of their own.
//!
//! `GET /healthz`, `/readyz` (200 or 503, with a line per check) and `/metrics`; all else is 404.
//! Started by each role but the api. It must outlive the drain, because `/readyz` is how a drain
//! is seen: give it a shutdown that comes last.

use crate::health::Health;
use crate::shutdown::Shutdown;
use crate::tasks::TaskGroup;
use crate::{clock, metrics};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
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
                let serving = serve(stream, health.clone(), shutdown.clone());
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

async fn serve(stream: TcpStream, health: Health, shutdown: Shutdown) {
    let service = service_fn(move |request| {
        let answer = answer(&request, &health);
        async move { Ok::<_, Infallible>(answer) }
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
        return text(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned());
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

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
