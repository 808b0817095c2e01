//! When a schedule will be due: one that is stored, or a timing that is not.
//!
//! Nothing is stored, and due times are reckoned as for fires: on a thread that may take its time, few previews of a tenant at once, and as
//! far as some steps go.

use super::place::{name_in_path, no_such_schedule};
use crate::answer::{Answer, to_json};
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::{Query, json, time_parameter, wrong_parameter};
use crate::schedule::{Judged, judge, previewed};
use crate::task::{Findings, read};
use api_types::SchedulePreview;
use api_types::request::SchedulePreviewAsk;
use domain::schedule::{
    DueTime, MOST_PREVIEWED, Marks, Previewed, Source, Steps, Timing, TimingProblem, preview,
    upcoming,
};
use domain::time::Timestamp;
use runtime::clock::wall;
use store::schedule::ScheduleRecord;

/// Due times when nothing is said.
const USUAL: usize = 10;
/// Due times at most: one more says whether there are others.
const MOST: usize = MOST_PREVIEWED - 1;

/// The document's words for a schedule that is stored.
pub const STORED_DOC: Doc = Doc {
    summary: "Preview the due times of a schedule",
    description: "As stored, whether paused or not. If due times take long to compute, there may be fewer than `count`, with `more` \
                  true: continue after the last one.",
    query: &[
        Param {
            name: "count",
            text: "Due times, 1 to 999; default 10",
            form: Form::Whole { least: 1, most: 999, usual: Some(10) },
        },
        Param {
            name: "from",
            text: "After this time (RFC 3339); default: from the next one",
            form: Form::Time,
        },
    ],
    answers: &[AnswerDoc {
        status: 200,
        text: "The due times",
        content: Content::Json("SchedulePreview"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// The same for a timing that is not stored.
pub const TIMING_DOC: Doc = Doc {
    summary: "Preview the due times of a timing",
    description: "As if a schedule were created now; nothing is stored. If due times take long to compute, there may be fewer than \
                  `count`, with `more` true: continue after the last one.",
    request: Some("SchedulePreviewAsk"),
    answers: &[AnswerDoc {
        status: 200,
        text: "The due times",
        content: Content::Json("SchedulePreview"),
    }],
    ..Doc::EMPTY
};

/// Answers for a schedule that is stored.
///
/// # Errors
/// `not_found`; `invalid_parameter`; what the database said.
pub async fn stored(call: Call) -> Result<Answer<SchedulePreview>, Problem> {
    let name = name_in_path(&call)?;
    let mut query = call.query()?;
    let (count, from) = (count(&mut query)?, time_parameter(&mut query, "from")?);
    query.finish()?;
    let found = store::schedule::get(&call.state.api, &call.scope(), name).await?;
    let schedule = found.ok_or_else(no_such_schedule)?;
    let show = move || {
        let due = due(&schedule, from, count + 1);
        to_json(&previewed(&schedule.timing.zone, due, count)?)
    };
    let shown = call.state.computing.compute(call.caller.tenant(), show).await?;
    Ok(Answer::written(shown))
}

/// Answers for a timing.
///
/// # Errors
/// `validation_failed`; `too_many_at_once`.
pub async fn timing(call: Call) -> Result<Answer<SchedulePreview>, Problem> {
    call.query()?.finish()?;
    let (body, now) = (call.body.clone(), wall());
    let show = move || to_json(&shown(&body, now)?);
    let shown = call.state.computing.compute(call.caller.tenant(), show).await?;
    Ok(Answer::written(shown))
}

fn shown(body: &[u8], now: Timestamp) -> Result<SchedulePreview, Problem> {
    let spec: SchedulePreviewAsk = json::parse(body)?;
    let mut found = Findings::default();
    let judged = judge(&mut found, "/timing", spec.timing, now);
    let count = spec.count.unwrap_or(USUAL);
    if !(1..=MOST).contains(&count) {
        found.wrong("/count", format!("must be from 1 to {MOST}"));
    }
    let from = read(&mut found, "/from", spec.from).unwrap_or(now);
    if let Some(never) = judged.as_ref().and_then(|judged| judged.never.as_ref()) {
        found.wrong(&never.pointer, never.detail.clone());
    }
    for error in judged.iter().flat_map(|judged| &judged.refused) {
        found.wrong(&error.pointer, error.detail.clone());
    }
    found.into_result()?;
    // Where there is none, that was found.
    let Some(Judged { timing, .. }) = judged else {
        return Err(Problem::new(Code::Internal, Code::Internal.advice()));
    };
    let steps = Steps::new(Steps::OF_A_PREVIEW);
    let due = preview(&timing, (now, from), count + 1, steps).unwrap_or_else(|_| nothing(true));
    previewed(&timing.zone, due, count)
}

/// No due times, of all or of those that could be found.
fn nothing(is_cut: bool) -> Previewed {
    Previewed { due: Vec::new(), is_cut }
}

fn count(query: &mut Query) -> Result<usize, Problem> {
    let Some(text) = query.one("count")? else { return Ok(USUAL) };
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|count| plain && (1..=MOST).contains(count)).ok_or_else(|| {
        wrong_parameter("count", &format!("must be a whole number from 1 to {MOST}"))
    })
}

/// The due times that are fired next, those among them that came already and wait for their jitter.
fn next_fired(schedule: &ScheduleRecord, count: usize) -> Previewed {
    let reckoner = store::schedule::reckoner(schedule.id, &schedule.timing, schedule.created_at);
    let Some((next, reckoner)) = schedule.coming().zip(reckoner.ok()) else {
        return nothing(false);
    };
    let source = Source { reckoner: &reckoner, after: schedule.due_after(), until: None };
    let left = reckoner.max_fires().map_or(u64::MAX, |most| most.saturating_sub(schedule.fires));
    let most = count.min(usize::try_from(left).unwrap_or(usize::MAX));
    let steps = Steps::new(Steps::OF_A_PREVIEW);
    let mut found = upcoming((schedule.id, source), next, most, steps);
    // The last only says that there are others.
    let shown = found.due.len().min(count.saturating_sub(1));
    found.due[..shown].sort_unstable_by_key(|due| due.at);
    found
}

/// Due times of what is stored: from the next one on, which is not reckoned anew but as it will fire.
fn due(schedule: &ScheduleRecord, from: Option<Timestamp>, count: usize) -> Previewed {
    let next = schedule.next_at;
    if next.is_none() && from.is_none() {
        return nothing(false);
    }
    let since = from.unwrap_or(Timestamp::UNIX_EPOCH);
    // The others follow when its task has ended.
    if schedule.timing.is_fixed_delay() {
        let marks = Marks::default();
        let due = next.filter(|at| *at > since).map(|at| DueTime { at, marks });
        return Previewed { due: due.into_iter().collect(), is_cut: false };
    }
    let left = |most: u64| most.saturating_sub(schedule.fires);
    let timing =
        Timing { max_fires: schedule.timing.max_fires.map(left), ..schedule.timing.clone() };
    // It was reckoned with before, so that it can be.
    if timing.max_fires == Some(0) {
        return nothing(false);
    }
    if from.is_none() {
        return next_fired(schedule, count);
    }
    let steps = Steps::new(Steps::OF_A_PREVIEW);
    let found = preview(&timing, (schedule.created_at, since), count, steps);
    found.unwrap_or_else(|error| nothing(error.problem == TimingProblem::TooIntricate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_from_1_to_999_and_10_when_left_out() {
        let of = |text: &str| count(&mut Query::parse(text).unwrap());
        assert_eq!(of("").unwrap(), 10);
        assert_eq!(of("count=1").unwrap(), 1);
        assert_eq!(of("count=999").unwrap(), 999);
        for bad in ["0", "1000", "-1", "%2B5", "ten", ""] {
            let error = of(&format!("count={bad}")).unwrap_err();
            assert_eq!(error.errors()[0].pointer, "query:count", "{bad}");
        }
    }
}
