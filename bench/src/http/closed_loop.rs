//! Closed loop: each connection sends its next request after the response to the last.

use super::Connection;
use bytes::Bytes;
use futures::future::try_join_all;
use runtime::clock::{self, Instant};
use std::cell::Cell;
use std::time::Duration;

/// What was done.
#[derive(Debug, Clone)]
pub struct Done {
    /// Requests that were answered as expected; there were no others.
    pub requests: u64,
    /// From the first send to the last answer.
    pub elapsed: Duration,
    /// Of each request, in milliseconds.
    pub latencies_ms: Vec<f64>,
}

/// Sends `body` over and over: until `until`, and no more than `most` times.
pub async fn closed_loop(
    connections: &mut [Connection],
    path: &'static str,
    body: &Bytes,
    expected: u16,
    (until, most): (Option<Instant>, u64),
) -> anyhow::Result<Done> {
    let left = Cell::new(most);
    let began = clock::monotonic();
    let one = |connection| {
        let left = &left;
        async move {
            let connection: &mut Connection = connection;
            let mut latencies = Vec::new();
            while left.get() > 0 && until.is_none_or(|until| clock::monotonic() < until) {
                left.set(left.get() - 1);
                let sent = clock::monotonic();
                connection.post(path, body.clone(), expected).await?;
                latencies.push(sent.elapsed().as_secs_f64() * 1e3);
            }
            anyhow::Ok(latencies)
        }
    };
    let latencies_ms: Vec<f64> = try_join_all(connections.iter_mut().map(one)).await?.concat();
    Ok(Done { requests: latencies_ms.len() as u64, elapsed: began.elapsed(), latencies_ms })
}
