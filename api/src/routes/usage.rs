//! `GET /v1/usage`: what was used, in integers.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::Query;
use api_types::{Extensible, Usage, UsageAmounts, UsageOfStep};
use chrono::{Datelike, Days, Months, NaiveDate, NaiveTime};
use domain::time::Timestamp;
use std::collections::BTreeMap;
use store::cost::{CostQuery, CostRow, Group, MOST_ROWS, Step};

/// Days of one answer.
const MAX_DAYS: i64 = 366;

/// How usage and costs are asked for.
pub(in crate::routes) const QUERY: [Param; 4] = [
    Param { name: "from", text: "First day, such as 2030-01-31", form: Form::Day },
    Param { name: "to", text: "Last day, inclusive; at most 366 days", form: Form::Day },
    Param {
        name: "step",
        text: "How long each row is; default `day`",
        form: Form::OneOf(&["hour", "day", "month"]),
    },
    Param {
        name: "group_by",
        text: "`tier` (default), `schedule`, `workflow`, or `label:` and the key of a label",
        form: Form::Pattern("^(tier|schedule|workflow|label:.+)$"),
    },
];

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Usage by day and tier",
    description: "Days are UTC, by the end of the attempt. Default: this month. An attempt is counted within five seconds of its end.",
    query: &QUERY,
    answers: &[AnswerDoc { status: 200, text: "The usage", content: Content::Json("Usage") }],
    problems: &[Code::InvalidParameter],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`read`].
pub async fn handle(call: Call) -> Result<Answer<Usage>, Problem> {
    Ok(Answer::ok(read(&call).await?))
}

/// The usage.
///
/// # Errors
/// `invalid_parameter` for a bad range, step or group, and where there would be too many rows; what the database said.
pub async fn read(call: &Call) -> Result<Usage, Problem> {
    let Asked { from, to, rows, is_by_tier } = rows(call).await?;
    let counted_until = store::rollup::counted_until(&call.state.api).await?;
    let mut steps = BTreeMap::<_, UsageAmounts>::new();
    let mut total = UsageAmounts::default();
    // Prices of several currencies may have held.
    for row in &rows {
        let key = (row.starts_at, row.others, row.group.clone());
        steps.entry(key).or_default().add(amounts(row));
        total.add(amounts(row));
    }
    let step = |((starts_at, others, group), amounts): ((Timestamp, bool, Option<String>), _)| {
        let tier = group.as_ref().filter(|_| is_by_tier).and_then(|tier| tier.parse().ok());
        let (day, tier) = (starts_at.date_naive(), tier.map(Extensible::Known));
        UsageOfStep { day, starts_at, group, others, tier, amounts }
    };
    Ok(Usage { from, to, counted_until, data: steps.into_iter().map(step).collect(), total })
}

/// What is asked for, and the rows of the roll-up.
pub(in crate::routes) struct Asked {
    pub(in crate::routes) from: NaiveDate,
    pub(in crate::routes) to: NaiveDate,
    pub(in crate::routes) rows: Vec<CostRow>,
    pub(in crate::routes) is_by_tier: bool,
}

/// Reads the rows that a call asks for by [`QUERY`].
///
/// # Errors
/// `invalid_parameter` for a bad range, step or group, and where there would be too many rows; what the database said.
pub(in crate::routes) async fn rows(call: &Call) -> Result<Asked, Problem> {
    let mut query = call.query()?;
    let today = runtime::clock::wall().date_naive();
    let (from, to) = range(&mut query, today, NaiveDate::default())?;
    let step = query.parsed::<Step>("step", "hour, day or month")?.unwrap_or(Step::Day);
    let group = query.one("group_by")?.map_or(Ok(Group::Tier), |text| group(&text))?;
    query.finish()?;
    let until = start_of(to.checked_add_days(Days::new(1)).unwrap_or(to));
    let is_by_tier = group == Group::Tier;
    let asked = CostQuery { from: start_of(from), until, step, group };
    let rows = store::cost::list(&call.state.api, &call.scope(), &asked).await?;
    if rows.len() > MOST_ROWS {
        let detail =
            format!("would have more than {MOST_ROWS} rows; ask for fewer days or a longer step");
        return Err(Problem::at(Code::InvalidParameter, "query:step", detail));
    }
    Ok(Asked { from, to, rows, is_by_tier })
}

fn group(text: &str) -> Result<Group, Problem> {
    match text {
        "tier" => Ok(Group::Tier),
        "schedule" => Ok(Group::Schedule),
        "workflow" => Ok(Group::Workflow),
        text => match text.strip_prefix("label:") {
            Some(key) if !key.is_empty() => Ok(Group::Label(key.to_owned())),
            _ => Err(Problem::at(
                Code::InvalidParameter,
                "query:group_by",
                "must be tier, schedule, workflow, or label: and the key of a label",
            )),
        },
    }
}

/// When a day begins, UTC.
pub(in crate::routes) fn start_of(day: NaiveDate) -> Timestamp {
    day.and_time(NaiveTime::MIN).and_utc()
}

/// `oldest` is the first day whose attempts are all kept.
pub(in crate::routes) fn range(
    query: &mut Query,
    today: NaiveDate,
    oldest: NaiveDate,
) -> Result<(NaiveDate, NaiveDate), Problem> {
    const FORM: &str = "a day from 1970 to 2199 such as 2030-01-31";
    let mut day = |name: &str| {
        let day: Option<NaiveDate> = query.parsed(name, FORM)?;
        match day {
            Some(day) if !(1970..2200).contains(&day.year()) => Err(Problem::at(
                Code::InvalidParameter,
                format!("query:{name}"),
                format!("must be {FORM}"),
            )),
            day => Ok(day),
        }
    };
    let (from, to) = (day("from")?, day("to")?);
    let first_of = |day: NaiveDate| day.with_day(1).unwrap_or(day);
    if let Some(day) = from.or(to).filter(|day| *day < oldest) {
        let detail = format!("is {day}, but usage is stored from {oldest} on");
        let name = if from.is_some() { "query:from" } else { "query:to" };
        return Err(Problem::at(Code::InvalidParameter, name, detail));
    }
    let from = from.unwrap_or_else(|| first_of(to.unwrap_or(today)).max(oldest));
    let last_of = |day: NaiveDate| {
        first_of(day)
            .checked_add_months(Months::new(1))
            .and_then(|next| next.pred_opt())
            .unwrap_or(day)
    };
    let to = to.unwrap_or_else(|| last_of(from));
    if from > to || (to - from).num_days() >= MAX_DAYS {
        let detail = format!("must not be before `from`, and at most {MAX_DAYS} days after it");
        return Err(Problem::at(Code::InvalidParameter, "query:to", detail));
    }
    Ok((from, to))
}

fn amounts(row: &CostRow) -> UsageAmounts {
    UsageAmounts {
        attempts: row.amounts.attempts,
        charged_attempts: row.amounts.charged_attempts,
        run_ms: row.amounts.run_ms,
        cpu_millis_ms: row.amounts.cpu_millis_ms,
        memory_mib_ms: row.amounts.memory_mib_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(text: &str) -> Result<(String, String), Problem> {
        let today = NaiveDate::from_ymd_opt(2028, 2, 14).unwrap();
        let oldest = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        range(&mut Query::parse(text)?, today, oldest)
            .map(|(from, to)| (from.to_string(), to.to_string()))
    }

    #[test]
    fn without_a_range_it_is_this_month() {
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(days("").unwrap(), pair("2028-02-01", "2028-02-29"));
        assert_eq!(days("from=2027-01-05").unwrap(), pair("2027-01-05", "2027-01-31"));
        assert_eq!(days("to=2027-01-05").unwrap(), pair("2027-01-01", "2027-01-05"));
        assert_eq!(
            days("from=2027-01-05&to=2027-01-05").unwrap(),
            pair("2027-01-05", "2027-01-05")
        );
    }

    #[test]
    fn a_range_that_is_none_is_refused() {
        for bad in [
            "from=2027-02-30",
            "from=yesterday",
            "to=-5",
            "from=2027-02-02&to=2027-02-01",
            "from=2026-01-01&to=2027-01-02",
            "from=+262142-12-31",
            "from=1969-01-01",
            "from=2025-12-31",
            "to=2025-12-31",
        ] {
            assert_eq!(days(bad).unwrap_err().code(), Code::InvalidParameter, "{bad}");
        }
    }
}
