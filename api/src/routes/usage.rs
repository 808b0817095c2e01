//! `GET /v1/usage`: what was used, by day and tier, in integers.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::Query;
use api_types::{Extensible, Usage, UsageAmounts, UsageOfDay};
use chrono::{Datelike, Months, NaiveDate, TimeDelta};
use store::usage::UsageRow;

/// Days of one answer.
const MAX_DAYS: i64 = 366;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Usage by day and tier",
    description: "Days are UTC, by the end of the attempt. Default: this month. Stored as long as history \
                  (`limits.history_retention_days`); older days are refused.",
    query: &[
        Param { name: "from", text: "First day, such as 2030-01-31", form: Form::Day },
        Param { name: "to", text: "Last day, inclusive; at most 366 days", form: Form::Day },
    ],
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
/// `invalid_parameter` for a bad range; what the database said.
pub async fn read(call: &Call) -> Result<Usage, Problem> {
    let mut query = call.query()?;
    let today = runtime::clock::wall().date_naive();
    let kept = i64::from(call.state.limits.history_retention_days);
    let (from, to) = range(&mut query, today, today - TimeDelta::days(kept))?;
    query.finish()?;
    let rows = store::usage::by_tier_and_day(&call.state.api, &call.scope(), from, to).await?;
    let mut total = UsageAmounts::default();
    let data: Vec<UsageOfDay> = rows.iter().map(of_day).collect();
    data.iter().for_each(|row| total.add(row.amounts));
    Ok(Usage { from, to, data, total })
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

fn of_day(row: &UsageRow) -> UsageOfDay {
    let amounts = UsageAmounts {
        attempts: row.attempts,
        charged_attempts: row.charged_attempts,
        run_ms: row.run_ms,
        cpu_millis_ms: row.cpu_millis_ms,
        memory_mib_ms: row.memory_mib_ms,
    };
    UsageOfDay { day: row.day, tier: row.tier.map(Extensible::Known), amounts }
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
