//! What is taken where a field is left out, as `default` of its schema.
//!
//! Settings of the installation come from its configuration and are said in words, too, because no comment in the code can know them;
//! the others come from the domain. A test submits nothing but a `run` and compares.

use domain::id::PoolName;
use domain::resources::Tier;
use domain::schedule::{Counting, Gap, Overlap, Repeat};
use domain::task::{CompleteOn, Delivery, RetryOn, RetryPolicy};
use domain::time::format_duration;
use runtime::config::LimitsConfig;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::{Components, RefOr, Schema};

/// A field that may be left out.
struct LeftOut {
    schema: &'static str,
    field: &'static str,
    value: Value,
    /// Put behind its description.
    words: String,
}

pub(super) fn add(components: &mut Components, limits: &LimitsConfig) {
    for LeftOut { schema, field, value, words } in settings(limits).into_iter().chain(fixed()) {
        let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(schema) else {
            continue;
        };
        if let Some(property) = object.properties.get_mut(field) {
            put(property, value, &words);
        }
    }
    if let Some(RefOr::T(Schema::Object(tier))) = components.schemas.get_mut("Tier") {
        tier.description = Some(sizes());
    }
}

/// The default, and words behind the description.
fn put(property: &mut RefOr<Schema>, value: Value, words: &str) {
    let (default, description) = match property {
        RefOr::Ref(to) => {
            to.description.push_str(words);
            to.default = Some(value);
            return;
        }
        RefOr::T(Schema::Object(of)) => (&mut of.default, &mut of.description),
        RefOr::T(Schema::Array(of)) => (&mut of.default, &mut of.description),
        RefOr::T(Schema::OneOf(of)) => (&mut of.default, &mut of.description),
        RefOr::T(Schema::AllOf(of)) => (&mut of.default, &mut of.description),
        RefOr::T(Schema::AnyOf(of)) => (&mut of.default, &mut of.description),
        // No schema of ours is of a kind to come.
        RefOr::T(_) => return,
    };
    *default = Some(value);
    description.get_or_insert_default().push_str(words);
}

/// What the installation's settings say.
fn settings(limits: &LimitsConfig) -> [LeftOut; 3] {
    let of = |field, value: Value, most: String| LeftOut {
        schema: "TaskSubmit",
        field,
        words: format!(" Default: {value}, at most {most}."),
        value,
    };
    let span = |duration| Value::from(format_duration(duration));
    [
        of(
            "delay_tolerance",
            span(limits.default_delay_tolerance),
            span(limits.max_delay_tolerance).to_string(),
        ),
        of(
            "execution_cap",
            span(limits.default_execution_cap),
            span(limits.max_execution_cap).to_string(),
        ),
        of("max_attempts", limits.default_max_attempts.into(), limits.max_attempts.to_string()),
    ]
}

/// What is the same everywhere. Only what may be sent as well as left out, since some generated clients send every default: a `tier`
/// cannot go with `resources`. No empty object, which not every generator can write down.
fn fixed() -> impl Iterator<Item = LeftOut> {
    let retry = RetryPolicy::default();
    let (task, http, timing) = ("TaskSubmit", "HttpRun", "Timing");
    let all = [
        (task, "expire_if_late", false.into()),
        (task, "priority", 0.into()),
        (task, "delivery", Delivery::AtLeastOnce.as_str().into()),
        (task, "pool", PoolName::default().as_str().into()),
        ("Resources", "disk_mib", 0.into()),
        ("Resources", "iops", 0.into()),
        ("Resources", "ports", 0.into()),
        ("CommandRun", "stdin", "".into()),
        (http, "success", "2xx".into()),
        (http, "complete", CompleteOn::default().as_str().into()),
        ("NoopRun", "sleep", "0s".into()),
        ("Retry", "backoff", word(retry.backoff)),
        ("Retry", "initial", format_duration(retry.initial).into()),
        ("Retry", "factor", retry.factor.into()),
        ("Retry", "max", format_duration(retry.max).into()),
        ("Retry", "jitter", retry.jitter.into()),
        ("Retry", "abort_on_exit_codes", json!([])),
        ("Retry", "on", json!(RetryOn::usual())),
        ("SchedulePut", "overlap", word(Overlap::default())),
        (timing, "zone", "UTC".into()),
        (timing, "jitter", "0s".into()),
        (timing, "gap", word(Gap::default())),
        (timing, "repeat", word(Repeat::default())),
        ("Every", "counting", word(Counting::default())),
    ];
    all.into_iter().map(|(schema, field, value)| LeftOut {
        schema,
        field,
        value,
        words: String::new(),
    })
}

/// A word as JSON has it; null, which no default is, where it had none.
fn word(of: impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// What each tier stands for.
fn sizes() -> String {
    let sizes = Tier::ALL.map(|tier| {
        let size = tier.resources();
        format!(
            "`{tier}`: {} millicores, {} MiB memory, {} MiB disk, {} iops, {} port{}",
            size.cpu_millis,
            size.memory_mib,
            size.disk_mib,
            size.iops,
            size.ports,
            if size.ports == 1 { "" } else { "s" }
        )
    });
    format!("A name for a resource vector. {}.", sizes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::document;
    use crate::task::{Links, Origin, Rules};
    use api_types::request::NewTask;
    use domain::id::{PlanName, TenantId};
    use domain::plan::PlanLimits;
    use domain::pool::{PoolGrants, PoolUser};
    use domain::time::Timestamp;
    use std::time::Duration;
    use store::pool::SubmitPool;

    fn limits() -> LimitsConfig {
        let mut limits = runtime::config::load_from(None, []).unwrap().limits;
        // What no comment in the code says.
        limits.default_execution_cap = Duration::from_secs(77);
        limits.default_max_attempts = 4;
        limits
    }

    fn properties(limits: &LimitsConfig, schema: &str) -> Value {
        let json = serde_json::to_value(document(limits)).unwrap();
        json["components"]["schemas"][schema]["properties"].clone()
    }

    #[test]
    fn each_default_stands_at_a_field_of_the_document() {
        let limits = limits();
        for LeftOut { schema, field, value, .. } in settings(&limits).into_iter().chain(fixed()) {
            assert!(!value.is_null(), "{schema}.{field}");
            assert_eq!(properties(&limits, schema)[field]["default"], value, "{schema}.{field}");
        }
    }

    #[test]
    fn a_task_of_which_only_its_run_is_given_is_what_the_document_says() {
        let limits = limits();
        let (name, grants) = (PoolName::default(), PoolGrants::everyone());
        let pools = [SubmitPool { name, grants, executors: Vec::new() }];
        let user = PoolUser { tenant: TenantId::fresh(), plan: &PlanName::default() };
        let now = Timestamp::UNIX_EPOCH;
        let plan = PlanLimits::default();
        let links = Links::Stored;
        let rules = Rules { limits: &limits, pools: &pools, user, now, plan: &plan, links };
        let origin = Origin {
            tenant: TenantId::fresh(),
            key_id: String::new(),
            traceparent: String::new(),
            idempotency: None,
        };
        let spec: NewTask =
            serde_json::from_value(json!({"run": {"noop": {}}, "retry": {}})).unwrap();
        let task = rules.check(spec, String::new(), origin).unwrap();
        let shown = properties(&limits, "TaskSubmit");
        let is = |field: &str, value: Value| assert_eq!(shown[field]["default"], value, "{field}");
        is("delay_tolerance", format_duration(task.delay_tolerance).into());
        is("execution_cap", format_duration(task.execution_cap).into());
        is("max_attempts", task.max_attempts.into());
        assert_eq!((task.tier, shown["tier"].get("default")), (Some(Tier::Basic), None));
        is("expire_if_late", task.expire_if_late.into());
        is("priority", task.priority.level().into());
        is("delivery", task.delivery.as_str().into());
        is("pool", task.pool.as_str().into());
        assert_eq!(task.execution_cap, Duration::from_secs(77));
        let words = shown["execution_cap"]["description"].as_str().unwrap();
        assert!(
            words.ends_with("then it is killed. Default: \"1m17s\", at most \"24h\"."),
            "{words}"
        );
        assert_eq!(task.spec.retry, Some(RetryPolicy::default()));
    }

    #[test]
    fn the_sizes_of_the_tiers_are_said() {
        let json = serde_json::to_value(document(&limits())).unwrap();
        let words = json["components"]["schemas"]["Tier"]["description"].as_str().unwrap();
        for tier in Tier::ALL {
            let size = tier.resources();
            let said =
                format!("`{tier}`: {} millicores, {} MiB memory", size.cpu_millis, size.memory_mib);
            assert!(words.contains(&said), "{words}");
        }
    }
}
