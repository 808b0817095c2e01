//! One task's trace, as a collector sees it: submit, queue, place, run, settle, from the processes that did each.

use e2e::{Cluster, Customer, Oracle, Shape};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::collector::{Collector, Span};
use testkit::poll;

const SOON: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_shows_submit_queue_placement_run_and_settlement() -> anyhow::Result<()> {
    let collector = Collector::start().await?;
    let shape = Shape::default()
        .set("BERTH_TELEMETRY__OTLP_ENDPOINT", collector.endpoint())
        .set("BERTH_TELEMETRY__OTLP_METRICS_INTERVAL", "1s");
    let cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let task = json!({ "run": { "noop": { "sleep": "50ms" } } });
    let (status, answer) = customer.call("POST", "/v1/tasks", Some(&task), None).await?;
    anyhow::ensure!(status == 201, "{status}: {answer}");
    Oracle::of(&cluster).drained(SOON).await?;

    let whole = |collector: &Collector| -> Option<BTreeMap<String, Span>> {
        let spans = collector.received().spans;
        let submit = spans.iter().find(|span| span.name == "task.submit")?;
        let own: BTreeMap<_, _> = spans
            .iter()
            .filter(|span| span.trace == submit.trace)
            .map(|span| (span.name.clone(), span.clone()))
            .collect();
        (own.len() == 5).then_some(own)
    };
    let trace = poll::until_some("the whole trace", SOON, || async { whole(&collector) }).await?;
    let of = |name: &str| trace.get(name).cloned().ok_or_else(|| anyhow::anyhow!("no {name}"));
    let submit = of("task.submit")?;
    assert_eq!(submit.service, "berth-api");
    let mut before = 0;
    for name in ["task.queue", "task.place", "task.run", "task.settle"] {
        let span = of(name)?;
        assert_eq!((span.service.as_str(), &span.parent), ("berth-resource-manager", &submit.id));
        assert!(span.end_ns >= before, "{name} ends before what comes before it");
        before = span.end_ns;
    }
    let run = of("task.run")?;
    let ran = Duration::from_nanos(run.end_ns - run.start_ns);
    assert!(ran >= Duration::from_millis(50) && ran < Duration::from_secs(5), "{ran:?}");
    let services = ["berth-api", "berth-scheduler", "berth-resource-manager", "berth-executor"];
    poll::until("metrics and lines of every role", SOON, || async {
        let received = collector.received();
        services.iter().all(|service| {
            received.metrics.iter().any(|(from, _)| from == service)
                && received.lines.iter().any(|(from, _)| from == service)
        })
    })
    .await?;
    Ok(())
}
