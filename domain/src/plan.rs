//! Plans: rates, quotas, retention and weight.
//!
//! Every tenant has one plan; operators write plans. The table below names each limit once, with its meaning, type, default and
//! range. What is stored (`plan.limits`), taken and shown by the API, described in OpenAPI and offered as flags of `berth admin plan`
//! comes from it. A new limit is an edit in these places:
//!
//! 1. a row of the table; a [`Quota`], too, where it limits what a tenant holds,
//! 2. the code that enforces it, from [`PlanLimits`]: SQL would have to know the default of plans that lack it,
//! 3. its line in docs/tenants.md,
//! 4. where `GET /v1/limits` shows it: a field in `api/src/routes/limits.rs`,
//! 5. and in `api-types/src/limits.rs`.
//!
//! It needs no migration: plans that were stored before have its default.

mod put;

use crate::price::PutBilling;
pub use put::PutPlan;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// One limit of a plan, as it is described to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Its name in Rust, JSON and messages: the field of [`PlanLimits`].
    pub name: &'static str,
    /// What it limits, a sentence.
    pub text: &'static str,
    /// What it counts, in capitals, or its words.
    pub unit: &'static str,
    /// What it may be.
    pub range: LimitRange,
    /// Whether each plan that is sent must name it. Absent, the others have their default.
    pub required: bool,
}

/// What a limit may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitRange {
    /// A whole number, both ends included.
    Whole {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
        /// What 0 means, where it means something else.
        zero: Option<&'static str>,
    },
    /// A number above 0, up to this.
    Positive(u32),
    /// True or false.
    Switch,
}

const fn whole(least: u64, most: u64) -> LimitRange {
    LimitRange::Whole { least, most, zero: None }
}

impl LimitRange {
    /// Whether `value` is of this kind and in this range.
    #[must_use]
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Self::Whole { least, most, .. } => {
                value.as_u64().is_some_and(|n| (least..=most).contains(&n))
            }
            Self::Positive(most) => value.as_f64().is_some_and(|n| n > 0.0 && n <= most.into()),
            Self::Switch => value.is_boolean(),
        }
    }
}

impl fmt::Display for LimitRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { least, most, zero: None } => write!(f, "from {least} to {most}"),
            Self::Whole { least, most, zero: Some(zero) } => {
                write!(f, "from {least} ({zero}) to {most}")
            }
            Self::Positive(most) => write!(f, "more than 0, up to {most}"),
            Self::Switch => write!(f, "true or false"),
        }
    }
}

/// The table of limits: `name: type = default, range, unit`. `#[serde(default)]` marks one that a plan that is sent may leave out: that it has been sent without until now.
macro_rules! limits {
    ($(
        $(#[doc = $text:literal])+
        $(#[serde($absent:ident)])?
        $name:ident: $kind:ty = $default:expr, $range:expr, $unit:literal;
    )+) => {
        /// The limits of a plan, as they are sent and shown. [`PlanLimits::default`] is the plan `default` of a new installation.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "SentPlan")]
        pub struct PlanLimits {$(
            $(#[doc = $text])+
            pub $name: $kind,
        )+}

        /// A plan as it is sent.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct SentPlan {$(
            #[serde(default)]
            $name: Option<$kind>,)+
            #[serde(default)]
            pub(crate) billing: PutBilling,
        }

        impl TryFrom<SentPlan> for PlanLimits {
            type Error = String;

            fn try_from(sent: SentPlan) -> Result<Self, String> {
                let usual = Self::default();
                Ok(Self {$(
                    $name: match sent.$name {
                        Some(given) => given,
                        None => {
                            const ABSENT: &[&str] = &[$(stringify!($absent))?];
                            if ABSENT.is_empty() {
                                return Err(concat!("missing field `", stringify!($name), "`").to_owned());
                            }
                            usual.$name
                        }
                    },
                )+})
            }
        }

        impl Default for PlanLimits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        /// Every limit of a plan, in the order in which they are shown.
        pub const LIMITS: &[Limit] = &[$(Limit {
            name: stringify!($name),
            text: concat!($($text),+).trim_ascii_start(),
            unit: $unit,
            range: $range,
            required: {
                const ABSENT: &[&str] = &[$(stringify!($absent))?];
                ABSENT.is_empty()
            },
        },)+];

        /// Limits as they are stored, by this release or by another.
        #[derive(Deserialize)]
        #[serde(default)]
        struct StoredLimits {$(
            $name: $kind,
        )+}

        impl Default for StoredLimits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl PlanLimits {
            /// Reads the JSON of a stored plan. A limit that it does not name has its default, and what this release does not know is
            /// skipped, so that the releases before and after this one can read and write the same plans.
            ///
            /// # Errors
            /// When it is no object, or a limit is of another type.
            pub fn from_stored(text: &str) -> Result<Self, serde_json::Error> {
                let stored: StoredLimits = serde_json::from_str(text)?;
                Ok(Self { $($name: stored.$name,)+ })
            }

            /// Each limit by its name.
            #[must_use]
            pub fn values(&self) -> Map<String, Value> {
                [$((stringify!($name).to_owned(), json!(self.$name)),)+].into_iter().collect()
            }
        }
    };
}

limits! {
    /// Tasks submitted per second, refilled continuously.
    submits_per_second: u32 = 10_000, whole(1, 1_000_000), "TASKS";
    /// Burst of submitted tasks.
    submit_burst: u32 = 20_000, whole(1, 10_000_000), "TASKS";
    /// Tasks submitted per hour; 0: no limit.
    submits_per_hour: u32 = 0,
        LimitRange::Whole { least: 0, most: 2_000_000_000, zero: Some("no hourly limit") }, "TASKS";
    /// Tasks queued, running or cancelling. Enforced by the batcher, exactly.
    running_tasks: u32 = 100_000, whole(1, 10_000_000), "TASKS";
    /// Unfinished tasks.
    backlog: u32 = 5_000_000, whole(1, 100_000_000), "TASKS";
    /// Schedules that are not finished.
    schedules: u32 = 10_000, whole(0, 10_000_000), "SCHEDULES";
    /// Workflow definitions.
    #[serde(default)]
    workflows: u32 = 1_000, whole(0, 1_000_000), "WORKFLOWS";
    /// Workflow runs that are not finished.
    #[serde(default)]
    workflow_runs: u32 = 10_000, whole(0, 10_000_000), "RUNS";
    /// Tasks of one workflow run, with the items of `for_each`.
    #[serde(default)]
    workflow_tasks: u32 = 20_000, whole(1, 1_000_000), "TASKS";
    /// Signals that are kept.
    #[serde(default)]
    signals: u32 = 10_000, whole(0, 10_000_000), "SIGNALS";
    /// Largest body of one task, bytes.
    payload_bytes: u32 = 16_777_216, whole(1024, 16_777_216), "BYTES";
    /// Stored output, bytes. What goes beyond is not stored.
    stored_output_bytes: u64 = 1 << 40, whole(0, 1 << 50), "BYTES";
    /// Days for which finished tasks are shown; at most `limits.history_retention_days`.
    retention_days: u16 = 30, whole(1, 3650), "DAYS";
    /// Scheduling weight. A tenant's own weight overrides it.
    weight: f64 = 1.0, LimitRange::Positive(1000), "WEIGHT";
    /// Whether tasks are flexible by default: they run in spare room until their tolerance is nearly used up.
    #[serde(default)]
    flexible: bool = false, LimitRange::Switch, "on|off";
}

/// A limit of what a tenant holds, unlike a rate.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Quota {
    /// Tasks queued, running or cancelling.
    RunningTasks,
    /// Tasks that have not ended.
    Backlog,
    /// Live schedules.
    Schedules,
    /// Workflow definitions.
    Workflows,
    /// Workflow runs that have not ended.
    WorkflowRuns,
    /// Tasks of one workflow run.
    WorkflowTasks,
    /// Signals that are kept.
    Signals,
    /// Body of one task.
    PayloadBytes,
    /// Output kept.
    StoredOutputBytes,
}

impl Quota {
    /// Every quota.
    pub const ALL: [Self; 9] = [
        Self::RunningTasks,
        Self::Backlog,
        Self::Schedules,
        Self::Workflows,
        Self::WorkflowRuns,
        Self::WorkflowTasks,
        Self::Signals,
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
    pub range: LimitRange,
}

impl PlanLimits {
    /// What a plan allows of `quota`.
    #[must_use]
    pub const fn of(&self, quota: Quota) -> u64 {
        match quota {
            Quota::RunningTasks => self.running_tasks as u64,
            Quota::Backlog => self.backlog as u64,
            Quota::Schedules => self.schedules as u64,
            Quota::Workflows => self.workflows as u64,
            Quota::WorkflowRuns => self.workflow_runs as u64,
            Quota::WorkflowTasks => self.workflow_tasks as u64,
            Quota::Signals => self.signals as u64,
            Quota::PayloadBytes => self.payload_bytes as u64,
            Quota::StoredOutputBytes => self.stored_output_bytes,
        }
    }

    /// Finds every limit that is out of its range.
    ///
    /// # Errors
    /// All of them, in the order of the fields.
    pub fn check(&self) -> Result<(), Vec<LimitError>> {
        let values = self.values();
        let wrong: Vec<_> = LIMITS
            .iter()
            .filter(|limit| !values.get(limit.name).is_some_and(|value| limit.range.admits(value)))
            .map(|limit| LimitError { limit: limit.name, range: limit.range })
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

    /// The default plan, but for one limit.
    fn with(name: &str, value: Value) -> PlanLimits {
        let mut values = PlanLimits::default().values();
        values.insert(name.to_owned(), value);
        serde_json::from_value(Value::Object(values)).unwrap()
    }

    #[test]
    fn both_ends_of_each_range_are_good_and_what_lies_beyond_is_named() {
        for limit in LIMITS {
            let (good, bad) = match limit.range {
                LimitRange::Whole { least, most, .. } => {
                    let below = least.checked_sub(1).map(|below| json!(below));
                    ([json!(least), json!(most)], [Some(json!(most + 1)), below])
                }
                LimitRange::Positive(most) => (
                    [json!(0.001), json!(f64::from(most))],
                    [Some(json!(f64::from(most) + 1.0)), Some(json!(0.0))],
                ),
                LimitRange::Switch => ([json!(true), json!(false)], [None, None]),
            };
            for value in good {
                assert_eq!(with(limit.name, value).check(), Ok(()), "{}", limit.name);
            }
            for value in bad.into_iter().flatten() {
                let wrong = with(limit.name, value).check().unwrap_err();
                assert_eq!(wrong, [LimitError { limit: limit.name, range: limit.range }]);
            }
        }
    }

    #[test]
    fn a_limit_is_described_by_a_sentence() {
        let values = PlanLimits::default().values();
        for limit in LIMITS {
            assert!(limit.text.ends_with('.') && !limit.text.starts_with(' '), "{}", limit.text);
        }
        assert_eq!(values.len(), LIMITS.len());
        assert_eq!(Value::Object(values), json!(PlanLimits::default()));
    }

    #[test]
    fn a_plan_that_is_sent_names_each_limit_that_is_required_and_nothing_else() {
        for limit in LIMITS {
            let mut values = PlanLimits::default().values();
            values.remove(limit.name);
            let read = serde_json::from_value::<PlanLimits>(Value::Object(values));
            assert_eq!(read.is_err(), limit.required, "{}", limit.name);
        }
        let mut values = PlanLimits::default().values();
        values.insert("later".to_owned(), json!(1));
        serde_json::from_value::<PlanLimits>(Value::Object(values)).unwrap_err();
    }

    #[test]
    fn a_plan_of_another_release_is_read_with_what_is_known_and_defaults_for_the_rest() {
        let read = PlanLimits::from_stored(r#"{"backlog": 7, "later": [1], "weight": 2}"#).unwrap();
        assert_eq!(read, PlanLimits { backlog: 7, weight: 2.0, ..PlanLimits::default() });
        PlanLimits::from_stored(r#"{"backlog": "7"}"#).unwrap_err();
        PlanLimits::from_stored("null").unwrap_err();
    }

    #[test]
    fn a_range_is_told_in_words() {
        let range =
            |name| LIMITS.iter().find(|limit| limit.name == name).unwrap().range.to_string();
        assert_eq!(range("submits_per_hour"), "from 0 (no hourly limit) to 2000000000");
        assert_eq!(range("retention_days"), "from 1 to 3650");
        assert_eq!(range("flexible"), "true or false");
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
