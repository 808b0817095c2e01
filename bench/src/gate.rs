//! A regression check of about a minute: the hot path and Postgres alone in turn, best of three, as ratios compared
//! with `bench/ratios.json`.
//!
//! On a slow or busy machine both sides of a ratio are slower. Best of three, because disturbances only slow down. A
//! ratio that has lost a quarter is a warning, one that has lost half fails. The build of the stored ratios is stored
//! with them.

use crate::phase;
use crate::progress::say;
use crate::report::Measured;
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use testkit::settings;

const ROUNDS: u32 = 3;
const TASKS: u64 = 10_000;
const LENGTH: Duration = Duration::from_secs(2);
const WARNS_BELOW: f64 = 0.75;
const FAILS_BELOW: f64 = 0.5;

/// A figure and its raw counterpart.
const PAIRS: [(&str, &str); 3] = [
    ("batch_submit_per_s", "raw_batch_submit_per_s"),
    ("single_submit_per_s", "raw_single_submit_per_s"),
    ("drain_per_s", "raw_drain_per_s"),
];

type Ratios = BTreeMap<String, f64>;

/// Measures and compares; with `keep`, stores the result instead.
pub async fn run(keep: bool) -> anyhow::Result<()> {
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    for round in 1..=ROUNDS {
        say(&format!("gate: round {round} of {ROUNDS}"));
        for measured in one_round().await? {
            let so_far = best.entry(measured.key).or_default();
            *so_far = so_far.max(measured.value);
        }
    }
    let ratio = |(ours, raw): (&str, &str)| {
        let of = |key| best.get(key).copied().with_context(|| format!("{key} was not measured"));
        Ok((ours.to_owned(), of(ours)? / of(raw)?))
    };
    let now = PAIRS.into_iter().map(ratio).collect::<anyhow::Result<Ratios>>()?;
    let path = settings::workspace().join("bench/ratios.json");
    if keep {
        fs::write(&path, serde_json::to_string_pretty(&now)? + "\n")?;
        say(&format!("gate: kept {now:.2?} in {}", path.display()));
        return Ok(());
    }
    let lost = compare(&kept(&path)?, &now);
    ensure!(
        lost.is_empty(),
        "much slower than what is kept in {}: {}",
        path.display(),
        lost.join(", ")
    );
    Ok(())
}

async fn one_round() -> anyhow::Result<Vec<Measured>> {
    let mut all = phase::raw_batch(TASKS * 5 / 1000).await?;
    all.extend(phase::raw_single(LENGTH).await?);
    all.extend(phase::raw_drain(TASKS * 5).await?);
    all.extend(phase::batch_and_drain(TASKS).await?);
    all.extend(phase::single_submit(LENGTH).await?);
    Ok(all)
}

fn kept(path: &PathBuf) -> anyhow::Result<Ratios> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// Reports each ratio; returns those that have lost half.
fn compare(kept: &Ratios, now: &Ratios) -> Vec<String> {
    let mut lost = Vec::new();
    for (key, now) in now {
        let Some(before) = kept.get(key) else {
            say(&format!("gate: {key} {now:.3} of the raw engine; none is kept"));
            continue;
        };
        let share = now / before;
        let text = format!("{key} {now:.3} of the raw engine, {before:.3} kept");
        if share < FAILS_BELOW {
            say(&format!("gate: FAILED: {text}"));
            lost.push(text);
        } else if share < WARNS_BELOW {
            say(&format!("gate: WARNING: {text}: more than a quarter is lost"));
        } else {
            say(&format!("gate: {text}"));
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_is_kept_fails_and_three_quarters_do_not() {
        let ratios = |value| Ratios::from([("drain_per_s".to_owned(), value)]);
        let kept = ratios(0.4);
        assert_eq!(compare(&kept, &ratios(0.19)).len(), 1);
        for enough in [0.21, 0.29, 0.31, 0.9] {
            assert_eq!(compare(&kept, &ratios(enough)), Vec::<String>::new());
        }
        assert_eq!(compare(&Ratios::new(), &ratios(0.1)), Vec::<String>::new());
    }
}
