//! The roots of the machine are trusted where no setting names a CA. This program runs itself again, as the variable that names them
//! is read once.

#![expect(clippy::unwrap_used, reason = "a test may fail this way")]

use runtime::config::{LogFormat, OtlpProtocol, TelemetryConfig, variable};
use runtime::otlp::{self, Kind, SpanRecord};
use runtime::trace::TraceContext;
use runtime::{clock, telemetry};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use testkit::authority::Authority;
use testkit::collector::Collector;

const ENDPOINT: &str = "BERTH_TEST_ENDPOINT";

/// One span to the collector at `endpoint`.
async fn send(endpoint: String) {
    let config = TelemetryConfig {
        log: "info".to_owned(),
        format: LogFormat::Text,
        log_queue_bytes: 1 << 20,
        otlp_endpoint: endpoint,
        otlp_protocol: OtlpProtocol::Grpc,
        otlp_ca_file: String::new(),
        otlp_headers: String::new().into(),
        otlp_metrics_interval: Duration::from_secs(600),
    };
    telemetry::init("test", &config).unwrap();
    let (context, end) = (TraceContext::generate(), clock::wall());
    otlp::record(SpanRecord {
        name: "task.run",
        context,
        parent: None,
        kind: Kind::Internal,
        start: end,
        end,
        attributes: Vec::new(),
        error: None,
    });
    otlp::flush().await;
}

/// The spans that reach `collector` from a process whose machine has the roots in `roots`.
async fn reached(collector: &Collector, roots: &Path) -> usize {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args([
            "--exact",
            "a_collector_is_reached_whose_certificate_a_root_of_the_machine_has_signed",
        ])
        .env(ENDPOINT, collector.endpoint())
        .env("SSL_CERT_FILE", roots)
        .env_remove("SSL_CERT_DIR");
    let before = collector.received().spans.len();
    let status = tokio::task::spawn_blocking(move || again.status().unwrap()).await.unwrap();
    assert!(status.success());
    collector.received().spans.len() - before
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_is_reached_whose_certificate_a_root_of_the_machine_has_signed() {
    if let Some(endpoint) = variable(ENDPOINT) {
        return send(endpoint).await;
    }
    let authority = Authority::new("a private CA").unwrap();
    let collector = Collector::start_secret(&authority.issue("collector").unwrap()).await.unwrap();
    let file = |text: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    };
    let own = file(&authority.certificate);
    assert_eq!(reached(&collector, own.path()).await, 1);
    let other = file(&Authority::new("another CA").unwrap().certificate);
    assert_eq!(reached(&collector, other.path()).await, 0);
}
