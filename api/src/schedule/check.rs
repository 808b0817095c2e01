//! From what a client sent to a schedule that can be stored, or everything that is wrong with it.

use super::timing::{Judged, judge};
use crate::problem::{Code, FieldError, Problem};
use crate::task::{Findings, Links, Origin, Rules, duration};
use api_types::request as body;
use domain::schedule::{
    FailureStreak, FireTemplate, Misfire, Overlap, TaskTemplate, Timing, WorkflowStart,
};
use domain::time::Timestamp;
use domain::workflow::MAX_INPUT;
use serde_json::Value;
use std::time::Duration;
use store::task::submit::NewTask;

/// The task of a schedule stands alone.
pub const NO_PARENTS: Links<'static> =
    Links::None("is not allowed: a task of a schedule cannot wait for others");
/// Where the task stands in the body.
const TASK: &str = "/task";
/// Where the workflow stands in the body.
pub const WORKFLOW: &str = "/workflow";
/// The oldest due time that may be caught up with.
const MOST_AGE: Duration = Duration::from_secs(366 * 24 * 3600);

/// A schedule of which nothing is wrong in itself.
#[derive(Debug)]
pub struct Checked {
    /// Its timing.
    pub timing: Timing,
    /// It is not due from now on, which is a mistake unless it is stored so already.
    pub never: Option<FieldError>,
    /// What a new timing may not have, which is a mistake unless it is stored so already.
    pub refused: Vec<FieldError>,
    /// What each fire makes.
    pub template: FireTemplate,
    /// What it does while earlier tasks live.
    pub overlap: Overlap,
    /// Misfire policy.
    pub misfire: Misfire,
    /// Paused when so many of its tasks in a row have not succeeded; `None`: never.
    pub pause_after_failures: Option<u32>,
    /// Paused, not paused, or as it is.
    pub paused: Option<bool>,
}

/// Checks `spec`, the whole body.
///
/// # Errors
/// `validation_failed` or `not_available`, with all that was found.
pub fn check(
    spec: body::NewSchedule,
    rules: &Rules<'_>,
    origin: Origin,
    now: Timestamp,
) -> Result<Checked, Problem> {
    let mut found = Findings::default();
    let judged = judge(&mut found, "/timing", spec.timing, now);
    let overlap = spec.overlap.unwrap_or_default();
    let template = match (spec.task, spec.workflow) {
        (Some(task), None) => look_at_task(&mut found, rules, (task, overlap), origin)
            .map(|task| template(task).into()),
        (None, Some(workflow)) => {
            look_at_workflow(&mut found, workflow, (overlap, spec.misfire.as_ref()))
                .map(FireTemplate::Workflow)
        }
        (Some(_), Some(_)) => {
            found.wrong(WORKFLOW, "cannot be combined with `task`");
            None
        }
        (None, None) => {
            found.wrong(TASK, "is required, or `workflow`");
            None
        }
    };
    let misfire = spec.misfire.map(|misfire| read_misfire(&mut found, misfire));
    if spec.pause_after_failures.is_some_and(|n| !(1..=FailureStreak::MOST).contains(&n)) {
        let detail = format!("must be 1 to {}; omit it for never", FailureStreak::MOST);
        found.wrong("/pause_after_failures", detail);
    }
    // Where something else is wrong all is told at once.
    if !found.is_empty() {
        for error in judged.iter().flat_map(|judged| &judged.refused) {
            found.wrong(&error.pointer, error.detail.clone());
        }
    }
    found.into_result()?;
    // Where one of them is missing that was found, too.
    let (Some(Judged { timing, never, refused }), Some(template)) = (judged, template) else {
        return Err(Problem::new(Code::Internal, Code::Internal.advice()));
    };
    Ok(Checked {
        misfire: misfire.unwrap_or_else(|| Misfire::usual(&timing)),
        template,
        timing,
        never,
        refused,
        overlap,
        pause_after_failures: spec.pause_after_failures,
        paused: spec.paused,
    })
}

fn look_at_task(
    found: &mut Findings,
    rules: &Rules<'_>,
    (task, overlap): (body::NewTask, Overlap),
    origin: Origin,
) -> Option<NewTask> {
    let mut own = Findings::new(TASK.to_owned());
    for (pointer, given) in [("/delay", task.delay.is_some()), ("/run_at", task.run_at.is_some())] {
        if given {
            own.wrong(pointer, "is not allowed: the schedule defines the time");
        }
    }
    if overlap.is_buffered() && task.concurrency_key.is_some() {
        let detail = format!(
            "cannot be combined with the overlap `{overlap}`, which uses a key of the schedule"
        );
        own.wrong("/concurrency_key", detail);
    }
    let task = rules.look(&mut own, body::NewTask { delay: None, run_at: None, ..task }, origin);
    found.join(own);
    task
}

/// Whether the tenant has such a workflow, and it can run with this input, is not checked here.
fn look_at_workflow(
    found: &mut Findings,
    workflow: body::ScheduleWorkflow,
    (overlap, misfire): (Overlap, Option<&body::Misfire>),
) -> Option<WorkflowStart> {
    if workflow.name.is_none() {
        found.wrong(&format!("{WORKFLOW}/name"), "is required");
    }
    let input = workflow.input.as_ref().map(Value::to_string);
    if input.as_ref().is_some_and(|input| input.len() > MAX_INPUT) {
        let detail = format!("must have {MAX_INPUT} bytes at most");
        found.wrong(&format!("{WORKFLOW}/input"), detail);
    }
    if overlap.is_buffered() {
        let detail =
            format!("`{overlap}` is not possible with `workflow`: use skip, cancel_other or allow");
        found.wrong("/overlap", detail);
    }
    if matches!(misfire, Some(body::Misfire::CatchUp(catch_up)) if catch_up.per_second.is_some()) {
        found.wrong("/misfire/catch_up/per_second", "is not possible with `workflow`");
    }
    Some(WorkflowStart { workflow: workflow.name?, input })
}

fn read_misfire(found: &mut Findings, spec: body::Misfire) -> Misfire {
    match spec {
        body::Misfire::FireNow => Misfire::FireNow,
        body::Misfire::FireNextSoon => Misfire::FireNextSoon,
        body::Misfire::Skip => Misfire::Skip,
        body::Misfire::CatchUp(body::CatchUp { count, max_age, per_second }) => {
            let most = Misfire::MOST_CAUGHT_UP;
            let at = |field: &str| format!("/misfire/catch_up/{field}");
            if !count.is_some_and(|count| (1..=most).contains(&count)) {
                found.wrong(&at("count"), format!("must be given, from 1 to {most}"));
            }
            if per_second == Some(0) {
                found.wrong(&at("per_second"), "must be 1 or more");
            }
            if max_age.is_none() {
                found.wrong(&at("max_age"), "is required");
            }
            let range = Duration::from_secs(1)..=MOST_AGE;
            let max_age = duration(found, &at("max_age"), max_age, range, MOST_AGE);
            Misfire::CatchUp { count: count.unwrap_or(1), max_age, per_second }
        }
    }
}

/// What every fire's task has in common with the one that was checked.
pub(crate) fn template(task: NewTask) -> TaskTemplate {
    TaskTemplate {
        name: task.name,
        pool: task.pool,
        tier: task.tier,
        resources: task.resources,
        run: task.spec.run,
        delay_tolerance: task.delay_tolerance,
        execution_cap: task.execution_cap,
        expire_if_late: task.expire_if_late,
        priority: task.priority,
        flexible: task.flexible,
        concurrency_key: task.concurrency_key.map(|key| key.to_string()),
        max_attempts: task.max_attempts,
        retry: task.spec.retry,
        delivery: task.delivery,
        unique_key: task.unique_key,
        labels: task.spec.labels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{PlanName, PoolName, TenantId};
    use domain::plan::PlanLimits;
    use domain::pool::{PoolGrants, PoolUser};
    use runtime::config::load_from;
    use serde_json::{Value, json};
    use store::pool::SubmitPool;

    fn checked(body: Value) -> Result<Checked, Problem> {
        let config = load_from(None, []).unwrap();
        let now = "2027-01-01T00:00:00Z".parse().unwrap();
        let (name, grants) = (PoolName::default(), PoolGrants::everyone());
        let pools = [SubmitPool { name, grants, executors: Vec::new() }];
        let user = PoolUser { tenant: TenantId::fresh(), plan: &PlanName::default() };
        let plan = PlanLimits::default();
        let links = NO_PARENTS;
        let rules = Rules { limits: &config.limits, pools: &pools, user, now, plan: &plan, links };
        let origin = Origin {
            tenant: TenantId::fresh(),
            key_id: "k".to_owned(),
            traceparent: String::new(),
            idempotency: None,
        };
        check(crate::request::json::parse(body.to_string().as_bytes())?, &rules, origin, now)
    }

    fn pointers(body: Value) -> Vec<String> {
        let problem = checked(body).unwrap_err();
        problem.errors().iter().map(|error| error.pointer.clone()).collect()
    }

    #[test]
    fn what_is_left_out_has_a_default_that_fits_the_timing() {
        let of = |timing: Value| checked(json!({"timing": timing, "task": {"run": {"noop": {}}}}));
        let recurring = of(json!({"specs": [{"cron": "@daily"}]})).unwrap();
        assert_eq!(recurring.misfire, Misfire::FireNextSoon);
        assert_eq!((recurring.overlap, recurring.paused), (Overlap::Skip, None));
        assert_eq!(recurring.timing.zone, "UTC");
        assert_eq!(recurring.template.task().unwrap().max_attempts, 1);
        let once = of(json!({"specs": [{"after": "10m"}]})).unwrap();
        assert_eq!(once.misfire, Misfire::FireNow);
    }

    #[test]
    fn mistakes_of_timing_task_and_policies_are_told_together() {
        assert_eq!(pointers(json!({})), ["/timing", "/task"]);
        let found = pointers(json!({
            "timing": {"specs": [{"cron": "61 * * * *"}], "zone": "Mars/Olympus"},
            "task": {"name": "", "delay": "1s", "run_at": "2030-01-01T00:00:00Z", "concurrency_key": "k", "pool": "none"},
            "overlap": "buffer_all",
            "pause_after_failures": 0,
            "misfire": {"catch_up": {"count": 0, "per_second": 0}}}));
        for place in [
            "/timing/specs/0/cron",
            "/timing/zone",
            "/task/name",
            "/task/delay",
            "/task/run_at",
            "/task/concurrency_key",
            "/task/pool",
            "/task/run",
            "/pause_after_failures",
            "/misfire/catch_up/count",
            "/misfire/catch_up/max_age",
            "/misfire/catch_up/per_second",
        ] {
            assert!(found.contains(&place.to_owned()), "{place}: {found:?}");
        }
    }

    #[test]
    fn a_workflow_is_named_with_an_input_and_policies_that_runs_can_have() {
        let daily = json!({"specs": [{"daily": {"at": ["09:00"]}}]});
        let of = |body: Value| {
            let mut whole = json!({"timing": daily});
            whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            whole
        };
        let input = json!({"a": [1, null]});
        let given =
            of(json!({"workflow": {"name": "nightly", "input": input}, "overlap": "cancel_other",
            "misfire": {"catch_up": {"count": 3, "max_age": "1h"}}, "pause_after_failures": 3}));
        let start = checked(given).unwrap().template.workflow().unwrap().clone();
        assert_eq!(
            (start.workflow.as_str(), start.input.as_deref()),
            ("nightly", Some("{\"a\":[1,null]}"))
        );
        let none = checked(of(json!({"workflow": {"name": "nightly"}}))).unwrap().template;
        assert_eq!(none.workflow().unwrap().input, None);
        let task = json!({"run": {"noop": {}}});
        for (body, wanted) in [
            (json!({"workflow": {"name": "a"}, "task": task}), vec!["/workflow"]),
            (json!({"workflow": {}, "overlap": "buffer_one"}), vec!["/workflow/name", "/overlap"]),
            (
                json!({"workflow": {"name": "a", "input": "x".repeat(MAX_INPUT)}}),
                vec!["/workflow/input"],
            ),
            (json!({"workflow": {"name": "a", "version": 1}}), vec!["/workflow/version"]),
            (json!({"workflow": {"name": "a"}, "overlap": "buffer_all"}), vec!["/overlap"]),
            (
                json!({"workflow": {"name": "a"}, "misfire": {"catch_up": {"count": 1, "max_age": "1h", "per_second": 1}}}),
                vec!["/misfire/catch_up/per_second"],
            ),
        ] {
            assert_eq!(pointers(of(body.clone())), wanted, "{wanted:?}");
        }
    }

    #[test]
    fn what_no_type_has_is_refused_where_it_stands() {
        let task = json!({"run": {"noop": {}}});
        let daily = json!({"specs": [{"daily": {"at": ["09:00"]}}]});
        for (body, pointer) in [
            (json!({"timing": daily, "task": task, "overlap": "queue"}), "/overlap"),
            (json!({"timing": daily, "task": task, "when": 1}), "/when"),
            (
                json!({"timing": {"specs": [{"daily": {"at": "09:00"}}]}, "task": task}),
                "/timing/specs/0/daily/at",
            ),
            (
                json!({"timing": {"specs": [{"hourly": {}}]}, "task": task}),
                "/timing/specs/0/hourly",
            ),
            (json!({"timing": {"specs": [], "tz": "UTC"}, "task": task}), "/timing/tz"),
            (
                json!({"timing": daily, "task": task, "misfire": {"catch_up": {"n": 1}}}),
                "/misfire/catch_up/n",
            ),
            (
                json!({"timing": daily, "task": {"run": {"noop": {}}, "depends_on": ["a"]}}),
                "/task/depends_on",
            ),
        ] {
            assert_eq!(pointers(body.clone()), [pointer], "{body}");
        }
    }
}
