//! Prices a month of a schedule: one that is stored, or one that is sent.

use super::month::{Coming, CountedMonth, count, read, usual};
use super::subject::{Item, Start, Subject};
use super::workflow::{items, to_price};
use crate::call::Call;
use crate::problem::{Code, Problem};
use crate::routes::schedules::{
    LookedAt, MAX_NAME, is_name, is_stored, look, never_fires, no_such_schedule, run_now,
};
use actix_web::web::Bytes;
use chrono::TimeDelta;
use domain::invoice::{BillingZone, Period};
use domain::schedule::{FireTemplate, Reckoner, Steps, Timing};
use domain::spend::CapPeriod;
use domain::time::Timestamp;
use domain::workflow::{NodeTasks, Plan};
use std::collections::BTreeSet;
use store::quote::{Like, QuoteTerms};

/// Which schedule, and for which month.
pub(super) struct Asked {
    pub schedule: Option<Bytes>,
    pub name: Option<String>,
    pub month: Option<String>,
}

/// A schedule that is priced.
struct Priced {
    timing: Timing,
    created_at: Timestamp,
    after: Timestamp,
    left: Option<u64>,
    template: FireTemplate,
    plan: Option<Plan>,
    /// Of the schedule of this name, where it is stored.
    id: Option<String>,
    /// Of one that is stored and not sent: when it is due next, unless it is paused.
    next: Option<Option<Timestamp>>,
}

/// What a month of a schedule is priced by.
///
/// # Errors
/// Those of its put; `not_found` for one of no such name; `conflict` where it can start no run now; what the database said.
pub(super) async fn schedule(
    call: &Call,
    asked: Asked,
    terms: &QuoteTerms,
) -> Result<Subject, Problem> {
    let Asked { schedule, name, month } = asked;
    let wrong =
        |pointer: &str, detail: String| Problem::at(Code::ValidationFailed, pointer, detail);
    if name.as_deref().is_some_and(|name| !is_name(name)) {
        let detail = format!(
            "must have 1 to {MAX_NAME} of a-z A-Z 0-9 _ . -, begin with a letter or digit, and not be `preview`"
        );
        return Err(wrong("/schedule_name", detail));
    }
    let period = match &month {
        None => None,
        Some(text) => Some(read(text, &terms.zone, terms.now).ok_or_else(|| {
            let detail = "must be the present month or one of the next 120, such as 2030-03";
            wrong("/month", detail.to_owned())
        })?),
    };
    let priced = match (schedule, name.as_deref()) {
        (Some(body), name) => sent(call, body, (name, terms.now))
            .await
            .map_err(|problem| problem.below("/schedule"))?,
        (None, Some(name)) => stored(call, name).await?,
        (None, None) => return Err(no_such_schedule()),
    };
    let items = match (&priced.plan, priced.template.task()) {
        (Some(plan), _) => items(call, plan, true),
        (None, Some(task)) => vec![Item {
            name: task.name.clone(),
            task: to_price(task, true),
            tasks: NodeTasks::Known(1),
            labels: task.labels.clone(),
        }],
        (None, None) => Vec::new(),
    };
    let like = match (&priced.id, priced.template.workflow()) {
        (Some(id), _) => Some(Like::Schedule(id.clone())),
        (None, Some(start)) => Some(Like::Workflow(start.workflow.clone())),
        (None, None) => None,
    };
    let zones = day_zones(call).await?;
    let (zone, now) = (terms.zone.clone(), terms.now);
    let counted = move || counted(&priced, (period, zone), zones, now);
    let (month, next) = call.state.computing.compute(call.caller.tenant(), counted).await?;
    let start = next.map_or(Start::Unknown("It is not due any more, or it is paused."), Start::Due);
    let rejected = Vec::new();
    let (month, is_gathered) = (Some(month), false);
    Ok(Subject { items, schedule: name, like, month, rejected, start, is_gathered })
}

/// The zones of the tenant's spend caps by day.
async fn day_zones(call: &Call) -> Result<Vec<String>, Problem> {
    let caps = store::spend_cap::list(&call.state.api, &call.scope()).await?;
    let by_day = caps.into_iter().filter(|cap| cap.cap.period == CapPeriod::Day);
    let zones: BTreeSet<String> = by_day.map(|cap| cap.cap.zone).collect();
    Ok(zones.into_iter().collect())
}

async fn sent(
    call: &Call,
    body: Bytes,
    (name, now): (Option<&str>, Timestamp),
) -> Result<Priced, Problem> {
    let most = call.state.task_limit(Some(call.caller.limits()));
    if body.len() > most.bytes {
        return Err(Problem::at(Code::PayloadTooLarge, "", most.refuses(Some(body.len()))));
    }
    let LookedAt { checked, plan, .. } = look(call, body, name).await?;
    // One that is over may be put again as it is.
    if checked.never.is_some() && !is_stored(call, name, &checked.timing).await? {
        return Err(never_fires(checked.never));
    }
    let id = match name {
        Some(name) => store::schedule::find_id(&call.state.api, &call.scope(), name).await?,
        None => None,
    };
    Ok(Priced {
        left: checked.timing.max_fires,
        timing: checked.timing,
        created_at: now,
        after: now,
        template: checked.template,
        plan,
        id: id.map(|id| id.uuid().to_string()),
        next: None,
    })
}

async fn stored(call: &Call, name: &str) -> Result<Priced, Problem> {
    let found = store::schedule::get(&call.state.api, &call.scope(), name).await?;
    let record = found.ok_or_else(|| no_such_schedule().called(name))?;
    let plan = match record.template.workflow() {
        Some(start) => Some(run_now(call, start).await?.1),
        None => None,
    };
    let left = record.timing.max_fires.map(|most| most.saturating_sub(record.fires));
    // Of a limited number those that are fired do not count again.
    let next_only = record.next_at.unwrap_or(Timestamp::MAX_UTC) - TimeDelta::microseconds(1);
    let after = if left.is_some() { next_only } else { record.due_after() };
    Ok(Priced {
        created_at: record.created_at,
        after,
        left,
        plan,
        id: Some(record.id.uuid().to_string()),
        next: Some(record.next_at.filter(|_| record.paused.is_none())),
        timing: record.timing,
        template: record.template,
    })
}

fn counted(
    priced: &Priced,
    (period, zone): (Option<Period>, BillingZone),
    zones: Vec<String>,
    now: Timestamp,
) -> Result<(CountedMonth, Option<Timestamp>), Problem> {
    let reckoner = Reckoner::stored(&priced.timing, priced.created_at)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))?;
    let coming = Coming { reckoner: &reckoner, after: priced.after, left: priced.left };
    let period = period.unwrap_or_else(|| usual(&coming, &zone, now));
    let month = count(&coming, period, zones, now);
    let steps = Steps::new(Steps::OF_A_PREVIEW);
    let next = match priced.next {
        Some(next) => next,
        None => reckoner.next_within(now, &steps).map(|due| due.at),
    };
    Ok((month, next))
}
