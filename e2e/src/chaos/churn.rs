//! Minutes of coming and going: tasks, schedules, executors and keys are made and removed, and nothing may grow.
//!
//! No fault but what deploys do: executors are asked to end and start again. Looked at every few seconds; the last fifth (at most two
//! minutes) against the first, after a warm-up.

use super::rig::Rig;
use super::run::Progress;
use super::sample::{FIGURES, Sample, sample};
use crate::promise::Violation;
use crate::{Customer, Mix, Oracle, Role, Submitted};
use anyhow::{Context, ensure};
use runtime::clock::{self, Instant};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::ledger::Ledger;

const LENGTH: Duration = Duration::from_secs(600);
/// Pools fill and plans are made before it is counted.
const WARM_UP: Duration = Duration::from_secs(20);
const BETWEEN_SAMPLES: Duration = Duration::from_secs(5);
const TASKS_PER_SECOND: usize = 50;
/// How much more the end may be than the beginning.
const FLAT: f64 = 1.1;
const MIX: Mix = Mix { commands: 2, fail_once_percent: 25, work: Duration::from_millis(20) };
const OURS: &str = "h.tenant_id in (select t.id from tenant t where t.name = 'churner')
    and not exists (select from schedule_fire f where f.task_id = h.id)";

/// What it came to.
pub struct ChurnReport {
    seed: u64,
    length: Duration,
    samples: Vec<Sample>,
    violations: Vec<Violation>,
    made: Made,
}

/// How much came and went.
#[derive(Debug, Default, Clone, Copy)]
struct Made {
    tasks: usize,
    schedules: usize,
    keys: usize,
    executors: usize,
}

/// Lets things come and go for so long.
pub async fn churn(
    length: Option<Duration>,
    seed: u64,
    tell: Progress<'_>,
) -> anyhow::Result<ChurnReport> {
    let length = length.unwrap_or(LENGTH);
    tell(&format!("churn for {length:?}; starting engines and processes"));
    let mut rig = Rig::start().await?;
    let customer =
        Customer::sign_up_with(&rig.cluster, "churner", &["read", "submit", "admin"]).await?;
    let ledger = Ledger::at(rig.cluster.folder().join("ledger"));
    let count = TASKS_PER_SECOND * usize::try_from((length + WARM_UP).as_secs())?;
    let began = clock::monotonic();
    let until = began + WARM_UP + length;
    let mut samples = Vec::new();
    let (submitted, schedules, keys, executors) = tokio::try_join!(
        MIX.submit(&customer, &ledger, (count, 10), length + WARM_UP),
        schedules(&customer, until),
        keys(&customer, until),
        executors(&mut rig, until, &mut samples, began, tell),
    )?;
    let oracle = Oracle::of(&rig.cluster).only(OURS);
    let delete = oracle.rows("select name from schedule").await?;
    for name in delete.iter().flatten() {
        customer.call("DELETE", &format!("/v1/schedules/{name}"), None, None).await?;
    }
    oracle.drained(Duration::from_secs(60)).await?;
    Oracle::of(&rig.cluster).drained(Duration::from_secs(60)).await?;
    tell("judging");
    let mut violations = oracle.broken(&submitted, &ledger).await?;
    let complaints = std::mem::take(&mut rig.complaints);
    violations.extend(Violation::each(crate::Promise::Resumes, complaints));
    let made = Made { tasks: made_of(&submitted), schedules, keys, executors };
    Ok(ChurnReport { seed, length, samples, violations, made })
}

fn made_of(submitted: &Submitted) -> usize {
    submitted.all.len()
}

/// Each second ten schedules that fire every second are put, and those of five seconds before are deleted.
async fn schedules(customer: &Customer, until: Instant) -> anyhow::Result<usize> {
    const AT_ONCE: usize = 10;
    const LIVES: usize = 5;
    let body = json!({
        "timing": { "specs": [{ "every": { "every": "1s" } }] },
        "task": { "run": { "noop": {} } },
    });
    let mut round = 0;
    while clock::monotonic() < until {
        let next = clock::monotonic() + Duration::from_secs(1);
        for n in 0..AT_ONCE {
            let path = format!("/v1/schedules/churn-{round}-{n}");
            let (status, answer) = customer.call("PUT", &path, Some(&body), None).await?;
            ensure!(matches!(status, 200 | 201), "PUT {path} answered {status}: {answer}");
        }
        if round >= LIVES {
            for n in 0..AT_ONCE {
                let path = format!("/v1/schedules/churn-{}-{n}", round - LIVES);
                let (status, answer) = customer.call("DELETE", &path, None, None).await?;
                ensure!(matches!(status, 200 | 204), "DELETE {path} answered {status}: {answer}");
            }
        }
        round += 1;
        clock::sleep_until(next).await;
    }
    Ok(round * AT_ONCE)
}

/// Twice a second a key is made, used and revoked.
async fn keys(customer: &Customer, until: Instant) -> anyhow::Result<usize> {
    let mut made = 0;
    while clock::monotonic() < until {
        let next = clock::monotonic() + Duration::from_millis(500);
        let body = json!({ "name": format!("churn-{made}"), "scopes": ["read"] });
        let (status, key) = customer.call("POST", "/v1/keys", Some(&body), None).await?;
        ensure!(status == 201, "POST /v1/keys answered {status}: {key}");
        let user = customer.other_key(key["key"].as_str().context("no key")?);
        let (status, answer) = user.call("GET", "/v1/tasks?limit=1", None, None).await?;
        ensure!(status == 200, "a new key was answered {status}: {answer}");
        let id = key["id"].as_str().context("no id")?;
        let (status, answer) =
            customer.call("DELETE", &format!("/v1/keys/{id}"), None, None).await?;
        ensure!(matches!(status, 200 | 204), "DELETE of a key answered {status}: {answer}");
        made += 1;
        clock::sleep_until(next).await;
    }
    Ok(made)
}

/// One executor after the other is asked to end and started again; between, samples are taken.
async fn executors(
    rig: &mut Rig,
    until: Instant,
    samples: &mut Vec<Sample>,
    began: Instant,
    tell: Progress<'_>,
) -> anyhow::Result<usize> {
    let places = rig.cluster.of(Role::Executor);
    let (mut ended, mut looks) = (0, 0_usize);
    while clock::monotonic() < until {
        let next = clock::monotonic() + BETWEEN_SAMPLES;
        if began.elapsed() >= WARM_UP {
            let sample = sample(rig, began.elapsed(), BETWEEN_SAMPLES).await?;
            tell(&sample.to_string());
            samples.push(sample);
        }
        if looks % 2 == 1 {
            let at = places[ended % places.len()];
            let process = rig.cluster.process(at)?;
            process.term()?;
            let status = process.wait(Duration::from_secs(40)).await?;
            if !status.success() {
                rig.complaints
                    .push(format!("an executor was asked to end, and ended with {status}"));
            }
            rig.cluster.launch(at)?;
            ended += 1;
        }
        looks += 1;
        rig.revive()?;
        clock::sleep_until(next).await;
    }
    Ok(ended)
}

impl ChurnReport {
    /// Each figure: its name, its mean in the first part, in the last, and whether that is flat.
    fn figures(&self) -> Vec<(&'static str, f64, f64, bool)> {
        let part = Duration::from_secs(120).min(self.length / 5);
        let last = self.samples.last().map_or(Duration::ZERO, |sample| sample.after);
        let mean = |name: usize, within: &dyn Fn(&Sample) -> bool| {
            let values: Vec<f64> =
                self.samples.iter().filter(|s| within(s)).map(|s| s.values[name]).collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        FIGURES
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let first = mean(at, &|sample| sample.after < WARM_UP + part);
                let end = mean(at, &|sample| sample.after + part > last);
                (*name, first, end, end <= first * FLAT)
            })
            .collect()
    }

    /// What does not hold, in sentences.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let grown =
            self.figures().into_iter().filter(|(.., flat)| !flat).map(|(name, first, last, _)| {
                format!("{name} went from {first:.1} to {last:.1}: more than {FLAT} of it")
            });
        grown.chain(self.violations.iter().map(ToString::to_string)).collect()
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing into a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let Made { tasks, schedules, keys, executors } = self.made;
        writeln!(out, "scenario churn, seed {}, {:?}", self.seed, self.length)?;
        writeln!(
            out,
            "made and gone: {tasks} tasks, {schedules} schedules, {keys} keys, {executors} executors\n"
        )?;
        writeln!(out, "{:<36} {:>10} {:>10} {:>7}", "", "first", "last", "ratio")?;
        for (name, first, last, flat) in self.figures() {
            let told = if flat { "" } else { "  NOT flat" };
            writeln!(
                out,
                "{name:<36} {first:>10.1} {last:>10.1} {:>7.2}{told}",
                last / first.max(f64::MIN_POSITIVE)
            )?;
        }
        for violation in &self.violations {
            writeln!(out, "{violation}")?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let counts = crate::by_promise(&self.violations);
        let violations: serde_json::Map<String, Value> =
            counts.iter().map(|(p, n)| (p.number().to_string(), json!(n))).collect();
        let figures: Vec<Value> = self
            .figures()
            .into_iter()
            .map(|(name, first, last, flat)| json!({"name": name, "first": first, "last": last, "flat": flat}))
            .collect();
        json!({
            "scenario": "churn", "seed": self.seed, "held": self.failures().is_empty(), "violations": violations,
            "failures": self.failures(), "figures": figures, "faults": [], "seconds": self.length.as_secs_f64(),
            "samples": self.samples.iter().map(Sample::json).collect::<Vec<_>>(),
        })
    }

    /// Writes the JSON to `path`, and the text beside it.
    pub fn write_to(&self, path: &Path) -> anyhow::Result<Vec<PathBuf>> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = path.with_extension("txt");
        std::fs::write(path, serde_json::to_vec_pretty(&self.json())?)?;
        std::fs::write(&text, self.text())?;
        Ok(vec![path.to_owned(), text])
    }
}
