//! A steady stream of single submits, each answer noted: what a customer sees while something fails.
//!
//! The rule: it goes on at its pace whatever the answers are. What was not taken is asked for again under the same key, so that
//! in the end every task is known; that it was not taken at first is kept.

use crate::{Customer, Submitted};
use anyhow::Context;
use futures::future::join_all;
use runtime::clock::{self, Instant};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Requests under way at once, at most.
const WORKERS: usize = 32;

/// How fast, and what.
#[derive(Debug, Clone)]
pub struct Steady {
    /// Tasks a second.
    pub per_second: u32,
    /// Each of them.
    pub task: Value,
}

/// One first answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// When it was asked for, from the beginning.
    pub at: Duration,
    /// How long it took.
    pub took: Duration,
    /// What was wrong with it; none where the task was taken.
    pub fault: Option<String>,
}

/// All answers.
#[derive(Debug, Clone)]
pub struct Seen {
    /// When the first was asked for.
    pub began: Instant,
    /// In the order in which they were asked for.
    pub answers: Vec<Answer>,
    /// What was taken, at once or later.
    pub submitted: Submitted,
}

impl Steady {
    /// Submits while `work` goes on; gives its answer and those that came.
    pub async fn during<T>(
        &self,
        customer: &Customer,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<(T, Seen)> {
        let (began, stop, next) = (clock::monotonic(), AtomicBool::new(false), AtomicUsize::new(0));
        let workers = (0..WORKERS).map(|_| self.worker(customer, began, (&stop, &next)));
        let work = async {
            let done = work.await;
            stop.store(true, Ordering::Relaxed);
            done
        };
        let (done, taken) = tokio::join!(work, join_all(workers));
        let mut seen = Seen { began, answers: Vec::new(), submitted: Submitted::default() };
        for taken in taken {
            let (answers, ids) = taken?;
            seen.answers.extend(answers);
            seen.submitted.all.extend(ids);
        }
        seen.answers.sort_by_key(|answer| answer.at);
        Ok((done?, seen))
    }

    async fn worker(
        &self,
        customer: &Customer,
        began: Instant,
        (stop, next): (&AtomicBool, &AtomicUsize),
    ) -> anyhow::Result<(Vec<Answer>, Vec<String>)> {
        let (mut answers, mut ids) = (Vec::new(), Vec::new());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            clock::sleep_until(
                began + Duration::from_secs_f64(number as f64 / f64::from(self.per_second)),
            )
            .await;
            if stop.load(Ordering::Relaxed) {
                return Ok((answers, ids));
            }
            let (key, asked) = (format!("steady-{number}"), clock::monotonic());
            let answer = customer.call("POST", "/v1/tasks", Some(&self.task), Some(&key)).await;
            let took = asked.elapsed();
            let (fault, id) = match answer {
                Ok((201, task)) => (None, task["id"].as_str().map(str::to_owned)),
                Ok((status, problem)) => (Some(format!("{status}: {problem}")), None),
                Err(error) => (Some(format!("{error:#}")), None),
            };
            answers.push(Answer { at: asked - began, took, fault });
            ids.push(match id {
                Some(id) => id,
                None => customer.submit_until_answered(&self.task, &key).await?,
            });
        }
    }
}

impl Seen {
    /// What was not taken at first.
    pub fn faults(&self) -> Vec<&str> {
        self.answers.iter().filter_map(|answer| answer.fault.as_deref()).collect()
    }

    /// The time within which 99 of 100 answers came that were asked for between `from` and `to`.
    ///
    /// # Errors
    /// When there were fewer than 20.
    pub fn p99(&self, from: Instant, to: Instant) -> anyhow::Result<Duration> {
        let within = |answer: &&Answer| (from..to).contains(&(self.began + answer.at));
        let mut times: Vec<Duration> = self.answers.iter().filter(within).map(|a| a.took).collect();
        anyhow::ensure!(times.len() >= 20, "only {} answers to judge by", times.len());
        times.sort_unstable();
        times.get((times.len() * 99).div_ceil(100) - 1).copied().context("no time")
    }
}
