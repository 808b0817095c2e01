//! How tasks follow one another: from the first start to the last, and the gaps between starts.
//!
//! Used by tests of a small executor, in which each task waits for the room of another. The rule: times are those of the API, so that
//! this works with any profile.

use crate::Customer;
use anyhow::{Context, ensure};
use domain::time::Timestamp;
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;

/// The longest that the tasks may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Between the starts of tasks of no length that wait for nothing but room, on a loaded machine.
const MOST_GAP: Duration = Duration::from_millis(100);

/// How tasks followed one another.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// From the first start to the last.
    pub whole: Duration,
    /// 95 of 100 gaps between one start and the next are no longer.
    pub p95_gap: Duration,
}

impl Pace {
    /// Fails where mixed sizes, which a small executor must fit beside one another, are slower than a size that it can hold a whole
    /// number of. The executor has 2000 millicores.
    pub async fn of_sizes_that_do_not_divide_it(customer: &Customer) -> anyhow::Result<()> {
        const COUNT: usize = 300;
        let whole = Self::of(customer, &[500], COUNT).await?;
        eprintln!("one size: {whole:?}");
        // On a machine that is busy with other things, no more than as many times longer.
        let most_gap = MOST_GAP.max(whole.p95_gap * 3);
        let most = whole.whole * 5 + Duration::from_secs(2);
        for sizes in [&[501][..], &[500, 501], &[250, 1001, 750], &[499, 1499]] {
            let pace = Self::of(customer, sizes, COUNT).await?;
            eprintln!("{sizes:?}: {pace:?}");
            ensure!(pace.p95_gap <= most_gap, "{sizes:?} wait between two starts: {pace:?}");
            // Fewer of them run at once.
            ensure!(pace.whole <= most, "{sizes:?} are slow: {pace:?}, and one size {whole:?}");
        }
        Ok(())
    }

    /// Runs `count` tasks of no length, whose `cpu_millis` are those of `sizes` in turn.
    pub async fn of(customer: &Customer, sizes: &[u32], count: usize) -> anyhow::Result<Self> {
        let task = |cpu_millis: &u32| json!({ "run": { "noop": { "sleep": "0s" } }, "resources": { "cpu_millis": cpu_millis, "memory_mib": 1 } });
        let tasks: Vec<Value> = sizes.iter().cycle().take(count).map(task).collect();
        let key = sizes.iter().fold("pace".to_owned(), |key, size| format!("{key}-{size}"));
        let ids = customer.submit_batch(&tasks, &key).await?;
        let until = clock::monotonic() + LIMIT;
        let mut starts = Vec::new();
        for id in &ids {
            loop {
                let task = customer.get(id).await?;
                if !task["finished_at"].is_null() {
                    ensure!(task["state"] == "succeeded", "{task}");
                    starts.push(start_of(&task)?);
                    break;
                }
                ensure!(clock::monotonic() < until, "after {LIMIT:?} {id} has not ended: {task}");
                clock::sleep(Duration::from_millis(50)).await;
            }
        }
        starts.sort_unstable();
        let mut gaps: Vec<Duration> = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).to_std().unwrap_or_default())
            .collect();
        gaps.sort_unstable();
        let whole = gaps.iter().sum();
        let p95_gap = gaps.get(gaps.len() * 95 / 100).copied().context("too few tasks")?;
        Ok(Self { whole, p95_gap })
    }
}

fn start_of(task: &Value) -> anyhow::Result<Timestamp> {
    let text = task["started_at"].as_str().with_context(|| format!("no start: {task}"))?;
    Ok(text.parse()?)
}
