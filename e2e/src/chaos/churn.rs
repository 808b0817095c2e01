//! Minutes of coming and going: tasks, schedules, executors and keys are made and removed, and nothing may grow.
//!
//! No fault but what deploys do: executors are asked to end and start again. Looked at every few seconds; the last fifth (at most two
//! minutes) against the first, after a warm-up.

use super::churn_report::{ChurnReport, Made, warm_up};
use super::plan::queue_type;
use super::rig::Rig;
use super::run::Progress;
use super::sample::{Sample, sample};
use crate::promise::{Promise, Violation};
use crate::{Customer, Mix, Oracle, Role};
use anyhow::{Context, ensure};
use runtime::clock::{self, Instant};
use serde_json::json;
use std::time::Duration;
use testkit::ledger::Ledger;

const LENGTH: Duration = Duration::from_secs(600);
const BETWEEN_SAMPLES: Duration = Duration::from_secs(5);
const TASKS_PER_SECOND: usize = 50;
const MIX: Mix = Mix { commands: 2, fail_once_percent: 25, work: Duration::from_millis(20) };
const OURS: &str = "h.tenant_id in (select t.id from tenant t where t.name = 'churner')
    and not exists (select from schedule_fire f where f.task_id = h.id)";

/// Lets things come and go for so long.
pub async fn churn(
    length: Option<Duration>,
    seed: u64,
    tell: Progress<'_>,
) -> anyhow::Result<ChurnReport> {
    let length = length.unwrap_or(LENGTH);
    let counted_from = warm_up(length);
    tell(&format!("churn for {length:?}; starting engines and processes"));
    let mut rig = Rig::start(queue_type(seed)).await?;
    let customer =
        Customer::sign_up_with(&rig.cluster, "churner", &["read", "submit", "approve", "admin"])
            .await?;
    let ledger = Ledger::at(rig.cluster.folder().join("ledger"));
    let count = TASKS_PER_SECOND * usize::try_from((length + counted_from).as_secs())?;
    let began = clock::monotonic();
    let until = began + counted_from + length;
    let mut samples = Vec::new();
    let (submitted, schedules, keys, executors) = tokio::try_join!(
        MIX.submit(&customer, &ledger, (count, 10), length + counted_from),
        schedules(&customer, until),
        keys(&customer, until),
        executors(&mut rig, (began, counted_from, until), &mut samples, tell),
    )?;
    let oracle = Oracle::of(&rig.cluster).only(OURS);
    let delete = oracle.rows("select name from schedule where deleted_at is null").await?;
    for name in delete.iter().flatten() {
        customer.call("DELETE", &format!("/v1/schedules/{name}"), None, None).await?;
    }
    oracle.drained(Duration::from_secs(60)).await?;
    Oracle::of(&rig.cluster).drained(Duration::from_secs(60)).await?;
    tell("judging");
    let mut violations = oracle.broken(&submitted, &ledger).await?;
    let complaints = std::mem::take(&mut rig.complaints);
    violations.extend(Violation::each(Promise::Resumes, complaints));
    let made = Made { tasks: submitted.all.len(), schedules, keys, executors };
    Ok(ChurnReport { seed, length, samples, violations, made })
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
    (began, counted_from, until): (Instant, Duration, Instant),
    samples: &mut Vec<Sample>,
    tell: Progress<'_>,
) -> anyhow::Result<usize> {
    let places = rig.cluster.of(Role::Executor);
    let (mut ended, mut looks) = (0, 0_usize);
    while clock::monotonic() < until {
        let next = clock::monotonic() + BETWEEN_SAMPLES;
        if began.elapsed() >= counted_from {
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
