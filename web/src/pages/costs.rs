//! `/costs`: what was used and what it costs, by day and by tier, schedule, workflow or label; caps and forecast.

use crate::fault::Fault;
use crate::form::with_query;
use crate::frame::{Frame, Section, page};
use crate::svg::{Bar, Bars, Gauge};
use crate::visit::{Visit, in_path};
use crate::words::{Moment, count, mark_of, money, ms, ratio};
use actix_web::HttpResponse;
use api_types::{Costs, Invoice, Page};
use askama::Template;
use chrono::{Days, NaiveDate};
use runtime::clock::wall;
use std::collections::BTreeMap;

/// Days that are shown where the URL names none.
const SPAN: u64 = 29;

#[derive(Template)]
#[template(path = "money/costs.html")]
struct CostsPage {
    frame: Frame,
    from: String,
    to: String,
    by: String,
    label: String,
    bars: Bars,
    groups: Vec<Group>,
    totals: Vec<(String, String, String, String)>,
    month: Option<Month>,
    caps: Vec<Cap>,
    invoices: Vec<InvoiceRow>,
    has_any: bool,
}

struct Group {
    name: String,
    tasks: String,
    time: String,
    cost: String,
    gauge: Gauge,
}

struct Month {
    name: String,
    so_far: String,
    forecast: String,
    /// What the total is made of.
    parts: Vec<(&'static str, String)>,
}

struct Cap {
    name: String,
    of: String,
    text: String,
    gauge: Gauge,
    resets: Moment,
}

struct InvoiceRow {
    number: String,
    href: String,
    state: crate::words::Mark,
    total: String,
}

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let today = wall().date_naive();
    let day = |name| visit.query.text(name).parse::<NaiveDate>().ok();
    let to = day("to").unwrap_or(today);
    let from = day("from").unwrap_or_else(|| to.checked_sub_days(Days::new(SPAN)).unwrap_or(to));
    let (by, label) = (visit.query.text("by"), visit.query.text("label"));
    let group = match by {
        "schedule" | "workflow" => by.to_owned(),
        "label" if !label.is_empty() => format!("label:{label}"),
        _ => "tier".to_owned(),
    };
    let (from, to) = (from.to_string(), to.to_string());
    let asked = visit.query.query(&[], &[("from", &from), ("to", &to), ("group_by", &group)]);
    let (costs, invoices) = futures::join!(
        visit.get::<Costs>(with_query("/v1/costs", &asked)),
        visit.get::<Page<Invoice>>("/v1/invoices"),
    );
    let (costs, invoices) = (costs?, invoices?);
    let row = |invoice: &Invoice| InvoiceRow {
        number: invoice.number.clone(),
        href: format!("/costs/invoices/{}", in_path(&invoice.number)),
        state: mark_of(&invoice.state.to_string()),
        total: money(invoice.total, &invoice.currency),
    };
    page(&CostsPage {
        frame: Frame::new(&visit, Section::Money, "Costs"),
        from,
        to,
        by: by.to_owned(),
        label: label.to_owned(),
        bars: bars(&costs),
        groups: groups(&costs),
        totals: totals(&costs),
        month: month(&costs),
        caps: caps(&costs),
        invoices: invoices.data.iter().map(row).collect(),
        has_any: !costs.data.is_empty(),
    })
}

fn price(micros: i64, currency: Option<&str>) -> String {
    currency.map_or_else(|| "no prices".to_owned(), |currency| money(micros, currency))
}

/// A bar a day: its price, or its attempts where nothing has a price.
fn bars(costs: &Costs) -> Bars {
    let priced = costs.data.iter().any(|row| row.total.cost > 0);
    let currency = costs.totals.iter().find_map(|total| total.currency.clone());
    let mut days = BTreeMap::<NaiveDate, i64>::new();
    let mut day = costs.from;
    while day <= costs.to {
        days.insert(day, 0);
        let Some(next) = day.succ_opt() else { break };
        day = next;
    }
    for row in &costs.data {
        let value = if priced { row.total.cost } else { row.total.attempts };
        *days.entry(row.starts_at.date_naive()).or_default() += value;
    }
    let text = |value| match (&currency, priced) {
        (Some(currency), true) => money(value, currency),
        _ => format!("{} attempts", count(value)),
    };
    let most = text(days.values().copied().max().unwrap_or_default());
    let bar = |(day, value): (&NaiveDate, &i64)| Bar {
        label: day.format("%m-%d").to_string(),
        text: text(*value),
        value: *value,
    };
    let what = if priced { "Cost" } else { "Attempts" };
    let title = format!("{what} by day, {} to {}: at most {most} a day", costs.from, costs.to);
    Bars { title, bars: days.iter().map(bar).collect(), most }
}

fn groups(costs: &Costs) -> Vec<Group> {
    let mut sums = BTreeMap::<(String, Option<String>), [i64; 3]>::new();
    for row in &costs.data {
        let name = match (&row.group, row.others) {
            (Some(group), _) => group.clone(),
            (None, true) => "other values".to_owned(),
            (None, false) => "none".to_owned(),
        };
        let sum = sums.entry((name, row.total.currency.clone())).or_default();
        let add = [row.total.tasks, row.total.run_ms, row.total.cost];
        sum.iter_mut().zip(add).for_each(|(sum, more)| *sum += more);
    }
    let most = sums.values().map(|[.., cost]| *cost).max().unwrap_or_default();
    let whole = u64::try_from(most).unwrap_or_default();
    let group = |((name, currency), [tasks, time, cost]): ((String, Option<String>), [i64; 3])| {
        let gauge = Gauge(ratio(u64::try_from(cost).unwrap_or_default(), whole).min(79));
        let cost = price(cost, currency.as_deref());
        Group { name, tasks: count(tasks), time: ms(time), cost, gauge }
    };
    sums.into_iter().map(group).collect()
}

fn totals(costs: &Costs) -> Vec<(String, String, String, String)> {
    let row = |total: &api_types::CostTotal| {
        let cost = price(total.cost, total.currency.as_deref());
        (cost, count(total.tasks), count(total.attempts), ms(total.run_ms))
    };
    costs.totals.iter().map(row).collect()
}

fn month(costs: &Costs) -> Option<Month> {
    let month = costs.month.as_ref()?;
    let of = |micros| money(micros, &month.currency);
    let parts = [
        ("Used, at its price", month.so_far.charges),
        ("Included in the plan", month.so_far.included),
        ("Discount for volume", month.so_far.volume),
        ("Up to the plan's minimum", month.so_far.minimum),
    ];
    Some(Month {
        name: month.starts_on.format("%B %Y").to_string(),
        so_far: of(month.so_far.total),
        forecast: of(month.forecast.total),
        parts: parts
            .into_iter()
            .filter(|(_, part)| *part != 0)
            .map(|(name, part)| (name, of(part)))
            .collect(),
    })
}

fn caps(costs: &Costs) -> Vec<Cap> {
    let cap = |cap: &api_types::SpendCap| {
        let currency = cap.currency.to_string();
        let (amount, free) = (cap.amount.0, cap.free.0);
        let used = u64::try_from(amount.saturating_sub(free)).unwrap_or_default();
        let whole = u64::try_from(amount).unwrap_or_default();
        let of = match (&cap.label, &cap.schedule) {
            (Some(label), _) => format!("tasks with the label {}={}", label.key, label.value),
            (None, Some(schedule)) => format!("tasks of the schedule {schedule}"),
            (None, None) => "all tasks".to_owned(),
        };
        Cap {
            name: cap.name.to_string(),
            of,
            text: format!("{} left of {}", money(free, &currency), money(amount, &currency)),
            gauge: Gauge(ratio(used, whole)),
            resets: Moment(cap.resets_at),
        }
    };
    costs.caps.iter().map(cap).collect()
}
