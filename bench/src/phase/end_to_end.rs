//! Single submits with running executors.

use super::body;
use crate::http::closed_loop;
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::percentile;
use runtime::clock;
use std::time::Duration;

/// Submits for `length`, then lets the rest end.
pub async fn end_to_end(length: Duration, connections: u16) -> anyhow::Result<Vec<Measured>> {
    let mut rig = Rig::start(1).await?;
    let mut connections = rig.connections(connections.into()).await?;
    let meter = rig.meter().await?;
    let before = meter.read();
    let until = Some(clock::monotonic() + length);
    let done =
        closed_loop(&mut connections, "/v1/tasks", &body::task(), 201, (until, u64::MAX)).await?;
    rig.drained(Duration::from_secs(120)).await?;
    let cpu = meter.since(&before, done.requests);
    rig.ended_well(done.requests).await?;
    // From the first submit to the last end, by one clock.
    let span = rig
        .numbers(
            "select extract(epoch from (select max(ended_at) from attempt) - min(created_at)),
                extract(epoch from (select max(ended_at) from attempt) - max(created_at)) from task_spec",
        )
        .await?;
    let latency = |share| percentile(&done.latencies_ms, share).unwrap_or_default();
    Ok(vec![
        Measured::new("end_to_end_per_s", done.requests as f64 / span[0].max(1e-3))
            .with_cpu(cpu)
            .with("submitted_per_s", done.requests as f64 / done.elapsed.as_secs_f64())
            .with("last_end_after_last_submit_s", span[1])
            .with("answer_p50_ms", latency(0.5))
            .with("answer_p99_ms", latency(0.99)),
    ])
}
