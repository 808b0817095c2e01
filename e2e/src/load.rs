//! Tasks to send through.

use crate::Customer;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::ledger::Ledger;

/// What a load is made of, out of ten tasks.
#[derive(Debug, Clone, Copy)]
pub struct Mix {
    /// Commands that write themselves into the ledger; the rest are noops.
    pub commands: usize,
    /// Of the commands of a hundred, those that fail on their first attempt.
    pub fail_once_percent: usize,
    /// How long a command works.
    pub work: Duration,
}

/// What was submitted and acknowledged.
#[derive(Debug, Clone, Default)]
pub struct Submitted {
    /// Every acknowledged id.
    pub all: Vec<String>,
    /// Those that write into the ledger.
    pub commands: Vec<String>,
}

impl Mix {
    /// Whether the task with this number is a command that fails on its first attempt.
    pub const fn fails_once(&self, number: usize) -> bool {
        number % 10 < self.commands && number / 10 * 37 % 100 < self.fail_once_percent
    }

    /// The task with this number.
    pub fn task(&self, number: usize, ledger: &Ledger) -> anyhow::Result<Value> {
        if number % 10 >= self.commands {
            return Ok(
                json!({ "run": { "noop": { "sleep": format!("{}ms", number % 7 * 10) } }, "max_attempts": 3 }),
            );
        }
        let stamp = ledger.command(self.work, 0)?;
        let fails = self.fails_once(number);
        // The ledger's command, then the exit code by attempt: the first of those that fail once fails.
        let script = if fails { r#""$@" && [ "$BERTH_ATTEMPT" -ge 2 ]"# } else { r#"exec "$@""# };
        let mut argv =
            vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned(), "sh".to_owned()];
        argv.extend(stamp);
        let cap = (self.work * 2).max(Duration::from_secs(60));
        Ok(json!({
            "name": if fails { "fails-once" } else { "works" },
            "run": { "command": { "argv": argv } },
            "execution_cap": format!("{}s", cap.as_secs()),
            "max_attempts": 3,
            "retry": { "backoff": "constant", "initial": "100ms", "jitter": false },
        }))
    }

    /// Submits `count` tasks in batches of `batch`, evenly over `over`.
    pub async fn submit(
        &self,
        customer: &Customer,
        ledger: &Ledger,
        (count, batch): (usize, usize),
        over: Duration,
    ) -> anyhow::Result<Submitted> {
        let began = runtime::clock::monotonic();
        let mut submitted = Submitted::default();
        let mut sent = 0;
        while sent < count {
            let upto = count.min(sent + batch);
            let tasks =
                (sent..upto).map(|n| self.task(n, ledger)).collect::<anyhow::Result<Vec<_>>>()?;
            let ids = customer.submit_batch(&tasks, &format!("batch-{sent}")).await?;
            anyhow::ensure!(
                ids.len() == tasks.len(),
                "{} answers to {} tasks",
                ids.len(),
                tasks.len()
            );
            for (number, id) in (sent..upto).zip(ids) {
                if number % 10 < self.commands {
                    submitted.commands.push(id.clone());
                }
                submitted.all.push(id);
            }
            sent = upto;
            runtime::clock::sleep_until(began + over.mul_f64(sent as f64 / count as f64)).await;
        }
        Ok(submitted)
    }
}
