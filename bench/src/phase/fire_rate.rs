//! The highest rate of due times of one scheduler: doubled until it fails, then bisected.
//!
//! A rate holds if the p99 lateness is below a second and no due time is left. An early, missed or doubled due time
//! makes the figure void.

use super::fires::{WARM, lead, scheduler};
use crate::progress::say;
use crate::report::Measured;
use e2e::{Lateness, Schedules};
use runtime::clock;
use std::time::Duration;

/// How often each is due: as few schedules as do not meet themselves.
const EVERY: Duration = Duration::from_secs(20);
/// The first rate, and the last that is tried.
const FIRST: u32 = 2000;
const LAST: u32 = 64_000;
/// How often it is closed in on.
const STEPS: u32 = 2;
/// Limit of p99 lateness, ms.
const HOLDS: f64 = 1000.0;
/// How far behind the last due time may be.
const BEHIND: Duration = Duration::from_secs(2);

/// Each rate for `length`.
pub async fn fire_rate(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let (mut best, mut above) = (None, None);
    let mut rate = FIRST;
    while rate <= LAST && above.is_none() {
        match holds(rate, length).await? {
            Some(late) => (best, rate) = (Some((rate, late)), rate * 2),
            None if best.is_none() && rate > 250 => rate /= 2,
            None => above = Some(rate),
        }
    }
    for _ in 0..STEPS {
        let Some((low, high)) = best.as_ref().map(|(rate, _)| *rate).zip(above) else { break };
        let middle = u32::midpoint(low, high);
        match holds(middle, length).await? {
            Some(late) => best = Some((middle, late)),
            None => above = Some(middle),
        }
    }
    let Some((rate, late)) = best else { anyhow::bail!("not even {rate} a second hold") };
    Ok(vec![
        Measured::new("fires_per_s_held", rate.into())
            .with("p50_ms", late.p50)
            .with("p99_ms", late.p99)
            .with("max_ms", late.max),
    ])
}

/// How late they are at this rate, where it holds.
async fn holds(rate: u32, length: Duration) -> anyhow::Result<Option<Lateness>> {
    let cluster = scheduler().await?;
    let count = rate * u32::try_from(EVERY.as_secs())?;
    let schedules = Schedules::store(&cluster, count, EVERY, lead(count), true).await?;
    clock::sleep(lead(count) + WARM + length).await;
    let mut faults = schedules.faults(BEHIND).await?;
    let all = faults.len();
    faults.retain(|fault| !fault.contains("left behind"));
    anyhow::ensure!(faults.is_empty(), "at {rate} a second: {}", faults.join("; "));
    let late = schedules.lateness(WARM).await?;
    let wanted = f64::from(rate) * length.as_secs_f64() * 0.95;
    let holds = all == 0 && late.p99 < HOLDS && late.fired >= wanted;
    say(&format!(
        "    {rate} a second: p99 {:.0} ms, {}",
        late.p99,
        if holds { "holds" } else { "does not hold" }
    ));
    Ok(holds.then_some(late))
}
