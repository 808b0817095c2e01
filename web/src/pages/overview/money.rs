//! What it costs today and this month, and how much is done.

use super::attention::{Matter, of_caps};
use crate::svg::{Bar, Bars};
use crate::visit::Visit;
use crate::words::{count, money};
use api_types::Costs;
use chrono::{DurationRound, NaiveDate, TimeDelta};
use domain::access::Permission;
use domain::time::Timestamp;
use runtime::clock::wall;
use std::collections::BTreeMap;

/// Hours that the chart shows.
const HOURS: i64 = 24;

/// The figures, or why there are none.
pub(crate) enum Money {
    Known(Box<Known>),
    Missing(String),
}

/// The figures.
pub(crate) struct Known {
    pub today: String,
    pub month: Option<(String, String)>,
    pub caps: Vec<Matter>,
    pub hours: Bars,
    pub has_ended: bool,
}

/// Reads them, where the one who asks may have them.
pub(crate) async fn read(visit: &Visit) -> Option<Money> {
    if !visit.may(Permission::ReadUsage) {
        return None;
    }
    let now = wall();
    let (from, to) = ((now - TimeDelta::hours(HOURS)).date_naive(), now.date_naive());
    let costs = visit.try_get::<Costs>(format!("/v1/costs?step=hour&from={from}&to={to}")).await;
    Some(costs.map_or_else(Money::Missing, |costs| Money::Known(Box::new(known(&costs, now, to)))))
}

fn known(costs: &Costs, now: Timestamp, today: NaiveDate) -> Known {
    let mut of_today = BTreeMap::<Option<&str>, i64>::new();
    for row in costs.data.iter().filter(|row| row.starts_at.date_naive() == today) {
        *of_today.entry(row.total.currency.as_deref()).or_default() += row.total.cost;
    }
    let prices = of_today.into_iter().filter_map(|(currency, cost)| Some(money(cost, currency?)));
    let today = prices.collect::<Vec<_>>().join(" + ");
    let month = costs.month.as_ref().map(|month| {
        let of = |total| money(total, &month.currency);
        (of(month.so_far.total), of(month.forecast.total))
    });
    let today = match (today.is_empty(), &costs.month) {
        (false, _) => today,
        (true, Some(month)) => money(0, &month.currency),
        (true, None) => "no prices".to_owned(),
    };
    let hours = hours(costs, now);
    let has_ended = hours.bars.iter().any(|bar| bar.value > 0);
    Known { today, month, caps: of_caps(&costs.caps), hours, has_ended }
}

fn hours(costs: &Costs, now: Timestamp) -> Bars {
    let this = now.duration_trunc(TimeDelta::hours(1)).unwrap_or(now);
    let of = |start: Timestamp| -> i64 {
        let rows = costs.data.iter().filter(|row| row.starts_at == start);
        rows.map(|row| row.total.attempts).sum()
    };
    let starts = (0..HOURS).rev().map(|back| this - TimeDelta::hours(back));
    let bar = |start: Timestamp| {
        let value = of(start);
        let text = format!("{} attempts ended", count(value));
        Bar { label: start.format("%H:00").to_string(), text, value }
    };
    let bars: Vec<Bar> = starts.map(bar).collect();
    let most = bars.iter().map(|bar| bar.value).max().unwrap_or_default();
    let all: i64 = bars.iter().map(|bar| bar.value).sum();
    let title =
        format!("Attempts that ended in each of the last 24 hours, UTC: {} in all", count(all));
    Bars { title, bars, most: format!("{} an hour", count(most)) }
}
