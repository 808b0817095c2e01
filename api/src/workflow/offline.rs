//! Checks a definition without a server, as `berth workflow check` does: by the limits of the settings that are compiled in, and with every
//! pool that it names.

use super::check::{Checked, check};
use crate::problem::Problem;
use crate::task::{Links, Origin, Rules};
use domain::id::{PlanName, PoolName, TenantId};
use domain::plan::PlanLimits;
use domain::pool::{PoolGrants, PoolUser};
use domain::time::Timestamp;
use runtime::config::{ApiConfig, LimitsConfig};
use serde_json::Value;
use std::collections::BTreeSet;
use store::pool::SubmitPool;

/// Checks the definition `text` as JSON, at the time `now`.
///
/// # Errors
/// What is wrong with it.
pub fn check_offline(
    text: &[u8],
    (limits, api): (&LimitsConfig, &ApiConfig),
    now: Timestamp,
) -> Result<Checked, Problem> {
    let tenant = TenantId(uuid::Uuid::nil());
    let pools: Vec<SubmitPool> = named_pools(text).into_iter().map(pool).collect();
    let plan_name = PlanName::default();
    let plan = PlanLimits::default();
    let user = PoolUser { tenant, plan: &plan_name };
    let links = Links::None("is not allowed in a workflow; use `after` of the node");
    let rules = Rules { limits, pools: &pools, user, now, plan: &plan, links };
    let origin =
        Origin { tenant, key_id: String::new(), traceparent: String::new(), idempotency: None };
    check(text, "", (&rules, api.max_task_bytes), &origin)
}

fn pool(name: PoolName) -> SubmitPool {
    SubmitPool { name, grants: PoolGrants::everyone(), executors: Vec::new() }
}

/// The usual pool, and each that the definition names.
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
