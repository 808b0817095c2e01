//! `POST /v1/schedules/{name}/backfill`: fire the due times of a past range that made no task, at a pace.
//!
//! Asking twice does no harm: due times that have made a task by then are not among those that will.

use super::place::{name_in_path, no_such_schedule, run_now, unavailable};
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::{Findings, read, usable};
use api_types::ScheduleBackfillPlan;
use api_types::request::{Given, ScheduleBackfill};
use bus::Topic;
use domain::schedule::FireTemplate;
use domain::time::Timestamp;
use runtime::clock::wall;
use store::schedule::{Backfill, BackfillAnswer, BackfillPlan, MOST_BACKFILLED};

/// Tasks a second, when nothing is said.
const USUAL_RATE: f64 = 10.0;
/// The least and the most of them.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Fire the due times of a past range that created no task and started no run",
    description: "Works for paused schedules and ignores the overlap policy. At most 10000 due times, and one backfill per schedule \
                  at a time.",
    request: Some("ScheduleBackfill"),
    answers: &[
        AnswerDoc {
            status: 202,
            text: "The backfill that was started",
            content: Content::Json("ScheduleBackfillPlan"),
        },
        AnswerDoc {
            status: 200,
            text: "The plan (`dry_run`)",
            content: Content::Json("ScheduleBackfillPlan"),
        },
    ],
    problems: &[Code::NotFound, Code::Conflict, Code::TenantSuspended],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`; `not_found`; `conflict` while another is not done, or where its pool is none; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<ScheduleBackfillPlan>, Problem> {
    call.caller.require_active()?;
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    let backfill = checked(json::parse(&call.body)?, wall())?;
    repeatable(&call, async || begin(&call, name, backfill).await).await
}

async fn begin(
    call: &Call,
    name: &str,
    backfill: Backfill,
) -> Result<Answer<ScheduleBackfillPlan>, Problem> {
    let (db, scope) = (&call.state.api, call.scope());
    let key_id = call.caller.actor().to_string();
    let found = store::schedule::get(db, &scope, name).await?.ok_or_else(no_such_schedule)?;
    // What cannot be made later on makes it wait.
    match &found.template {
        FireTemplate::Task(task) => {
            let pool = &task.pool;
            let pools = call.state.pools.current().await?;
            if usable(&pools, call.caller.pool_user(), pool.as_str()).is_none() {
                return Err(unavailable(pool));
            }
        }
        FireTemplate::Workflow(start) => drop(run_now(call, start).await?),
    }
    // Its due times may take long to find.
    let _turn = call.state.computing.take(call.caller.tenant()).await?;
    match store::schedule::backfill(db, &scope, name, backfill, &key_id).await? {
        BackfillAnswer::Planned(BackfillPlan { due, to_fire, span }) => {
            let Backfill { dry_run, per_second, .. } = backfill;
            let (first, last) = span.unzip();
            let view = ScheduleBackfillPlan { due, to_fire, first, last, per_second, dry_run };
            if dry_run {
                return Ok(Answer::ok(view));
            }
            call.state.bus.wake(Topic::ShardOwner);
            Ok(Answer::accepted(view))
        }
        BackfillAnswer::TooMany => {
            let detail = format!(
                "makes a range of more than {MOST_BACKFILLED} due times, or one that takes too long to compute; use a shorter \
                 range"
            );
            Err(Problem::at(Code::ValidationFailed, "/to", detail))
        }
        BackfillAnswer::Busy => {
            let detail = "Another backfill of this schedule is running; wait for its end.";
            Err(Problem::new(Code::Conflict, detail))
        }
        BackfillAnswer::NotFound => Err(no_such_schedule()),
    }
}

fn checked(spec: ScheduleBackfill, now: Timestamp) -> Result<Backfill, Problem> {
    let mut found = Findings::default();
    let mut bound = |pointer, given: Option<Given<Timestamp>>| {
        if given.is_none() {
            found.wrong(pointer, "is required");
        }
        read(&mut found, pointer, given)
    };
    let (from, to) = (bound("/from", spec.from), bound("/to", spec.to));
    if from.zip(to).is_some_and(|(from, to)| from >= to) {
        found.wrong("/to", "must be after `from`");
    } else if to.is_some_and(|to| to > now) {
        found.wrong("/to", "must not be in the future");
    }
    let per_second = spec.per_second.unwrap_or(USUAL_RATE);
    if !RATES.contains(&per_second) {
        found.wrong("/per_second", format!("must be from {} to {}", RATES.start(), RATES.end()));
    }
    found.into_result()?;
    let [from, to] = [from, to].map(Option::unwrap_or_default);
    Ok(Backfill { from, to, dry_run: spec.dry_run.unwrap_or(false), per_second })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_range_is_in_the_past_and_has_a_pace() {
        let now = "2027-01-02T00:00:00Z".parse().unwrap();
        let of = |body: Value| {
            let spec = json::parse(body.to_string().as_bytes()).unwrap();
            checked(spec, now).map_err(|problem| {
                problem.errors().iter().map(|error| error.pointer.clone()).collect::<Vec<_>>()
            })
        };
        let (from, to) = ("2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z");
        let usual = of(json!({"from": from, "to": to})).unwrap();
        assert_eq!((usual.dry_run, usual.per_second), (false, 10.0));
        assert_eq!(usual.to, now);
        assert_eq!(of(json!({})).unwrap_err(), ["/from", "/to"]);
        assert_eq!(
            of(json!({"from": to, "to": from, "per_second": 0})).unwrap_err(),
            ["/to", "/per_second"]
        );
        assert_eq!(of(json!({"from": from, "to": "2027-01-02T00:00:01Z"})).unwrap_err(), ["/to"]);
        assert_eq!(
            of(json!({"from": "now", "to": to, "per_second": 1001})).unwrap_err(),
            ["/from", "/per_second"]
        );
    }
}
