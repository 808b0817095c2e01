//! `POST /v1/admin/price-dry-runs`: what a month's use would have cost by other prices.

use super::put::checked;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::{Query, wrong_parameter};
use crate::routes::costs::shown;
use crate::routes::usage::start_of;
use api_types::{PriceDryRun, PriceDryRunTenant};
use chrono::{Datelike, Months, NaiveDate};
use domain::id::{PriceBookName, TenantId};
use std::time::Duration;
use store::price_dry_run::{DryRun, DryRunOutcome, DryRunTenant, MOST_ATTEMPTS, run};

/// Most rows of one answer.
const MOST: u32 = 1000;
const USUAL: u32 = 100;
/// Less than any other request may take.
const LIMIT: Duration = Duration::from_secs(20);

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Price a past month by other prices",
    description: "The body is a price book; its last prices are taken for all of the month, whenever they begin. Nothing is stored. \
                  Computed from attempts, as they are billed, where these are kept; see `exact_from`. At most 3 000 000 attempts and 20 \
                  seconds. Amounts are whole micro-units. Months are UTC, by the end of the attempt.",
    query: &[
        Param {
            name: "month",
            text: "Such as 2030-01. Default: the last month",
            form: Form::Pattern("^[0-9]{4}-[0-9]{2}$"),
        },
        Param {
            name: "price_book",
            text: "Only tenants whose plan names this price book",
            form: Form::Text,
        },
        Param { name: "tenant", text: "Only this tenant, by id", form: Form::Text },
        Param {
            name: "limit",
            text: "Rows, 1 to 1000; default 100. `before` and `after` are of all rows",
            form: Form::Whole { least: 1, most: MOST, usual: Some(USUAL) },
        },
    ],
    request: Some("PriceBookPut"),
    answers: &[AnswerDoc {
        status: 200,
        text: "What it came to",
        content: Content::Json("PriceDryRun"),
    }],
    problems: &[Code::InvalidParameter, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`, also where there is more to read than one dry run reads; `not_found` for an unknown price book or tenant; what is
/// wrong with the book; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<PriceDryRun>, Problem> {
    let mut query = call.query()?;
    let (from, until) = month(&mut query, runtime::clock::wall().date_naive())?;
    let price_book = query.parsed::<PriceBookName>("price_book", "the name of a price book")?;
    let tenant = query.parsed::<TenantId>("tenant", "the id of a tenant")?;
    let limit = query.parsed::<u32>("limit", "a whole number from 1 to 1000")?.unwrap_or(USUAL);
    query.finish()?;
    if !(1..=MOST).contains(&limit) {
        return Err(wrong_parameter("limit", "must be a whole number from 1 to 1000"));
    }
    let book = checked(&call.body)?;
    let db = &call.state.admin;
    if let Some(name) = &price_book {
        let found = store::price_book::find(db, name).await?;
        found.ok_or_else(|| Problem::no_such("price book").called(name.as_str()))?;
    }
    if let Some(id) = tenant {
        let found = store::tenant::get(db, id).await?;
        found.ok_or_else(|| Problem::no_such("tenant"))?;
    }
    let currency = book.currency.to_string();
    let [starts, ends] = [from, until].map(start_of);
    let asked = DryRun { book, from: starts, until: ends, price_book, tenant, limit: LIMIT };
    match run(db, &asked).await? {
        DryRunOutcome::Done { tenants, exact_from } => {
            let to = until.pred_opt().unwrap_or(until);
            let rows = tenants.into_iter().map(row).collect();
            let run = PriceDryRun {
                from,
                to,
                currency,
                exact_from,
                before: 0,
                after: 0,
                data: rows,
                left_out: 0,
            };
            Ok(Answer::ok(limited(run, limit)))
        }
        DryRunOutcome::TooMany(many) => Err(too_much(&format!(
            "has {many} attempts, and one dry run reads at most {MOST_ATTEMPTS}"
        ))),
        DryRunOutcome::TooLong => {
            Err(too_much(&format!("takes longer to read than {} s", LIMIT.as_secs())))
        }
    }
}

fn too_much(what: &str) -> Problem {
    wrong_parameter(
        "month",
        &format!("{what}: ask for fewer with `price_book` or, one after the other, `tenant`"),
    )
}

/// The first day of a month, and that of the next.
fn month(query: &mut Query, today: NaiveDate) -> Result<(NaiveDate, NaiveDate), Problem> {
    const WANTED: &str = "must be a month from 1970-01 to the present one, such as 2030-01";
    let present = today.with_day(1).unwrap_or(today);
    let first = match query.one("month")? {
        None => present.checked_sub_months(Months::new(1)).unwrap_or(present),
        Some(text) => {
            let day = format!("{text}-01").parse::<NaiveDate>().ok();
            day.filter(|day| text.len() == 7 && day.year() >= 1970 && *day <= present)
                .ok_or_else(|| wrong_parameter("month", WANTED))?
        }
    };
    Ok((first, first.checked_add_months(Months::new(1)).unwrap_or(first)))
}

fn row(of: DryRunTenant) -> PriceDryRunTenant {
    let DryRunTenant { tenant, name, plan, used, before, after } = of;
    PriceDryRunTenant {
        tenant,
        name,
        plan,
        charged_attempts: used.charged_attempts,
        elsewhere_attempts: used.elsewhere,
        tasks: i64::try_from(used.after.tasks.pieces).unwrap_or(i64::MAX),
        change: (after.total - before.total).0,
        before: shown(before),
        after: shown(after),
    }
}

/// Adds up all rows, and keeps those that change most. Equal ones are in the order of their ids.
fn limited(mut run: PriceDryRun, limit: u32) -> PriceDryRun {
    let total =
        |of: fn(&PriceDryRunTenant) -> i64| run.data.iter().map(of).fold(0, i64::saturating_add);
    let (before, after) = (total(|row| row.before.total), total(|row| row.after.total));
    run.data.sort_by_key(|row| (std::cmp::Reverse(row.change.unsigned_abs()), row.tenant));
    let kept = usize::try_from(limit).unwrap_or(usize::MAX);
    let left_out = u64::try_from(run.data.len().saturating_sub(kept)).unwrap_or(u64::MAX);
    run.data.truncate(kept);
    PriceDryRun { before, after, left_out, ..run }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_one_that_has_begun() {
        let today = NaiveDate::from_ymd_opt(2030, 1, 14).unwrap();
        let asked = |text: &str| {
            let asked = month(&mut Query::parse(text)?, today)?;
            Ok::<_, Problem>([asked.0, asked.1].map(|day| day.to_string()))
        };
        let pair = |from: &str, until: &str| [from.to_owned(), until.to_owned()];
        assert_eq!(asked("").unwrap(), pair("2029-12-01", "2030-01-01"));
        assert_eq!(asked("month=2030-01").unwrap(), pair("2030-01-01", "2030-02-01"));
        assert_eq!(asked("month=1970-01").unwrap(), pair("1970-01-01", "1970-02-01"));
        for wrong in
            ["month=2030-02", "month=2029-13", "month=2029-1", "month=1969-12", "month=soon"]
        {
            assert_eq!(asked(wrong).unwrap_err().code(), Code::InvalidParameter, "{wrong}");
        }
    }
}
