//! Plans: rates, quotas, retention and weight.
//!
//! Every tenant has one plan; operators write plans. The ranges equal the checks of the database
//! (`migrations/0009_plans.sql`), so that what passes [`PlanLimits::check`] can be stored.

use serde::{Deserialize, Serialize};

/// The limits of a plan. [`PlanLimits::default`] is the plan `default` of a new installation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanLimits {
    /// Tasks submitted per second, refilled continuously; 1 to 1 000 000.
    pub submits_per_second: u32,
    /// Burst of submitted tasks; 1 to 10 000 000.
    pub submit_burst: u32,
    /// Tasks submitted per hour; 0 is no hourly limit.
    pub submits_per_hour: u32,
    /// Tasks queued, running or cancelling at once; 1 to 10 000 000. Enforced by the batcher, exactly.
    pub running_tasks: u32,
    /// Unfinished tasks; 1 to 100 000 000.
    pub backlog: u32,
    /// Live schedules at once; up to 10 000 000.
    pub schedules: u32,
    /// Largest body of one task, bytes; 1024 to 16 777 216.
    pub payload_bytes: u32,
    /// Output kept, bytes; up to 2^50. What goes beyond is not stored.
    pub stored_output_bytes: u64,
    /// Days for which finished tasks are shown; 1 to 3650.
    pub retention_days: u16,
    /// Scheduling weight; above 0, up to 1000. A tenant's own weight overrides it.
    pub weight: f64,
    /// Whether tasks are flexible by default.
    pub flexible: bool,
}

impl Default for PlanLimits {
    fn default() -> Self {
        Self {
            submits_per_second: 10_000,
            submit_burst: 20_000,
            submits_per_hour: 0,
            running_tasks: 100_000,
            backlog: 5_000_000,
            schedules: 10_000,
            payload_bytes: 16_777_216,
            stored_output_bytes: 1 << 40,
            retention_days: 30,
            weight: 1.0,
            flexible: false,
        }
    }
}

/// A limit of what a tenant holds, unlike a rate.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
pub enum Quota {
    /// Tasks queued, running or cancelling.
    RunningTasks,
    /// Tasks that have not ended.
    Backlog,
    /// Live schedules.
    Schedules,
    /// Body of one task.
    PayloadBytes,
    /// Output kept.
    StoredOutputBytes,
}

impl Quota {
    /// Every quota.
    pub const ALL: [Self; 5] = [
        Self::RunningTasks,
        Self::Backlog,
        Self::Schedules,
        Self::PayloadBytes,
        Self::StoredOutputBytes,
    ];

    /// Its name in JSON, SQL and messages: the field of [`PlanLimits`].
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A limit out of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{limit} must be {range}")]
pub struct LimitError {
    /// The field's name.
    pub limit: &'static str,
    /// What it may be.
    pub range: &'static str,
}

impl PlanLimits {
    /// What a plan allows of `quota`.
    #[must_use]
    pub const fn of(&self, quota: Quota) -> u64 {
        match quota {
            Quota::RunningTasks => self.running_tasks as u64,
            Quota::Backlog => self.backlog as u64,
            Quota::Schedules => self.schedules as u64,
            Quota::PayloadBytes => self.payload_bytes as u64,
            Quota::StoredOutputBytes => self.stored_output_bytes,
        }
    }

    /// Finds every limit that is out of its range.
    ///
    /// # Errors
    /// All of them, in the order of the fields.
    pub fn check(&self) -> Result<(), Vec<LimitError>> {
        let within = |value: u32, least: u32, most: u32| (least..=most).contains(&value);
        let weight = self.weight.is_finite() && self.weight > 0.0 && self.weight <= 1000.0;
        let checks = [
            (
                within(self.submits_per_second, 1, 1_000_000),
                "submits_per_second",
                "from 1 to 1000000",
            ),
            (within(self.submit_burst, 1, 10_000_000), "submit_burst", "from 1 to 10000000"),
            (
                within(self.submits_per_hour, 0, 2_000_000_000),
                "submits_per_hour",
                "from 0 (no hourly limit) to 2000000000",
            ),
            (within(self.running_tasks, 1, 10_000_000), "running_tasks", "from 1 to 10000000"),
            (within(self.backlog, 1, 100_000_000), "backlog", "from 1 to 100000000"),
            (within(self.schedules, 0, 10_000_000), "schedules", "from 0 to 10000000"),
            (
                within(self.payload_bytes, 1024, 16_777_216),
                "payload_bytes",
                "from 1024 to 16777216",
            ),
            (
                self.stored_output_bytes <= 1 << 50,
                "stored_output_bytes",
                "from 0 to 1125899906842624",
            ),
            ((1..=3650).contains(&self.retention_days), "retention_days", "from 1 to 3650"),
            (weight, "weight", "more than 0, up to 1000"),
        ];
        let wrong: Vec<_> = checks
            .into_iter()
            .filter(|(good, _, _)| !good)
            .map(|(_, limit, range)| LimitError { limit, range })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

/// The plan that lifts `quota`: of those that allow more than `present`, the one that allows least; ties go to the first.
#[must_use]
pub fn next_plan<N>(
    plans: &[(N, PlanLimits)],
    quota: Quota,
    present: u64,
) -> Option<&(N, PlanLimits)> {
    let more = plans.iter().filter(|(_, limits)| limits.of(quota) > present);
    more.min_by_key(|(_, limits)| limits.of(quota))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan_is_in_range() {
        assert_eq!(PlanLimits::default().check(), Ok(()));
    }

    #[test]
    fn both_ends_of_each_range_are_good_and_what_lies_beyond_is_named() {
        type Set = fn(&mut PlanLimits, f64);
        let fields: [(&str, f64, f64, Set); 10] = [
            ("submits_per_second", 1.0, 1e6, |l, n| l.submits_per_second = n as u32),
            ("submit_burst", 1.0, 1e7, |l, n| l.submit_burst = n as u32),
            ("submits_per_hour", 0.0, 2e9, |l, n| l.submits_per_hour = n as u32),
            ("running_tasks", 1.0, 1e7, |l, n| l.running_tasks = n as u32),
            ("backlog", 1.0, 1e8, |l, n| l.backlog = n as u32),
            ("schedules", 0.0, 1e7, |l, n| l.schedules = n as u32),
            ("payload_bytes", 1024.0, 16_777_216.0, |l, n| l.payload_bytes = n as u32),
            ("stored_output_bytes", 0.0, 1_125_899_906_842_624.0, |l, n| {
                l.stored_output_bytes = n as u64;
            }),
            ("retention_days", 1.0, 3650.0, |l, n| l.retention_days = n as u16),
            ("weight", 0.001, 1000.0, |l, n| l.weight = n),
        ];
        for (name, least, most, set) in fields {
            let checked = |value: f64| {
                let mut limits = PlanLimits::default();
                set(&mut limits, value);
                limits.check().map_err(|wrong| wrong.iter().map(|w| w.limit).collect::<Vec<_>>())
            };
            assert_eq!((checked(least), checked(most)), (Ok(()), Ok(())), "{name}");
            assert_eq!(checked(most + 1.0), Err(vec![name]), "{name}");
            if least >= 1.0 {
                assert_eq!(checked(least - 1.0), Err(vec![name]), "{name}");
            }
        }
    }

    #[test]
    fn a_weight_must_be_a_number_above_0() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let wrong = PlanLimits { weight, ..PlanLimits::default() }.check().unwrap_err();
            assert_eq!(wrong[0].to_string(), "weight must be more than 0, up to 1000");
        }
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let wrong = PlanLimits { backlog: 0, retention_days: 0, ..PlanLimits::default() };
        let names: Vec<_> = wrong.check().unwrap_err().iter().map(|w| w.limit).collect();
        assert_eq!(names, ["backlog", "retention_days"]);
    }

    #[test]
    fn the_next_plan_is_the_least_that_allows_more() {
        let plan = |backlog| PlanLimits { backlog, ..PlanLimits::default() };
        let plans = [("big", plan(1000)), ("free", plan(10)), ("small", plan(100))];
        let next = |present| next_plan(&plans, Quota::Backlog, present).map(|(name, _)| *name);
        assert_eq!((next(5), next(10), next(100)), (Some("free"), Some("small"), Some("big")));
        assert_eq!(next(1000), None);
    }
}
