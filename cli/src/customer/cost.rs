//! `berth cost`.

use super::cap;
use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use chrono::NaiveDate;
use client::{Cost, CostOfMonth, CostTotal, Costs, CostsQuery};
use domain::price::{Currency, Micros};
use domain::time::format_duration;
use std::fmt::Write;
use std::time::Duration;

/// Which costs.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  berth cost\n  berth cost --from 2030-01-01 --to 2030-01-31 --group-by label:team\n  berth cost --from 2030-01-31 --to 2030-01-31 --step hour --group-by schedule"
)]
pub struct CostArguments {
    /// First day, UTC. Default: first of the month.
    #[arg(long, value_name = "DAY")]
    pub from: Option<NaiveDate>,
    /// Last day, inclusive. Default: last of the month.
    #[arg(long, value_name = "DAY")]
    pub to: Option<NaiveDate>,
    /// How long each row is. Default: day.
    #[arg(long, value_name = "STEP", value_parser = ["hour", "day", "month"])]
    pub step: Option<String>,
    /// tier, schedule, workflow, or label:KEY. Default: tier.
    #[arg(long, value_name = "GROUP")]
    pub group_by: Option<String>,
}

const COLUMNS: [&str; 7] = ["FROM", "GROUP", "TASKS", "ATTEMPTS", "RUN TIME", "COST", "CURRENCY"];

/// Shows what was used and what it costs.
pub async fn run(connection: &Connection, arguments: &CostArguments) -> Result<(), Failure> {
    let CostArguments { from, to, step, group_by } = arguments.clone();
    let query = CostsQuery { from, to, step, group_by };
    let costs = connection.client.costs(&query).await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(costs.json()),
        Format::Table => output::text(&shown(&costs, arguments.step.as_deref())),
    }
}

fn shown(costs: &Costs, step: Option<&str>) -> String {
    let mut table = Table::new(COLUMNS);
    for Cost { starts_at, group, others, total } in &costs.data {
        let from = match step {
            Some("hour") => starts_at.format("%Y-%m-%d %H:00"),
            Some("month") => starts_at.format("%Y-%m"),
            _ => starts_at.format("%Y-%m-%d"),
        };
        let group = if *others { "(others)" } else { group.as_deref().unwrap_or("-") };
        table.row(cells(from.to_string(), group.to_owned(), total));
    }
    costs
        .totals
        .iter()
        .for_each(|total| table.row(cells("total".to_owned(), String::new(), total)));
    let mut text = table.take();
    if let Some(month) = &costs.month {
        text.push_str(&of_month(month));
    }
    if !costs.caps.is_empty() {
        write!(text, "\nSpend caps\n{}", cap::table(&costs.caps)).ok();
    }
    text
}

fn cells(from: String, group: String, total: &CostTotal) -> [String; 7] {
    let ms = u64::try_from(total.run_ms).unwrap_or_default();
    [
        from,
        group,
        total.tasks.to_string(),
        total.attempts.to_string(),
        format_duration(Duration::from_millis(ms)),
        amount(total.cost, total.currency.as_deref()),
        total.currency.clone().unwrap_or_else(|| "no prices".to_owned()),
    ]
}

fn amount(micros: i64, currency: Option<&str>) -> String {
    match currency {
        Some(code) => Micros(micros).in_units(code.parse::<Currency>().map_or(2, Currency::digits)),
        None => "-".to_owned(),
    }
}

fn of_month(month: &CostOfMonth) -> String {
    let CostOfMonth { starts_on, currency, so_far, forecast } = month;
    let of = |micros| amount(micros, Some(currency));
    let mut text = format!(
        "\n{}: {} {currency} so far, about {} {currency} at its end\n",
        starts_on.format("%B %Y"),
        of(so_far.total),
        of(forecast.total)
    );
    let parts = [
        ("included", so_far.included),
        ("discount for volume", so_far.volume),
        ("to the minimum", so_far.minimum),
    ];
    for (name, micros) in parts.into_iter().filter(|(_, micros)| *micros != 0) {
        writeln!(text, "  {name}: {} {currency}", of(micros)).ok();
    }
    text
}
