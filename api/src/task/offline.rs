//! Rules for a check without a server, as `berth workflow check` and `berth apply` make it.
//!
//! Each pool that the body names is assumed to exist; who may use it, and what fits it, only the server knows.

use super::check::{Origin, Rules};
use super::dependencies::Links;
use domain::id::{PlanName, PoolName, TenantId};
use domain::plan::PlanLimits;
use domain::pool::{PoolGrants, PoolUser};
use domain::time::Timestamp;
use runtime::config::LimitsConfig;
use serde_json::Value;
use std::collections::BTreeSet;
use store::pool::SubmitPool;

/// What is known of an installation and a plan.
#[derive(Debug, Clone, Copy)]
pub struct OfflineRules<'a> {
    /// What tasks may ask for, and get when they ask for nothing.
    pub limits: &'a LimitsConfig,
    /// The plan.
    pub plan: &'a PlanLimits,
    /// Time of the check.
    pub now: Timestamp,
}

impl OfflineRules<'_> {
    /// Checks the JSON `text` by `check`, which gets the rules for its tasks.
    pub(crate) fn apply<T>(
        &self,
        text: &[u8],
        links: Links<'_>,
        check: impl FnOnce(&Rules<'_>, Origin) -> T,
    ) -> T {
        let tenant = TenantId(uuid::Uuid::nil());
        let pools: Vec<SubmitPool> = named_pools(text).into_iter().map(pool).collect();
        let plan_name = PlanName::default();
        let user = PoolUser { tenant, plan: &plan_name };
        let Self { limits, plan, now } = *self;
        let rules = Rules { limits, pools: &pools, user, now, plan, links };
        let (key_id, traceparent) = (String::new(), String::new());
        check(&rules, Origin { tenant, key_id, traceparent, idempotency: None })
    }
}

fn pool(name: PoolName) -> SubmitPool {
    SubmitPool { name, grants: PoolGrants::everyone(), executors: Vec::new() }
}

/// The usual pool, and each that the body names.
fn named_pools(text: &[u8]) -> BTreeSet<PoolName> {
    fn add(value: &Value, names: &mut BTreeSet<PoolName>) {
        match value {
            Value::Object(fields) => {
                names.extend(
                    fields.get("pool").and_then(Value::as_str).and_then(|name| name.parse().ok()),
                );
                fields.values().for_each(|value| add(value, names));
            }
            Value::Array(items) => items.iter().for_each(|value| add(value, names)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut names = BTreeSet::from([PoolName::default()]);
    if let Ok(value) = serde_json::from_slice(text) {
        add(&value, &mut names);
    }
    names
}
