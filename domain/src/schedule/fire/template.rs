//! Template of the tasks that a schedule creates.

use crate::batch::{ConcurrencyKey, Priority};
use crate::id::PoolName;
use crate::price::Use;
use crate::resources::{Resources, Tier};
use crate::task::{Delivery, RetryPolicy, Run};
use crate::time::{millis, text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Largest count in a stored task, as in the checks of its table.
const MAX_COUNT: u32 = 2_000_000_000;
/// Longest cap and tolerance: a hundred years, as in the checks of the table of tasks.
const MAX_DURATION: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// Bytes of a unique key. An entry of its index holds about 2700.
const MAX_UNIQUE_KEY: usize = 2000;

/// The validated task that each fire creates; id, tenant, time and key come from the fire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTemplate {
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Pool.
    pub pool: PoolName,
    /// `None` if resources were given instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// What it needs.
    pub resources: Resources,
    /// What it runs.
    pub run: Run,
    /// Delay tolerance.
    #[serde(with = "text")]
    pub delay_tolerance: Duration,
    /// Execution cap.
    #[serde(with = "text")]
    pub execution_cap: Duration,
    /// Whether it ends as `expired` if not started in time.
    pub expire_if_late: bool,
    /// Its priority within its tenant.
    pub priority: Priority,
    /// Whether it runs only in spare room until its tolerance is nearly used up.
    pub flexible: bool,
    /// Concurrency key; see [`crate::batch::ConcurrencyKey`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Limit on charged attempts.
    pub max_attempts: u32,
    /// `None` is the default policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// What happens after a lost attempt.
    pub delivery: Delivery,
    /// Unique among the tenant's unfinished tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// To find it by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl TaskTemplate {
    /// What each attempt of its tasks holds, for as long as one may run.
    #[must_use]
    pub fn most(&self) -> Use {
        Use {
            resources: self.resources,
            tier: self.tier,
            ms: millis(self.execution_cap).unsigned_abs(),
            tolerance_s: Some(self.delay_tolerance.as_secs()),
            flexible: self.flexible,
        }
    }

    /// Whether the database stores its tasks. One that it refuses would fail all fires of its group.
    ///
    /// What the API accepts is within narrower bounds. A row that another release or a restore wrote may be beyond these.
    #[must_use]
    pub fn is_in_range(&self) -> bool {
        let counts = [self.max_attempts, self.resources.slots()];
        let key = self.concurrency_key.as_deref();
        let (mut labels, texts) = (self.labels.iter(), [&self.name, &self.unique_key]);
        counts.into_iter().all(|count| (1..=MAX_COUNT).contains(&count))
            && (Duration::from_millis(1)..=MAX_DURATION).contains(&self.execution_cap)
            && self.delay_tolerance <= MAX_DURATION
            && key.is_none_or(|key| !key.is_empty() && key.chars().count() <= ConcurrencyKey::MOST)
            && self.unique_key.as_deref().is_none_or(|key| key.len() <= MAX_UNIQUE_KEY)
            && texts.into_iter().flatten().map(String::as_str).chain(key).all(is_storable)
            && labels.all(|(key, value)| is_storable(key) && is_storable(value))
    }
}

/// Postgres refuses NUL in a text.
fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::NoopRun;

    fn template() -> TaskTemplate {
        TaskTemplate {
            name: Some("report".to_owned()),
            pool: PoolName::default(),
            tier: Some(Tier::Basic),
            resources: Tier::Basic.resources(),
            run: Run::Noop(NoopRun { sleep: Duration::ZERO }),
            delay_tolerance: Duration::ZERO,
            execution_cap: Duration::from_secs(60),
            expire_if_late: false,
            priority: Priority::default(),
            flexible: false,
            concurrency_key: None,
            max_attempts: 1,
            retry: None,
            delivery: Delivery::AtLeastOnce,
            unique_key: None,
            labels: BTreeMap::new(),
        }
    }

    #[test]
    fn bounds_are_in_range_and_what_is_beyond_them_is_not() {
        let long = |length| Some("ä".repeat(length));
        let in_range = [
            template(),
            TaskTemplate { execution_cap: Duration::from_millis(1), ..template() },
            TaskTemplate {
                execution_cap: MAX_DURATION,
                delay_tolerance: MAX_DURATION,
                ..template()
            },
            TaskTemplate { max_attempts: MAX_COUNT, ..template() },
            TaskTemplate { concurrency_key: long(200), unique_key: long(1000), ..template() },
        ];
        for template in in_range {
            assert!(template.is_in_range(), "{template:?}");
        }
        let beyond = MAX_DURATION + Duration::from_millis(1);
        let ports = Resources { ports: u32::MAX, ..Tier::Basic.resources() };
        let nul = || Some("a\0b".to_owned());
        let out_of_range = [
            TaskTemplate { execution_cap: Duration::ZERO, ..template() },
            TaskTemplate { execution_cap: beyond, ..template() },
            TaskTemplate { delay_tolerance: beyond, ..template() },
            TaskTemplate { max_attempts: 0, ..template() },
            TaskTemplate { max_attempts: MAX_COUNT + 1, ..template() },
            TaskTemplate { resources: ports, ..template() },
            TaskTemplate { concurrency_key: Some(String::new()), ..template() },
            TaskTemplate { concurrency_key: long(201), ..template() },
            TaskTemplate { unique_key: long(1001), ..template() },
            TaskTemplate { name: nul(), ..template() },
            TaskTemplate { unique_key: nul(), ..template() },
            TaskTemplate { concurrency_key: nul(), ..template() },
            TaskTemplate { labels: [("a".to_owned(), "\0".to_owned())].into(), ..template() },
        ];
        for template in out_of_range {
            assert!(!template.is_in_range(), "{template:?}");
        }
    }
}
