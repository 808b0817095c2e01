//! Brings objects into the form of the server, by the code of the server, and finds what is wrong with them.
//!
//! What fields mean that are left out is asked of the server: each installation has its own defaults. What only the server can know, such as
//! which pools there are, is not checked here.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::kind::Kind;
use crate::failure::Failure;
use api::problem::{Code, FieldError, Problem};
use api::request::json;
use api::schedule::NormalSchedule;
use api::task::OfflineRules;
use client::RawJson;
use client::request::{ConcurrencyLimitPut, UserPut};
use domain::plan::PlanLimits;
use domain::time::{Timestamp, parse_duration};
use domain::workflow::Plan;
use runtime::clock;
use runtime::config::LimitsConfig;
use serde_json::{Value, json};
use std::time::Duration;

/// The most that any installation can be set to.
const LONGEST: Duration = Duration::from_secs(8760 * 3600);
const MOST_ATTEMPTS: u32 = 1000;
const MOST_ENV_ENTRIES: usize = 4096;
const MOST_ARGV: usize = 65_536;
const MOST_BYTES: usize = 4_000_000;

/// An object without mistakes.
#[derive(Debug, Clone)]
pub(super) struct Normal {
    /// As the server shows it.
    pub value: Value,
    /// What is sent.
    pub body: RawJson,
    /// Of a workflow, what its runs are made of.
    pub plan: Option<Plan>,
    /// A mistake unless the whole object is stored so.
    pub never: Option<FieldError>,
    /// Mistakes unless the timing is stored so.
    pub refused: Vec<FieldError>,
}

/// What is known of the installation and the plan.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    limits: LimitsConfig,
    plan: PlanLimits,
    now: Timestamp,
}

impl Rules {
    /// Those of the server.
    pub async fn of_server(connection: &Connection) -> Result<Self, Failure> {
        let document = connection.client.openapi().await.map_err(|error| failure(&error))?;
        let mut rules = Self::lenient()?;
        rules.set_defaults(&document);
        // A key that may not read usage gets the default of plans.
        match connection.client.limits().await {
            Ok(limits) => rules.plan.flexible = limits.flexible,
            Err(error) if error.api().is_some_and(|problem| problem.status == 403) => {}
            Err(error) => return Err(failure(&error)),
        }
        Ok(rules)
    }

    /// Those of an installation that allows as much as any can.
    pub fn lenient() -> Result<Self, Failure> {
        let mut limits = runtime::config::load_from(None, [])?.limits;
        (limits.max_execution_cap, limits.max_delay_tolerance) = (LONGEST, LONGEST);
        limits.max_attempts = MOST_ATTEMPTS;
        (limits.max_env_entries, limits.max_argv) = (MOST_ENV_ENTRIES, MOST_ARGV);
        Ok(Self { limits, plan: PlanLimits::default(), now: clock::wall() })
    }

    /// Takes over the defaults that the OpenAPI document of an installation names.
    fn set_defaults(&mut self, document: &Value) {
        let of = |field: &str| {
            document.pointer(&format!("/components/schemas/TaskSubmit/properties/{field}/default"))
        };
        let span =
            |field| of(field).and_then(Value::as_str).and_then(|text| parse_duration(text).ok());
        let limits = &mut self.limits;
        limits.default_execution_cap =
            span("execution_cap").unwrap_or(limits.default_execution_cap);
        limits.default_delay_tolerance =
            span("delay_tolerance").unwrap_or(limits.default_delay_tolerance);
        let attempts = of("max_attempts").and_then(Value::as_u64);
        limits.default_max_attempts = attempts
            .and_then(|attempts| attempts.try_into().ok())
            .unwrap_or(limits.default_max_attempts);
    }

    /// The form in which the server shows `body`, or all that is wrong with it.
    pub fn normal(&self, kind: Kind, body: RawJson) -> Result<Normal, Vec<FieldError>> {
        let text = body.as_str().as_bytes();
        let rules = OfflineRules { limits: &self.limits, plan: &self.plan, now: self.now };
        let made = match kind {
            Kind::Schedule => api::schedule::check_offline(text, &rules).map(
                |NormalSchedule { fields, never, refused }| {
                    let value = Value::Object(fields);
                    Normal { value, plan: None, never, refused, body: body.clone() }
                },
            ),
            Kind::Workflow => {
                api::workflow::check_offline(text, &rules, MOST_BYTES).map(|checked| Normal {
                    plan: Some(checked.plan),
                    ..plain(serde_json::from_slice(text).unwrap_or_default(), &body)
                })
            }
            Kind::ConcurrencyLimit => {
                json::parse(text).and_then(|ConcurrencyLimitPut { running }| {
                    if running > 1_000_000 {
                        let detail = "must be from 0 to 1000000";
                        return Err(Problem::at(Code::ValidationFailed, "/running", detail));
                    }
                    Ok(plain(json!({"running": running}), &body))
                })
            }
            Kind::User => json::parse(text)
                .map(|UserPut { role }| plain(json!({"role": role.as_str()}), &body)),
        };
        made.map_err(|problem| mistakes(&problem))
    }

    /// What runs of a stored definition are made of; `None` where this version cannot read it.
    pub fn plan(&self, definition: &str) -> Option<Plan> {
        let body = RawJson::parse(definition)?;
        self.normal(Kind::Workflow, body).ok()?.plan
    }
}

fn plain(value: Value, body: &RawJson) -> Normal {
    Normal { value, body: body.clone(), plan: None, never: None, refused: Vec::new() }
}

fn mistakes(problem: &Problem) -> Vec<FieldError> {
    if problem.errors().is_empty() {
        let detail = problem.detail().to_owned();
        return vec![FieldError { pointer: String::new(), detail }];
    }
    problem.errors().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(kind: Kind, body: &Value) -> Result<Normal, Vec<FieldError>> {
        let mut rules = Rules::lenient().unwrap();
        rules.set_defaults(&json!({"components": {"schemas": {"TaskSubmit": {"properties": {
            "execution_cap": {"default": "77s"}, "max_attempts": {"default": 4}}}}}}));
        rules.normal(kind, RawJson::parse(&body.to_string()).unwrap())
    }

    #[test]
    fn a_schedule_gets_the_defaults_of_the_installation_in_the_form_of_the_server() {
        let given = json!({"timing": {"specs": [{"every": {"every": "90s"}}]}, "task": {"run": {"noop": {}}, "pool": "gpu"}});
        let value = normal(Kind::Schedule, &given).unwrap().value;
        assert_eq!(value["timing"]["specs"][0]["every"]["every"], "1m30s");
        assert_eq!(value["task"]["execution_cap"], "1m17s");
        assert_eq!(value["task"]["max_attempts"], 4);
        assert_eq!((&value["overlap"], &value["task"]["pool"]), (&json!("skip"), &json!("gpu")));
        assert_eq!(value.get("paused"), None);
        // Its own form is a fixed point.
        assert_eq!(normal(Kind::Schedule, &value).unwrap().value, value);
    }

    #[test]
    fn the_plan_of_a_workflow_has_one_form_for_equal_durations() {
        let of = |cap: &str| {
            let task = json!({"run": {"noop": {}}, "execution_cap": cap});
            normal(Kind::Workflow, &json!({"nodes": {"a": {"task": task}}})).unwrap().plan
        };
        assert!(of("90s").is_some());
        assert_eq!(of("90s"), of("1m30s"));
        assert_ne!(of("90s"), of("91s"));
    }

    #[test]
    fn what_is_wrong_has_its_pointer() {
        let pointers = |kind, body: Value| {
            let mistakes = normal(kind, &body).unwrap_err();
            mistakes.into_iter().map(|mistake| mistake.pointer).collect::<Vec<_>>()
        };
        let timing = json!({"specs": [{"cron": "@daily"}], "zone": "Mars/Olympus"});
        let bad = json!({"timing": timing, "task": {"run": {"noop": {}}, "execution_cap": "soon"}});
        assert_eq!(pointers(Kind::Schedule, bad), ["/timing/zone", "/task/execution_cap"]);
        assert_eq!(pointers(Kind::Workflow, json!({"nodes": {}})), ["/nodes"]);
        assert_eq!(pointers(Kind::ConcurrencyLimit, json!({"running": 1_000_001})), ["/running"]);
        assert_eq!(pointers(Kind::ConcurrencyLimit, json!({"runing": 1})), ["/runing"]);
        assert_eq!(pointers(Kind::User, json!({"role": "king"})), ["/role"]);
        let over = json!({"timing": {"specs": [{"at": "2020-01-01T00:00:00Z"}]}, "task": {"run": {"noop": {}}}});
        assert!(
            normal(Kind::Schedule, &over).unwrap().never.is_some(),
            "a mistake unless it is stored so"
        );
    }
}
