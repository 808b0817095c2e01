//! `GET /v1/admin/costs`: what each tenant used and costs, for operators.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::wrong_parameter;
use crate::routes::costs::total_of;
use crate::routes::usage::{range, start_of};
use api_types::{TenantCost, TenantCosts};
use chrono::{Days, NaiveDate};
use domain::id::PriceBookName;
use domain::price::{PriceBook, Prices};
use store::cost::{TenantCostRow, TenantOrder};

/// Most rows of one answer.
const MOST: u32 = 1000;
const USUAL: u32 = 100;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Costs by tenant",
    description: "Who costs most, who is below what it costs you, and what is used without prices. Amounts are whole micro-units, before \
                  what plans include, volume and minimum. Days are UTC. Default: this month.",
    query: &[
        Param { name: "from", text: "First day, such as 2030-01-31", form: Form::Day },
        Param { name: "to", text: "Last day, inclusive; at most 366 days", form: Form::Day },
        Param {
            name: "sort",
            text: "`cost` (default): the highest first; `margin`: the lowest first; `unpriced`: only what no prices held for, the longest first",
            form: Form::OneOf(&["cost", "margin", "unpriced"]),
        },
        Param {
            name: "cost_book",
            text: "A price book that says what machines cost you: `margin` is `cost` less what the same use costs by its `rates` and \
                   `each` on the last day",
            form: Form::Text,
        },
        Param {
            name: "limit",
            text: "Rows, 1 to 1000; default 100",
            form: Form::Whole { least: 1, most: MOST, usual: Some(USUAL) },
        },
    ],
    answers: &[AnswerDoc { status: 200, text: "The costs", content: Content::Json("TenantCosts") }],
    problems: &[Code::InvalidParameter, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`; `not_found` for an unknown price book; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<TenantCosts>, Problem> {
    let mut query = call.query()?;
    let now = runtime::clock::wall();
    let (from, to) = range(&mut query, now.date_naive(), NaiveDate::default())?;
    let sort = query
        .parsed::<TenantOrder>("sort", "cost, margin or unpriced")?
        .unwrap_or(TenantOrder::Cost);
    let limit = query.parsed::<u32>("limit", "a whole number from 1 to 1000")?.unwrap_or(USUAL);
    let name = query.parsed::<PriceBookName>("cost_book", "the name of a price book")?;
    query.finish()?;
    if !(1..=MOST).contains(&limit) {
        return Err(wrong_parameter("limit", "must be a whole number from 1 to 1000"));
    }
    let db = &call.state.admin;
    let book = match name {
        None => None,
        Some(name) => {
            let found = store::price_book::find(db, &name).await?;
            Some(found.ok_or_else(|| Problem::no_such("price book").called(name.as_str()))?.book)
        }
    };
    let until = start_of(to.checked_add_days(Days::new(1)).unwrap_or(to));
    let prices = book
        .as_ref()
        .and_then(|book| Some((book, book.at(until - chrono::TimeDelta::microseconds(1))?)));
    let rows = store::cost::by_tenant(db, start_of(from), until).await?;
    let mut data: Vec<TenantCost> = rows.into_iter().map(|row| cost(row, prices)).collect();
    order(&mut data, sort);
    let kept = usize::try_from(limit).unwrap_or(usize::MAX);
    let left_out = u64::try_from(data.len().saturating_sub(kept)).unwrap_or(u64::MAX);
    data.truncate(kept);
    let counted_until = store::rollup::counted_until(&call.state.api).await?;
    Ok(Answer::ok(TenantCosts { from, to, counted_until, data, left_out }))
}

fn cost(row: TenantCostRow, prices: Option<(&PriceBook, &Prices)>) -> TenantCost {
    let TenantCostRow { tenant, name, plan, currency, amounts } = row;
    let same = prices
        .filter(|(book, _)| currency.as_ref().is_none_or(|of| *of == book.currency.to_string()));
    let own_cost = same.map(|(_, prices)| amounts.cost_by(prices).0);
    let total = total_of(currency, &amounts);
    let margin = own_cost.map(|own| total.cost.saturating_sub(own));
    TenantCost { tenant, name, plan, own_cost, margin, total }
}

/// Sorts, and of [`TenantOrder::Unpriced`] keeps what has no prices. Equal ones are in the order of their ids.
fn order(rows: &mut Vec<TenantCost>, sort: TenantOrder) {
    if sort == TenantOrder::Unpriced {
        rows.retain(|row| row.total.currency.is_none() && row.total.charged_attempts > 0);
    }
    rows.sort_by_key(|row| {
        let first = match sort {
            TenantOrder::Cost => -row.total.cost,
            // What has none is last; without `cost_book` none has.
            TenantOrder::Margin => row.margin.unwrap_or(i64::MAX),
            TenantOrder::Unpriced => -row.total.run_ms,
        };
        (first, row.tenant)
    });
}
