//! Telemetry reaches a collector; without one nothing suffers.

use domain::time::Timestamp;
use runtime::config::{LogFormat, TelemetryConfig};
use runtime::otlp::{self, Kind, SpanRecord};
use runtime::trace::TraceContext;
use runtime::{clock, metrics, telemetry};
use std::time::Duration;
use testkit::collector::Collector;

fn config(endpoint: &str) -> TelemetryConfig {
    TelemetryConfig {
        log: "info".to_owned(),
        format: LogFormat::Text,
        log_queue_bytes: 1 << 20,
        otlp_endpoint: endpoint.to_owned(),
        otlp_headers: "authorization=Bearer of the test, x-other=1".to_owned().into(),
        otlp_metrics_interval: Duration::from_secs(600),
    }
}

fn span(name: &'static str, context: TraceContext, parent: Option<TraceContext>) -> SpanRecord {
    let end = clock::wall();
    let start = end - Duration::from_millis(5);
    let attributes = vec![("task.id", "task_1".to_owned())];
    SpanRecord { name, context, parent, kind: Kind::Internal, start, end, attributes, error: None }
}

fn nanos(time: Timestamp) -> u64 {
    time.timestamp_nanos_opt().map_or(0, i64::unsigned_abs)
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_lines_and_metrics_reach_a_collector_at_the_latest_with_the_end() {
    let collector = Collector::start().await.unwrap();
    telemetry::init("test", &config(&collector.endpoint())).unwrap();
    assert!(otlp::is_on());
    let root = TraceContext::generate();
    let child = span("task.run", root.child(), Some(root));
    otlp::record(span("task.submit", root, None));
    otlp::record(child.clone());
    let unsampled: TraceContext =
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00".parse().unwrap();
    otlp::record(span("task.list", unsampled, None));
    tracing::info!("A line for the collector");
    metrics::counter("berth_otlp_test_total", "Of a test", &["kind"]).with(&["a"]).inc_by(3);
    let seconds = metrics::histogram("berth_otlp_test_seconds", "Of a test", &[]);
    for value in [0.000_05, 0.3, 99.0] {
        seconds.with(&[]).observe(value);
    }
    otlp::flush().await;

    let received = collector.received();
    let names: Vec<_> = received.spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["task.submit", "task.run"], "an unsampled trace is not exported");
    let (first, second) = (&received.spans[0], &received.spans[1]);
    assert_eq!(first.service, "berth-test");
    assert_eq!(
        (&first.trace, &first.id, first.parent.as_str()),
        (&root.trace_id(), &root.span_id(), "")
    );
    assert_eq!((&second.trace, &second.parent), (&first.trace, &first.id));
    assert_eq!((second.start_ns, second.end_ns), (nanos(child.start), nanos(child.end)));
    assert!(received.lines.iter().any(|(_, line)| line == "A line for the collector"));
    assert!(received.authorizations.iter().all(|value| value == "Bearer of the test"));
    assert!(received.authorizations.len() >= 3, "spans, lines and metrics bear the header");
    let of_name = |name: &str| {
        let found = received.metrics.iter().find(|(_, metric)| metric.name == name);
        format!("{:?}", found.unwrap_or_else(|| panic!("no {name}")).1.data)
    };
    let counter = of_name("berth_otlp_test_total");
    assert!(
        counter.contains("AsDouble(3.0)") && counter.contains("is_monotonic: true"),
        "{counter}"
    );
    let histogram = of_name("berth_otlp_test_seconds");
    assert!(histogram.contains("count: 3"), "{histogram}");
    assert!(
        histogram.contains("bucket_counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]"),
        "{histogram}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_down_stops_nothing() {
    telemetry::init("test", &config("http://127.0.0.1:9")).unwrap();
    for _ in 0..10_000 {
        otlp::record(span("task.submit", TraceContext::generate(), None));
    }
    let began = clock::monotonic();
    otlp::flush().await;
    assert!(began.elapsed() < Duration::from_secs(15), "the end took {:?}", began.elapsed());
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_refused_without_showing_a_secret() {
    let endpoint = telemetry::init("test", &config("http://not an address")).unwrap_err();
    assert!(endpoint.to_string().contains("telemetry.otlp_endpoint"), "{endpoint}");
    let mut config = config("http://127.0.0.1:4317");
    config.otlp_headers = "no-equals-sign-but-a-secret".to_owned().into();
    let headers = telemetry::init("test", &config).unwrap_err().to_string();
    assert!(headers.contains("telemetry.otlp_headers") && !headers.contains("secret"), "{headers}");
}
