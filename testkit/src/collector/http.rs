//! OTLP over HTTP, protobuf.

use super::{Collector, Received};
use crate::authority::Issued;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use prost::Message;
use runtime::tasks::TaskGroup;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub(super) fn serve(
    collector: &Collector,
    listener: TcpListener,
    identity: Option<&Issued>,
) -> anyhow::Result<()> {
    let acceptor = identity.map(acceptor).transpose()?;
    let (collector, tasks) = (collector.clone(), TaskGroup::new());
    let connections = tasks.clone();
    tasks.spawn_detached("collector", async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (collector, acceptor) = (collector.clone(), acceptor.clone());
            connections.spawn_detached("collector-connection", async move {
                match acceptor {
                    None => collector.converse(stream).await,
                    Some(acceptor) => match acceptor.accept(stream).await {
                        Ok(stream) => collector.converse(stream).await,
                        Err(error) => tracing::debug!(%error, "A client did not want us"),
                    },
                }
            });
        }
    });
    Ok(())
}

fn acceptor(identity: &Issued) -> anyhow::Result<TlsAcceptor> {
    let chain = vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes())?];
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl Collector {
    async fn converse(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let answer = service_fn(|request| self.answer(request));
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), answer);
        if let Err(error) = connection.await {
            tracing::debug!(%error, "A connection to the collector ended");
        }
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Empty<Bytes>>, Infallible> {
        let mut response = Response::new(Empty::new());
        *response.status_mut() = self.take(request).await.err().unwrap_or(StatusCode::OK);
        Ok(response)
    }

    async fn take(&self, request: Request<Incoming>) -> Result<(), StatusCode> {
        if request.method() != Method::POST {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        let of_header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        if of_header(CONTENT_TYPE) != Some("application/x-protobuf") {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        let authorization = of_header(AUTHORIZATION).map(str::to_owned);
        let path = request.uri().path().to_owned();
        let body = request.into_body().collect().await.map_err(|_| StatusCode::BAD_REQUEST)?;
        let (body, authorization) = (body.to_bytes(), authorization.as_deref());
        match path.as_str() {
            "/v1/traces" => self.decoded(&body, authorization, Received::add_spans),
            "/v1/logs" => self.decoded(&body, authorization, Received::add_lines),
            "/v1/metrics" => self.decoded(&body, authorization, Received::add_metrics),
            _ => Err(StatusCode::NOT_FOUND),
        }
    }

    fn decoded<T: Message + Default + std::fmt::Debug>(
        &self,
        body: &Bytes,
        authorization: Option<&str>,
        add: fn(&mut Received, &T),
    ) -> Result<(), StatusCode> {
        let request = T::decode(body.as_ref()).map_err(|_| StatusCode::BAD_REQUEST)?;
        self.note(authorization, format!("{request:?}"), |received| add(received, &request));
        Ok(())
    }
}
