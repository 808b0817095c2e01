//! `GET /v1/costs`: what was used and what it costs, and what the month comes to.

use super::spend_cap::view;
use super::usage::{Asked, QUERY, rows, start_of};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::{Cost, CostBill, CostOfMonth, CostTotal, Costs};
use chrono::{Datelike, Days, Months};
use domain::price::{Amounts, Bill, Micros, Month};
use domain::time::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;
use store::cost::CostRow;

/// What is used in this time is what the forecast goes on with.
const RECENT: Days = Days::new(7);

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Costs by day and tier",
    description: "Amounts are whole micro-units: millionths of the currency's unit. Days are UTC, by the end of the attempt. Default: this \
                  month. An attempt is counted within five seconds of its end, at the prices that held when it was placed.",
    query: &QUERY,
    answers: &[AnswerDoc { status: 200, text: "The costs", content: Content::Json("Costs") }],
    problems: &[Code::InvalidParameter],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter` for a bad range, step or group, and where there would be too many rows; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Costs>, Problem> {
    let now = runtime::clock::wall();
    let Asked { from, to, rows, .. } = rows(&call).await?;
    let counted_until = store::rollup::counted_until(&call.state.api).await?;
    let month = month(&call, now).await?;
    let mut totals = BTreeMap::<_, CostTotal>::new();
    for row in &rows {
        let total = totals.entry(row.currency.clone()).or_default();
        add(total, row.currency.clone(), &row.amounts);
    }
    let data = rows.iter().map(cost).collect();
    let caps = store::spend_cap::list(&call.state.api, &call.scope()).await?;
    Ok(Answer::ok(Costs {
        from,
        to,
        counted_until,
        data,
        totals: totals.into_values().collect(),
        month,
        caps: caps.into_iter().map(view).collect(),
    }))
}

fn cost(row: &CostRow) -> Cost {
    let total = total_of(row.currency.clone(), &row.amounts);
    Cost { starts_at: row.starts_at, group: row.group.clone(), others: row.others, total }
}

pub(in crate::routes) fn total_of(currency: Option<String>, amounts: &Amounts) -> CostTotal {
    let mut total = CostTotal::default();
    add(&mut total, currency, amounts);
    total
}

fn add(total: &mut CostTotal, currency: Option<String>, amounts: &Amounts) {
    total.currency = currency;
    for (sum, amount) in [
        (&mut total.attempts, amounts.attempts),
        (&mut total.charged_attempts, amounts.charged_attempts),
        (&mut total.tasks, amounts.tasks),
        (&mut total.fires, amounts.fires),
        (&mut total.run_ms, amounts.run_ms),
        (&mut total.cpu_millis_ms, amounts.cpu_millis_ms),
        (&mut total.memory_mib_ms, amounts.memory_mib_ms),
        (&mut total.disk_mib_ms, amounts.disk_mib_ms),
        (&mut total.iops_ms, amounts.iops_ms),
        (&mut total.port_ms, amounts.port_ms),
        (&mut total.stored_byte_days, amounts.stored_byte_days),
        (&mut total.attempts_cost, amounts.attempts_cost.0),
        (&mut total.tasks_cost, amounts.tasks_cost.0),
        (&mut total.fires_cost, amounts.fires_cost.0),
        (&mut total.stored_cost, amounts.stored_cost.0),
        (&mut total.cost, amounts.cost().0),
    ] {
        *sum = sum.saturating_add(amount);
    }
}

/// The present month by the tenant's present plan: so far, and at its end.
async fn month(call: &Call, now: Timestamp) -> Result<Option<CostOfMonth>, Problem> {
    let Some((billing, book)) = store::cost::billing(&call.state.api, &call.scope()).await? else {
        return Ok(None);
    };
    let Some(prices) = book.at(now) else { return Ok(None) };
    let today = now.date_naive();
    let starts_on = today.with_day(1).unwrap_or(today);
    let ends = start_of(starts_on.checked_add_months(Months::new(1)).unwrap_or(today));
    let since = now.checked_sub_days(RECENT).unwrap_or(now);
    let currency = book.currency.to_string();
    let starts = [start_of(starts_on), since];
    let used = store::cost::used(&call.state.api, &call.scope(), &currency, starts).await?;
    let [so_far, recent] = used;
    let length = (now - since).to_std().unwrap_or_default();
    let left: Duration = (ends - now).to_std().unwrap_or_default();
    let bill = |month: Month| shown(month.bill(prices, &billing.included, Micros(billing.minimum)));
    let forecast = bill(so_far.forecast(&recent, length, left));
    Ok(Some(CostOfMonth { starts_on, currency, so_far: bill(so_far), forecast }))
}

pub(in crate::routes) fn shown(bill: Bill) -> CostBill {
    let Bill { charges, included, volume, minimum, total } = bill;
    CostBill {
        charges: charges.0,
        included: included.0,
        volume: volume.0,
        minimum: minimum.0,
        total: total.0,
    }
}
