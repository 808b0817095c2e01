//! At a fixed rate, whatever the answers do: a slow answer delays no other request and hides none.

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
    /// The id it was answered with.
    pub task: String,
    /// When it was meant to be sent, by this machine's clock.
    pub intended: Timestamp,
    /// How much later it was sent: this program's own delay.
    pub late_ms: f64,
    /// From the intended time to the answer.
    pub answered_ms: f64,
}

/// Between two moments at which anything is sent.
const GRAIN: Duration = Duration::from_micros(250);

#[derive(Deserialize)]
struct Answer {
    id: String,
}

/// Submits `count` tasks, one every `every`. The connections take turns; there should be enough of them that one is free.
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
    let (tell, told) = mpsc::unbounded_channel();
    let numbers = Mutex::new(told);
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
                let answer: Answer =
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
        pace(tell, start, every, count).await;
        anyhow::Ok(())
    };
    let (sent, ()) = futures::try_join!(all, pace)?;
    Ok(sent.concat())
}

/// Tells when each is to be sent, those of one [`GRAIN`] together: woken for each, the generator took a third more of the
/// processors that it shares with what it measures (36 microseconds a task, not 27). It counts as their delay.
async fn pace(tell: UnboundedSender<u32>, start: Instant, every: Duration, count: u32) {
    let timer = FineTimer::new();
    let (mut number, mut until) = (0, start);
    while number < count {
        timer.until((start + every * number).max(until + GRAIN)).await;
        until = clock::monotonic();
        while number < count && start + every * number <= until {
            if tell.send(number).is_err() {
                return;
            }
            number += 1;
        }
    }
}
