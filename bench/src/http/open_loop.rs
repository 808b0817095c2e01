//! Open loop at a fixed rate: a slow response delays no other request.

use super::Connection;
use crate::fine_timer::FineTimer;
use anyhow::Context;
use bytes::Bytes;
use domain::time::Timestamp;
use futures::future::try_join_all;
use runtime::clock::{self, Instant};
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{self, UnboundedSender};

/// One submit.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The returned id.
    pub task: String,
    /// Intended time, by this machine's clock.
    pub intended: Timestamp,
    /// Delay of this program.
    pub late_ms: f64,
    /// From the intended time to the response.
    pub answered_ms: f64,
}

/// Interval of sends.
const GRAIN: Duration = Duration::from_micros(250);

#[derive(Deserialize)]
struct SubmitResponse {
    id: String,
}

/// Submits `count` tasks, one every `every`, over the connections in turn; one should always be free.
pub async fn open_loop(
    connections: &mut [Connection],
    body: &Bytes,
    every: Duration,
    count: u32,
) -> anyhow::Result<Vec<Sent>> {
    // Both clocks once, together: later steps of the wall clock do not matter.
    let (start, start_wall) = (
        clock::monotonic() + Duration::from_millis(100),
        clock::wall() + Duration::from_millis(100),
    );
    let (sender, receiver) = mpsc::unbounded_channel();
    let numbers = Mutex::new(receiver);
    let one = |connection| {
        let numbers = &numbers;
        async move {
            let connection: &mut Connection = connection;
            let mut sent = Vec::new();
            loop {
                let Some(number) = numbers.lock().await.recv().await else { break };
                let offset = every * number;
                let late = (clock::monotonic() - (start + offset)).as_secs_f64() * 1e3;
                let answer = connection.post("/v1/tasks", body.clone(), 201).await?;
                let answered = (clock::monotonic() - (start + offset)).as_secs_f64() * 1e3;
                let answer: SubmitResponse =
                    serde_json::from_slice(&answer).context("the answer to a submit")?;
                sent.push(Sent {
                    task: answer.id,
                    intended: start_wall + offset,
                    late_ms: late,
                    answered_ms: answered,
                });
            }
            anyhow::Ok(sent)
        }
    };
    let all = try_join_all(connections.iter_mut().map(one));
    let pace = async {
        pace(sender, start, every, count).await;
        anyhow::Ok(())
    };
    let (sent, ()) = futures::try_join!(all, pace)?;
    Ok(sent.concat())
}

/// Paces the sends, those of one [`GRAIN`] together: with one wake-up per send the generator used a third more cpu (36
/// microseconds per task, not 27). The difference counts as their delay.
async fn pace(sender: UnboundedSender<u32>, start: Instant, every: Duration, count: u32) {
    let timer = FineTimer::new();
    let (mut number, mut until) = (0, start);
    while number < count {
        timer.until((start + every * number).max(until + GRAIN)).await;
        until = clock::monotonic();
        while number < count && start + every * number <= until {
            if sender.send(number).is_err() {
                return;
            }
            number += 1;
        }
    }
}
