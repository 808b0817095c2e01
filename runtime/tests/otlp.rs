//! Telemetry reaches a collector; without one nothing suffers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail this way")]

use domain::time::Timestamp;
use runtime::config::{LogFormat, OtlpProtocol, TelemetryConfig};
use runtime::otlp::{self, Kind, SpanRecord};
use runtime::trace::TraceContext;
use runtime::{clock, log_trace, metrics, telemetry};
use std::fs;
use std::io::Write;
use std::time::Duration;
use tempfile::NamedTempFile;
use testkit::authority::Authority;
use testkit::collector::Collector;
use testkit::poll;

const SOON: Duration = Duration::from_secs(10);

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn config(endpoint: &str) -> TelemetryConfig {
    TelemetryConfig {
        log: "info".to_owned(),
        format: LogFormat::Text,
        log_queue_bytes: 1 << 20,
        otlp_endpoint: endpoint.to_owned(),
        otlp_protocol: OtlpProtocol::Grpc,
        otlp_ca_file: String::new(),
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
    all_reaches(&collector, config(&collector.endpoint())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn they_reach_it_over_http_too() {
    let collector = Collector::start_http(None).await.unwrap();
    let otlp_protocol = OtlpProtocol::Http;
    // As people write it.
    let endpoint = format!("{}/", collector.endpoint());
    all_reaches(&collector, TelemetryConfig { otlp_protocol, ..config(&endpoint) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn they_reach_a_collector_whose_certificate_a_private_ca_has_signed() {
    let authority = Authority::new("a private CA").unwrap();
    let collector = Collector::start_secret(&authority.issue("collector").unwrap()).await.unwrap();
    let ca = file(&authority.certificate);
    let otlp_ca_file = ca.path().to_string_lossy().into_owned();
    let config = TelemetryConfig { otlp_ca_file, ..config(&collector.endpoint()) };
    all_reaches(&collector, config).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn and_over_http_one_whose_certificate_a_private_ca_has_signed() {
    let authority = Authority::new("a private CA").unwrap();
    let identity = authority.issue("collector").unwrap();
    let collector = Collector::start_http(Some(&identity)).await.unwrap();
    let ca = file(&authority.certificate);
    let otlp_ca_file = ca.path().to_string_lossy().into_owned();
    let otlp_protocol = OtlpProtocol::Http;
    let config = TelemetryConfig { otlp_ca_file, otlp_protocol, ..config(&collector.endpoint()) };
    all_reaches(&collector, config).await;
}

async fn all_reaches(collector: &Collector, config: TelemetryConfig) {
    telemetry::init("test", &config).unwrap();
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

/// Its log, once a line holds `words`.
async fn logged(log: &NamedTempFile, words: &str) -> String {
    let read = || async {
        let text = fs::read_to_string(log.path()).unwrap();
        text.lines().find(|line| line.contains(words)).map(str::to_owned)
    };
    poll::until_some(words, SOON, read).await.unwrap()
}

async fn a_collector_of_another_ca_is_named_with_the_setting(otlp_protocol: OtlpProtocol) {
    let identity = Authority::new("a private CA").unwrap().issue("collector").unwrap();
    let collector = match otlp_protocol {
        OtlpProtocol::Grpc => Collector::start_secret(&identity).await.unwrap(),
        OtlpProtocol::Http => Collector::start_http(Some(&identity)).await.unwrap(),
    };
    let other = file(&Authority::new("another CA").unwrap().certificate);
    let otlp_ca_file = other.path().to_string_lossy().into_owned();
    let config = TelemetryConfig { otlp_ca_file, otlp_protocol, ..config(&collector.endpoint()) };
    let log = NamedTempFile::new().unwrap();
    telemetry::init_in("test", &config, log.reopen().unwrap()).unwrap();
    let line = logged(&log, "does not reach its collector").await;
    for words in ["WARN", "UnknownIssuer", "`telemetry.otlp_ca_file`"] {
        assert!(line.contains(words), "no {words} in {line}");
    }
    assert!(collector.received().exports.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_of_another_ca_is_named_with_the_setting_over_grpc() {
    a_collector_of_another_ca_is_named_with_the_setting(OtlpProtocol::Grpc).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_of_another_ca_is_named_with_the_setting_over_http() {
    a_collector_of_another_ca_is_named_with_the_setting(OtlpProtocol::Http).await;
}

#[tokio::test]
async fn a_ca_file_that_cannot_be_used_ends_the_start_and_is_named() {
    let text = file("no certificate");
    let path = text.path().to_string_lossy().into_owned();
    for (path, why) in [("/no/such/file.pem", "cannot be read"), (&path, "holds no certificate")] {
        for otlp_protocol in [OtlpProtocol::Grpc, OtlpProtocol::Http] {
            let otlp_ca_file = path.to_owned();
            let config = config("https://127.0.0.1:4317");
            let config = TelemetryConfig { otlp_ca_file, otlp_protocol, ..config };
            let error = telemetry::init("test", &config).unwrap_err().to_string();
            for words in ["`telemetry.otlp_ca_file`", path, why] {
                assert!(error.contains(words), "no {words} in {error}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_records_carry_their_time_and_the_trace_they_were_logged_in() {
    let collector = Collector::start().await.unwrap();
    let config = TelemetryConfig { format: LogFormat::Json, ..config(&collector.endpoint()) };
    let log = NamedTempFile::new().unwrap();
    telemetry::init_in("test", &config, log.reopen().unwrap()).unwrap();
    let trace = TraceContext::generate();
    let span = tracing::info_span!("request");
    log_trace::tag(&span, trace);
    let before = nanos(clock::wall());
    span.in_scope(|| {
        tracing::info_span!("within").in_scope(|| tracing::info!("A line of the trace"));
    });
    let after = nanos(clock::wall());
    tracing::info!("A line of none");
    otlp::flush().await;

    let records = collector.received().records;
    let of = |body: &str| records.iter().find(|record| record.body == body).unwrap();
    let traced = of("A line of the trace");
    assert_eq!((&traced.trace, &traced.span), (&trace.trace_id(), &trace.span_id()));
    assert!((before..=after).contains(&traced.time_ns), "{traced:?}");
    let other = of("A line of none");
    assert_eq!((other.trace.as_str(), other.span.as_str()), ("", ""));
    assert!(other.time_ns >= after, "{other:?}");
    // The same in the log itself, as JSON that can be read.
    let ids = |line: String| {
        let of = |key: &str| {
            let rest = line.split_once(&format!("\"{key}\":\""))?.1;
            Some(rest.split_once('"')?.0.to_owned())
        };
        assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
        (of("trace_id"), of("span_id"))
    };
    let known = (Some(trace.trace_id()), Some(trace.span_id()));
    assert_eq!(ids(logged(&log, "A line of the trace").await), known);
    assert_eq!(ids(logged(&log, "A line of none").await), (None, None));
}
