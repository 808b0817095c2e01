//! An OpenTelemetry collector that remembers what it was sent.
//!
//! Called by tests of the export. A real OTLP server on a real socket: only what it does with the data is simpler.

use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{
    LogsService, LogsServiceServer,
};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::resource::v1::Resource;
use runtime::tasks::TaskGroup;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

/// A span as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The service that sent it.
    pub service: String,
    /// Its name.
    pub name: String,
    /// Trace id, 32 hex digits.
    pub trace: String,
    /// Span id, 16 hex digits.
    pub id: String,
    /// The parent's span id; empty for a root.
    pub parent: String,
    /// When it began, ns since 1970.
    pub start_ns: u64,
    /// When it ended, ns since 1970.
    pub end_ns: u64,
}

/// All that was sent.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// Spans, in the order in which they came.
    pub spans: Vec<Span>,
    /// Bodies of log lines, with their service.
    pub lines: Vec<(String, String)>,
    /// Metrics, with their service.
    pub metrics: Vec<(String, Metric)>,
    /// Every export, whole, as text: to search what no field above holds.
    pub exports: Vec<String>,
    /// `authorization` headers.
    pub authorizations: Vec<String>,
}

/// A collector that runs.
#[derive(Debug, Clone)]
pub struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Received>>,
}

impl Collector {
    /// Starts one on a free port; it runs as long as tokio does.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let this = Self { address: listener.local_addr()?, received: Arc::default() };
        let server = Server::builder()
            .add_service(TraceServiceServer::new(this.clone()))
            .add_service(LogsServiceServer::new(this.clone()))
            .add_service(MetricsServiceServer::new(this.clone()));
        TaskGroup::new().spawn_detached("collector", async move {
            if let Err(error) = server.serve_with_incoming(TcpListenerStream::new(listener)).await {
                tracing::error!(%error, "The collector ended");
            }
        });
        Ok(this)
    }

    /// For `telemetry.otlp_endpoint`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came so far.
    #[must_use]
    pub fn received(&self) -> Received {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note<T: std::fmt::Debug>(&self, request: &Request<T>, more: impl FnOnce(&mut Received)) {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.exports.push(format!("{:?}", request.get_ref()));
        if let Some(value) = request.metadata().get("authorization") {
            received.authorizations.push(value.to_str().unwrap_or_default().to_owned());
        }
        more(&mut received);
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut spans = Vec::new();
        for of_resource in &request.get_ref().resource_spans {
            let service = service(of_resource.resource.as_ref());
            for span in of_resource.scope_spans.iter().flat_map(|scope| &scope.spans) {
                spans.push(Span {
                    service: service.clone(),
                    name: span.name.clone(),
                    trace: hex(&span.trace_id),
                    id: hex(&span.span_id),
                    parent: hex(&span.parent_span_id),
                    start_ns: span.start_time_unix_nano,
                    end_ns: span.end_time_unix_nano,
                });
            }
        }
        self.note(&request, |received| received.spans.extend(spans));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Collector {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let mut lines = Vec::new();
        for of_resource in &request.get_ref().resource_logs {
            let service = service(of_resource.resource.as_ref());
            for line in of_resource.scope_logs.iter().flat_map(|scope| &scope.log_records) {
                lines.push((service.clone(), text(line.body.as_ref())));
            }
        }
        self.note(&request, |received| received.lines.extend(lines));
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let mut metrics = Vec::new();
        for of_resource in &request.get_ref().resource_metrics {
            let service = service(of_resource.resource.as_ref());
            for metric in of_resource.scope_metrics.iter().flat_map(|scope| &scope.metrics) {
                metrics.push((service.clone(), metric.clone()));
            }
        }
        self.note(&request, |received| received.metrics.extend(metrics));
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

fn service(resource: Option<&Resource>) -> String {
    let attributes = resource.map(|resource| resource.attributes.as_slice()).unwrap_or_default();
    let name = attributes.iter().find(|attribute| attribute.key == "service.name");
    text(name.and_then(|name| name.value.as_ref()))
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
