//! Holds what a customer is told it used against the attempts, one by one: the bill is their sum, to the last unit.

use crate::{Customer, Oracle};
use anyhow::Context;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::poll;

/// In the order of [`FIGURES`].
type Sums = [i64; 5];

/// Until all that ended is counted: five seconds, and as long as another test has a transaction open in the same Postgres.
const COUNTED: Duration = Duration::from_secs(30);

const FIGURES: [&str; 5] =
    ["attempts", "charged_attempts", "run_ms", "cpu_millis_ms", "memory_mib_ms"];

/// What is wrong with `GET /v1/usage` of this customer; and the tiers that were used, `none` for tasks that gave
/// resources instead.
pub async fn usage_faults(
    oracle: &Oracle<'_>,
    customer: &Customer,
) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let mut wanted: BTreeMap<(String, String), Sums> = BTreeMap::new();
    // The public part of a key is between its second and third underscore.
    let key = customer.key().split('_').nth(2).context("no key")?;
    let attempts = oracle
        .rows(&format!(
            "select to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD'), coalesce(tier::text, 'none'), charged::integer,
                usage_ms, cpu_millis, memory_mib
            from attempt where tenant_id = (select tenant_id from api_key where id = '{key}')"
        ))
        .await?;
    for attempt in attempts {
        let [day, tier, numbers @ ..] = attempt.as_slice() else {
            anyhow::bail!("{attempt:?} is no attempt");
        };
        let numbers = numbers.iter().map(|n| n.parse()).collect::<Result<Vec<i64>, _>>()?;
        let &[charged, ms, cpu, memory] = numbers.as_slice() else {
            anyhow::bail!("{attempt:?} is no attempt");
        };
        let sums = wanted.entry((day.clone(), tier.clone())).or_default();
        add(sums, [1, charged, ms, ms * cpu, ms * memory]);
    }
    let (Some(first), Some(last)) = (wanted.keys().next(), wanted.keys().next_back()) else {
        anyhow::bail!("there are no attempts: nothing to compare");
    };
    let path = format!("/v1/usage?from={}&to={}", first.0, last.0);
    let answer = async || {
        let (status, usage) = customer.call("GET", &path, None, None).await?;
        anyhow::ensure!(status == 200, "{path} answered {status}: {usage}");
        let mut billed: BTreeMap<(String, String), Sums> = BTreeMap::new();
        for row in usage["data"].as_array().context("no data")? {
            let day = row["day"].as_str().context("no day")?.to_owned();
            let tier = row["tier"].as_str().unwrap_or("none").to_owned();
            add(billed.entry((day, tier)).or_default(), figures(row)?);
        }
        Ok((billed, usage))
    };
    // It is counted after the end.
    let equal = async || answer().await.is_ok_and(|(billed, _)| billed == wanted);
    let mut faults = Vec::new();
    let is_counted = poll::until("usage to be counted", COUNTED, equal).await.is_ok();
    let (billed, usage) = answer().await?;
    if !is_counted && billed != wanted {
        faults.push(format!("usage is reported as {billed:?}, and the attempts say {wanted:?}"));
    }
    let mut total = Sums::default();
    wanted.values().for_each(|sums| add(&mut total, *sums));
    if figures(&usage["total"])? != total {
        faults.push(format!("the total is reported as {}, and is {total:?}", usage["total"]));
    }
    faults.extend(costs_fault(customer, (&first.0, &last.0), &wanted).await?);
    if total[2] == 0 {
        faults.push("nothing was billed at all".to_owned());
    }
    let mut tiers: Vec<String> = wanted.into_keys().map(|(_, tier)| tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    Ok((faults, tiers))
}

/// What is wrong with `GET /v1/costs`, which counts after the end, and is waited for.
async fn costs_fault(
    customer: &Customer,
    (first, last): (&str, &str),
    wanted: &BTreeMap<(String, String), Sums>,
) -> anyhow::Result<Option<String>> {
    let path = format!("/v1/costs?from={first}&to={last}");
    let counted = async || {
        let (status, costs) = customer.call("GET", &path, None, None).await?;
        anyhow::ensure!(status == 200, "{path} answered {status}: {costs}");
        let mut counted: BTreeMap<(String, String), Sums> = BTreeMap::new();
        for row in costs["data"].as_array().context("no data")? {
            let day = row["starts_at"].as_str().and_then(|at| at.get(..10)).context("no time")?;
            let tier = row["group"].as_str().unwrap_or("none");
            add(counted.entry((day.to_owned(), tier.to_owned())).or_default(), figures(row)?);
        }
        Ok(counted)
    };
    let equal = async || counted().await.is_ok_and(|counted| counted == *wanted);
    if poll::until("usage to be counted", COUNTED, equal).await.is_ok() {
        return Ok(None);
    }
    let counted = counted().await?;
    Ok((counted != *wanted)
        .then(|| format!("costs are of {counted:?}, and the attempts say {wanted:?}")))
}

fn figures(row: &Value) -> anyhow::Result<Sums> {
    let mut sums = Sums::default();
    for (sum, name) in sums.iter_mut().zip(FIGURES) {
        *sum = row[name].as_i64().with_context(|| format!("no {name} in {row}"))?;
    }
    Ok(sums)
}

fn add(sums: &mut Sums, more: Sums) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
