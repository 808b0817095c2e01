//! Single submits over 32 connections, without an executor.

use super::body;
use crate::http::closed_loop;
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::percentile;
use runtime::clock;
use std::time::Duration;

pub(super) const CONNECTIONS: usize = 32;

/// For `length`.
pub async fn single_submit(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let mut rig = Rig::start(0).await?;
    let mut connections = rig.connections(CONNECTIONS).await?;
    let meter = rig.meter().await?;
    let before = meter.read();
    let until = Some(clock::monotonic() + length);
    let done =
        closed_loop(&mut connections, "/v1/tasks", &body::task(), 201, (until, u64::MAX)).await?;
    let cpu = meter.since(&before, done.requests);
    rig.stored_well(done.requests).await?;
    let latency = |share| percentile(&done.latencies_ms, share).unwrap_or_default();
    Ok(vec![
        Measured::new("single_submit_per_s", done.requests as f64 / done.elapsed.as_secs_f64())
            .with_cpu(cpu)
            .with("answer_p50_ms", latency(0.5))
            .with("answer_p99_ms", latency(0.99)),
    ])
}
