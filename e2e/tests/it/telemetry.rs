//! One task's trace, as a collector sees it: submit, queue, place, run, settle, from the processes that did each.

use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use runtime::clock;
use runtime::trace::TraceContext;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::collector::{Collector, Span};
use testkit::poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SOON: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_shows_submit_queue_placement_run_and_settlement() -> anyhow::Result<()> {
    let collector = Collector::start().await?;
    let shape = Shape::default()
        .set("BERTH_TELEMETRY__OTLP_ENDPOINT", collector.endpoint())
        .set("BERTH_TELEMETRY__OTLP_METRICS_INTERVAL", "1s")
        // It says of a request why it was refused.
        .set_for(Role::Api, "BERTH_TELEMETRY__LOG", "info,api=debug");
    let mut cluster = Cluster::start(shape).await?;
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
    a_line_of_a_submit_names_its_trace(&customer, &collector).await?;
    cluster
        .berth(&["admin", "pool", "set", "inner", "--private-targets", "on", "--everyone", "on"])
        .await?;
    cluster.set("BERTH_EXECUTOR__POOL", "inner");
    cluster.join(Role::Executor).await?;
    an_http_task_names_the_span_of_its_run(&mut cluster, &customer, &collector, false).await?;
    an_http_task_names_the_span_of_its_run(&mut cluster, &customer, &collector, true).await?;
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

/// What the api logs of a submit is found by the submit's trace, and names the span.
async fn a_line_of_a_submit_names_its_trace(
    customer: &Customer,
    collector: &Collector,
) -> anyhow::Result<()> {
    let (status, _) = customer.call("POST", "/v1/tasks", Some(&json!({})), None).await?;
    anyhow::ensure!(status == 422, "{status}");
    poll::until("a line of the submit", SOON, || async {
        let received = collector.received();
        let lines = received.lines.iter().zip(&received.records);
        let mut refusals = lines.filter(|((service, line), _)| {
            service == "berth-api" && line.starts_with("A request was refused with")
        });
        refusals.any(|(_, record)| {
            let is_its = |span: &Span| (&span.trace, &span.id) == (&record.trace, &record.span);
            received.spans.iter().any(|span| span.name == "task.submit" && is_its(span))
        })
    })
    .await
}

/// What the called server makes of the `traceparent` hangs below the span that is exported, also where the resource manager that
/// placed the attempt is killed meanwhile.
async fn an_http_task_names_the_span_of_its_run(
    cluster: &mut Cluster,
    customer: &Customer,
    collector: &Collector,
    kill: bool,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let task = json!({ "run": { "http": { "url": url } }, "pool": "inner" });
    // The api reads the list of pools now and then.
    poll::until("a pool that is known", SOON, || async {
        let answer = customer.call("POST", "/v1/tasks", Some(&task), None).await;
        matches!(answer, Ok((201, _)))
    })
    .await?;
    let (mut stream, _) = clock::timeout(SOON, listener.accept()).await??;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    if kill {
        let at = *cluster.of(Role::ResourceManager).first().context("no resource manager")?;
        cluster.kill9(at)?;
        cluster.launch(at)?;
        cluster.ready(at).await?;
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
    let header = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("traceparent: ").map(str::to_owned)
    });
    let named: TraceContext =
        header.ok_or_else(|| anyhow::anyhow!("no traceparent: {head}"))?.parse()?;
    let run = poll::until_some("the span of the run", SOON, || async {
        let spans = collector.received().spans;
        spans.into_iter().find(|span| span.id == named.span_id())
    })
    .await?;
    assert_eq!((run.name.as_str(), run.trace), ("task.run", named.trace_id()));
    Ok(())
}
