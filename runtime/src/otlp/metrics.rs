//! Pushes the metrics of this process: the very figures that `/metrics` shows.
//!
//! The SDK's own instruments would be a second set beside those, so the registry is read and translated.

use super::http_sender::HttpSender;
use crate::clock;
use crate::error_chain::ErrorChain;
use crate::metrics::gather;
use crate::tls::advice;
use opentelemetry_http::HttpError;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_client::MetricsServiceClient;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource as ProtoResource;
use opentelemetry_sdk::Resource;
use prometheus::proto::{LabelPair, MetricFamily, MetricType};
use std::time::Duration;
use tokio::sync::Notify;
use tonic::metadata::MetadataMap;
use tonic::transport::Channel;

/// The way to the collector.
#[derive(Clone)]
pub(super) enum Sender {
    /// Over gRPC.
    Grpc(Box<MetricsServiceClient<Channel>>, MetadataMap),
    /// Over HTTP.
    Http(HttpSender),
}

impl Sender {
    async fn send(&mut self, request: ExportMetricsServiceRequest) -> Result<(), HttpError> {
        match self {
            Self::Grpc(client, metadata) => {
                let (metadata, more) = (metadata.clone(), tonic::Extensions::default());
                client.export(tonic::Request::from_parts(metadata, more, request)).await?;
                Ok(())
            }
            Self::Http(sender) => sender.push(&request).await,
        }
    }
}

/// Logging is set up, so that the first push can say why it failed.
static LOGGING: Notify = Notify::const_new();

/// To be called once it is.
pub(crate) fn begin() {
    LOGGING.notify_one();
}

/// The loop that pushes.
pub(super) struct Pusher {
    target: Target,
    running: tokio::task::JoinHandle<()>,
}

#[derive(Clone)]
struct Target {
    sender: Sender,
    /// The last push failed, and that has been said.
    is_failing: bool,
    resource: ProtoResource,
    started_ns: u64,
}

impl Pusher {
    pub(super) fn start(sender: Sender, resource: &Resource, every: Duration) -> Self {
        let attributes = resource.iter().map(|(key, value)| text(key.as_str(), value.to_string()));
        let target = Target {
            sender,
            is_failing: false,
            resource: ProtoResource {
                attributes: attributes.collect(),
                ..ProtoResource::default()
            },
            started_ns: now_ns(),
        };
        let mut pushing = target.clone();
        #[expect(
            clippy::disallowed_methods,
            reason = "outlives every task group: the last figures are pushed after all has stopped"
        )]
        let running = tokio::spawn(async move {
            LOGGING.notified().await;
            loop {
                // First of all, so that a collector that cannot be reached is told of now.
                pushing.push().await;
                clock::sleep(every).await;
            }
        });
        Self { target, running }
    }

    /// Stops the loop, and pushes once more.
    pub(super) async fn push_last(mut self) {
        self.running.abort();
        self.target.push().await;
    }
}

impl Target {
    async fn push(&mut self) {
        let request = request(gather(), self.resource.clone(), self.started_ns, now_ns());
        // Counters are cumulative: what was missed is in the next push.
        match self.sender.send(request).await {
            Ok(()) if self.is_failing => {
                tracing::info!("Telemetry reaches its collector again");
                self.is_failing = false;
            }
            Ok(()) => {}
            Err(error) => {
                let cause = ErrorChain(error.as_ref()).to_string();
                let advice = advice(&cause, "telemetry").map(|advice| format!("; {advice}"));
                let advice = advice.unwrap_or_default();
                if self.is_failing {
                    tracing::debug!(
                        cause,
                        "Telemetry does not reach its collector: {cause}{advice}"
                    );
                } else {
                    tracing::warn!(
                        cause,
                        "Telemetry does not reach its collector, `telemetry.otlp_endpoint`: {cause}{advice}"
                    );
                }
                self.is_failing = true;
            }
        }
    }
}

fn request(
    families: Vec<MetricFamily>,
    resource: ProtoResource,
    started_ns: u64,
    now_ns: u64,
) -> ExportMetricsServiceRequest {
    let metrics =
        families.iter().filter_map(|family| translated(family, started_ns, now_ns)).collect();
    let scope = InstrumentationScope { name: "berth".to_owned(), ..Default::default() };
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource),
            scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics, ..Default::default() }],
            ..Default::default()
        }],
    }
}

fn translated(family: &MetricFamily, started_ns: u64, now_ns: u64) -> Option<Metric> {
    let times = (started_ns, now_ns);
    let temporality = AggregationTemporality::Cumulative.into();
    let all = family.get_metric();
    let data = match family.get_field_type() {
        MetricType::COUNTER => metric::Data::Sum(Sum {
            data_points: all
                .iter()
                .map(|m| number(m.get_label(), m.get_counter().get_value(), times))
                .collect(),
            aggregation_temporality: temporality,
            is_monotonic: true,
        }),
        MetricType::GAUGE => metric::Data::Gauge(Gauge {
            data_points: all
                .iter()
                .map(|m| number(m.get_label(), m.get_gauge().get_value(), times))
                .collect(),
        }),
        MetricType::HISTOGRAM => metric::Data::Histogram(Histogram {
            data_points: all
                .iter()
                .map(|m| histogram(m.get_label(), m.get_histogram(), times))
                .collect(),
            aggregation_temporality: temporality,
        }),
        // None of ours.
        MetricType::SUMMARY | MetricType::UNTYPED => return None,
    };
    Some(Metric {
        name: family.name().to_owned(),
        description: family.help().to_owned(),
        data: Some(data),
        ..Default::default()
    })
}

fn number(labels: &[LabelPair], value: f64, (started_ns, now_ns): (u64, u64)) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: started_ns,
        time_unix_nano: now_ns,
        value: Some(number_data_point::Value::AsDouble(value)),
        ..Default::default()
    }
}

/// Prometheus counts each bucket with all below it; OTLP counts each by itself, and has one more for what is above all.
fn histogram(
    labels: &[LabelPair],
    histogram: &prometheus::proto::Histogram,
    (started_ns, now_ns): (u64, u64),
) -> HistogramDataPoint {
    let finite: Vec<_> =
        histogram.get_bucket().iter().filter(|bucket| bucket.upper_bound().is_finite()).collect();
    let (mut bucket_counts, mut below) = (Vec::with_capacity(finite.len() + 1), 0);
    for bucket in &finite {
        bucket_counts.push(bucket.cumulative_count().saturating_sub(below));
        below = bucket.cumulative_count();
    }
    bucket_counts.push(histogram.get_sample_count().saturating_sub(below));
    HistogramDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: started_ns,
        time_unix_nano: now_ns,
        count: histogram.get_sample_count(),
        sum: Some(histogram.get_sample_sum()),
        bucket_counts,
        explicit_bounds: finite.iter().map(|bucket| bucket.upper_bound()).collect(),
        ..Default::default()
    }
}

fn attributes(labels: &[LabelPair]) -> Vec<KeyValue> {
    labels.iter().map(|label| text(label.name(), label.value().to_owned())).collect()
}

fn text(key: &str, value: String) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(any_value::Value::StringValue(value)) }),
        ..Default::default()
    }
}

fn now_ns() -> u64 {
    clock::wall().timestamp_nanos_opt().map_or(0, i64::unsigned_abs)
}
