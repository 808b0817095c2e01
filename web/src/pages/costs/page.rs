//! `/costs`: what was used and what it costs, by day and by tier, schedule, workflow or label; caps and forecast.

use super::cap::{self, holds_for};
use super::drill::Drill;
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
use domain::access::Permission;
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
    days: Vec<Day>,
    groups: Vec<Group>,
    may_read: bool,
    may_manage: bool,
    totals: Vec<(String, String, String, String)>,
    month: Option<Month>,
    caps: Vec<Cap>,
    invoices: Vec<InvoiceRow>,
    has_any: bool,
}

/// A day with usage.
struct Day {
    day: NaiveDate,
    tasks: String,
    attempts: String,
    time: String,
    cost: String,
    /// Its costs by group, and its tasks.
    costs: String,
    href: String,
}

struct Group {
    name: String,
    /// Its tasks or runs, for those who may see them.
    href: Option<String>,
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
    href: String,
    of: String,
    /// Spent, reserved, free of the amount.
    text: String,
    percent: u64,
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
    let may_read = visit.may(Permission::ReadTasks);
    let of = if group == "tier" { "tier" } else { by };
    let drill = Drill { by: of, label, from, to };
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
        days: days(&costs, &drill),
        groups: groups(&costs, may_read.then_some(&drill)),
        may_read,
        may_manage: visit.may(Permission::ManageSpend),
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

fn days(costs: &Costs, drill: &Drill<'_>) -> Vec<Day> {
    let mut sums = BTreeMap::<(NaiveDate, Option<String>), [i64; 4]>::new();
    for row in &costs.data {
        let key = (row.starts_at.date_naive(), row.total.currency.clone());
        let add = [row.total.tasks, row.total.attempts, row.total.run_ms, row.total.cost];
        let sum = sums.entry(key).or_default();
        sum.iter_mut().zip(add).for_each(|(sum, more)| *sum += more);
    }
    let day = |((day, currency), [tasks, attempts, time, cost]): (
        (NaiveDate, Option<String>),
        [i64; 4],
    )| Day {
        day,
        tasks: count(tasks),
        attempts: count(attempts),
        time: ms(time),
        cost: price(cost, currency.as_deref()),
        costs: drill.costs(day),
        href: drill.day(day),
    };
    sums.into_iter().rev().map(day).collect()
}

/// With links, where `drill` is given.
fn groups(costs: &Costs, drill: Option<&Drill<'_>>) -> Vec<Group> {
    type Key = (Option<String>, bool, Option<String>);
    let mut sums = BTreeMap::<Key, [i64; 3]>::new();
    for row in &costs.data {
        let key = (row.group.clone(), row.others, row.total.currency.clone());
        let sum = sums.entry(key).or_default();
        let add = [row.total.tasks, row.total.run_ms, row.total.cost];
        sum.iter_mut().zip(add).for_each(|(sum, more)| *sum += more);
    }
    let most = sums.values().map(|[.., cost]| *cost).max().unwrap_or_default();
    let whole = u64::try_from(most).unwrap_or_default();
    let group = |((group, others, currency), [tasks, time, cost]): (Key, [i64; 3])| {
        let gauge = Gauge(ratio(u64::try_from(cost).unwrap_or_default(), whole).min(79));
        let cost = price(cost, currency.as_deref());
        let href = group.as_ref().zip(drill).map(|(group, drill)| drill.group(group));
        let name = match (group, others) {
            (Some(group), _) => group,
            (None, true) => "other values".to_owned(),
            (None, false) => "none".to_owned(),
        };
        Group { name, href, tasks: count(tasks), time: ms(time), cost, gauge }
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
        let of = |micros: i64| money(micros, &cap.currency.to_string());
        let used = cap.amount.0.saturating_sub(cap.free.0);
        let percent = ratio(
            u64::try_from(used).unwrap_or_default(),
            u64::try_from(cap.amount.0).unwrap_or_default(),
        );
        Cap {
            name: cap.name.to_string(),
            href: cap::path(&cap.name.to_string()),
            of: format!("{}, each {}", holds_for(cap), cap.period),
            text: format!(
                "{} spent, {} reserved, {} free of {}",
                of(cap.spent.0),
                of(cap.reserved.0),
                of(cap.free.0),
                of(cap.amount.0)
            ),
            percent,
            gauge: Gauge(percent),
            resets: Moment(cap.resets_at),
        }
    };
    costs.caps.iter().map(cap).collect()
}
