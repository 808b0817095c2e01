//! OTLP over gRPC.

use super::Collector;
use crate::authority::Issued;
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
use runtime::tasks::TaskGroup;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

pub(super) fn serve(
    collector: &Collector,
    listener: TcpListener,
    identity: Option<&Issued>,
) -> anyhow::Result<()> {
    let mut server = Server::builder();
    if let Some(Issued { certificate, key }) = identity {
        let identity = Identity::from_pem(certificate, key);
        server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
    }
    let server = server
        .add_service(TraceServiceServer::new(collector.clone()))
        .add_service(LogsServiceServer::new(collector.clone()))
        .add_service(MetricsServiceServer::new(collector.clone()));
    TaskGroup::new().spawn_detached("collector", async move {
        if let Err(error) = server.serve_with_incoming(TcpListenerStream::new(listener)).await {
            tracing::error!(%error, "The collector ended");
        }
    });
    Ok(())
}

impl Collector {
    fn note_request<T: std::fmt::Debug>(
        &self,
        request: &Request<T>,
        more: impl FnOnce(&mut super::Received),
    ) {
        let authorization = request.metadata().get("authorization");
        let authorization = authorization.map(|value| value.to_str().unwrap_or_default());
        self.note(authorization, format!("{:?}", request.get_ref()), more);
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.note_request(&request, |received| received.add_spans(request.get_ref()));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Collector {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        self.note_request(&request, |received| received.add_lines(request.get_ref()));
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.note_request(&request, |received| received.add_metrics(request.get_ref()));
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}
