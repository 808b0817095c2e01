//! What schedules of tests make.

use domain::batch::Priority;
use domain::id::PoolName;
use domain::resources::Tier;
use domain::schedule::TaskTemplate;
use domain::task::{Delivery, NoopRun, Run};
use std::collections::BTreeMap;
use std::time::Duration;

/// A task of this name that does nothing, in the pool `default`.
#[must_use]
pub fn noop_template(name: &str) -> TaskTemplate {
    TaskTemplate {
        name: Some(name.to_owned()),
        pool: PoolName::default(),
        tier: Some(Tier::Basic),
        resources: Tier::Basic.resources(),
        run: Run::Noop(NoopRun { sleep: Duration::ZERO }),
        delay_tolerance: Duration::from_secs(300),
        execution_cap: Duration::from_secs(60),
        expire_if_late: false,
        priority: Priority::default(),
        flexible: false,
        concurrency_key: None,
        max_attempts: 3,
        retry: None,
        delivery: Delivery::AtLeastOnce,
        unique_key: None,
        labels: BTreeMap::new(),
    }
}
