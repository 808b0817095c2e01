//! One parsed spec.

use super::civil::Civil;
use super::days::Days;
use super::pattern::Pattern;
use super::steps::Steps;
use super::times::Times;
use super::zone::Zone;
use super::{MICROS, cron};
use crate::schedule::timing::check_time;
use crate::schedule::{ClockTime, Counting, Spec, Timing, TimingError, TimingProblem};
use crate::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// One spec of a timing; times in microseconds.
#[derive(Debug, Clone)]
pub(in crate::schedule) enum Rule {
    /// By the clock of the zone.
    Civil(Civil),
    /// Again and again after `step`, `anchor` being one of the times.
    Grid { anchor: i64, step: i64 },
    /// Once.
    Once(i64),
}

/// A due time of one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    pub at: i64,
    pub shifted: bool,
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

impl Rule {
    /// Reads the spec at `index` of `timing`, whose schedule was created at `created_at`.
    pub fn read(timing: &Timing, index: usize, created_at: Timestamp) -> Result<Self, TimingError> {
        let Some(spec) = timing.specs.get(index) else {
            let most = Timing::MOST_SPECS;
            return Err(TimingError::at("/specs", TimingProblem::Count { least: 1, most }));
        };
        let base = format!("/specs/{index}");
        let created = created_at.timestamp_micros();
        let civil = |pattern| Civil { pattern, gap: timing.gap, repeat: timing.repeat };
        let listed = |word: &str, at: &[ClockTime]| {
            counted(format!("{base}/{word}/at"), at.len(), 100).map(|()| Times::listed(at))
        };
        let on = |word: &str, given, most| counted(format!("{base}/{word}/on"), given, most);
        let pattern = match spec {
            Spec::Every { every, anchor, counting } => {
                check_duration(*every, &format!("{base}/every/every"))?;
                let step = micros(*every);
                let anchor = check_time(*anchor, &format!("{base}/every/anchor"))?;
                return Ok(match (counting, anchor) {
                    (Counting::FixedRate, anchor) => {
                        Self::Grid { anchor: anchor.unwrap_or(created), step }
                    }
                    // The first of all; the others follow the ends of tasks.
                    (Counting::FixedDelay, Some(anchor)) if anchor > created => Self::Once(anchor),
                    (Counting::FixedDelay, _) => Self::Once(created.saturating_add(step)),
                });
            }
            Spec::At(at) => {
                check_time(Some(*at), &format!("{base}/at"))?;
                return Ok(Self::Once(at.timestamp_micros()));
            }
            Spec::After(delay) => {
                if *delay > Timing::MOST_EVERY {
                    let problem = TimingProblem::Every;
                    return Err(TimingError::at(format!("{base}/after"), problem));
                }
                // Strictly after its creation, also without a delay.
                let delay = micros(*delay).max(1);
                return Ok(Self::Once(created.saturating_add(delay)));
            }
            Spec::Cron(text) => cron::read(text).map_err(|why| {
                TimingError::at(format!("{base}/cron"), TimingProblem::BadCron(why))
            })?,
            Spec::Daily { at } => words(listed("daily", at)?, Days::All),
            Spec::Weekly { on: days, at } => {
                on("weekly", days.len(), 7)?;
                words(listed("weekly", at)?, Days::of_week(days))
            }
            Spec::Monthly { on: days, at } => {
                on("monthly", days.len(), 32)?;
                words(listed("monthly", at)?, Days::of_month(days))
            }
            Spec::Yearly { on: days, at } => {
                on("yearly", days.len(), 366)?;
                words(listed("yearly", at)?, Days::of_year(days))
            }
        };
        Ok(Self::Civil(civil(pattern)))
    }

    /// Whether no calendar ever shows what it asks for.
    pub(super) fn is_dead(&self) -> bool {
        match self {
            Self::Civil(civil) => civil.pattern.first_from(0, &Steps::unlimited()).is_none(),
            Self::Grid { .. } | Self::Once(_) => false,
        }
    }

    /// The first due time strictly after `after`, as far as `steps` go.
    pub(super) fn next_after(&self, zone: &Zone, after: i64, steps: &Steps) -> Option<Due> {
        steps.take(1)?;
        match self {
            Self::Once(at) => (*at > after).then_some(Due { at: *at, shifted: false }),
            Self::Grid { anchor, step } => {
                let steps = after.checked_sub(*anchor)?.div_euclid(*step).checked_add(1)?;
                let at = steps.checked_mul(*step)?.checked_add(*anchor)?;
                Some(Due { at, shifted: false })
            }
            Self::Civil(civil) => {
                let found = civil.first_from(zone, after.div_euclid(MICROS) + 1, steps)?;
                Some(Due { at: found.at.checked_mul(MICROS)?, shifted: found.shifted })
            }
        }
    }
}

fn words(times: Times, days: Days) -> Arc<Pattern> {
    Arc::new(Pattern { times, days, recurs: false })
}

fn counted(pointer: String, given: usize, most: usize) -> Result<(), TimingError> {
    let fits = (1..=most).contains(&given);
    let problem = TimingProblem::Count { least: 1, most };
    if fits { Ok(()) } else { Err(TimingError::at(pointer, problem)) }
}

fn check_duration(every: Duration, pointer: &str) -> Result<(), TimingError> {
    let fits = (Timing::LEAST_EVERY..=Timing::MOST_EVERY).contains(&every);
    if fits { Ok(()) } else { Err(TimingError::at(pointer, TimingProblem::Every)) }
}
