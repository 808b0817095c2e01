//! `berth admin costs`.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use chrono::NaiveDate;
use client::{TenantCost, TenantCosts, TenantCostsQuery};
use domain::price::{Currency, Micros};
use domain::time::format_duration;
use std::time::Duration;

const COLUMNS: [&str; 8] =
    ["TENANT", "PLAN", "TASKS", "RUN TIME", "COST", "OWN COST", "MARGIN", "CURRENCY"];

/// Which costs.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  berth admin costs\n  berth admin costs --sort margin --cost-book machines\n  berth admin costs --sort unpriced --from 2030-01-01 --to 2030-01-31"
)]
pub struct CostsArguments {
    /// First day, UTC. Default: first of the month.
    #[arg(long, value_name = "DAY")]
    pub from: Option<NaiveDate>,
    /// Last day, inclusive. Default: last of the month.
    #[arg(long, value_name = "DAY")]
    pub to: Option<NaiveDate>,
    /// cost: the highest first; margin: the lowest first; unpriced: only what had no prices. Default: cost.
    #[arg(long, value_name = "ORDER", value_parser = ["cost", "margin", "unpriced"])]
    pub sort: Option<String>,
    /// Price book that says what machines cost you.
    #[arg(long, value_name = "NAME")]
    pub cost_book: Option<String>,
    /// Rows, 1 to 1000. Default: 100.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
}

/// Shows what each tenant used and costs.
pub async fn run(arguments: &CostsArguments, connection: &Connection) -> Result<(), Failure> {
    let CostsArguments { from, to, sort, cost_book, limit } = arguments.clone();
    let query = TenantCostsQuery { from, to, sort, cost_book, limit };
    let costs = connection.client.tenant_costs(&query).await;
    let costs = costs.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(costs.json()),
        Format::Table => output::text(&table(&costs)),
    }
}

fn table(costs: &TenantCosts) -> String {
    let mut table = Table::new(COLUMNS);
    for TenantCost { tenant, name, plan, own_cost, margin, total } in &costs.data {
        let digits = total.currency.as_deref().and_then(|code| code.parse::<Currency>().ok());
        let digits = digits.map_or(2, Currency::digits);
        let amount = |micros: i64| Micros(micros).in_units(digits);
        let or_none = |micros: &Option<i64>| micros.map_or_else(|| "-".to_owned(), amount);
        let ms = u64::try_from(total.run_ms).unwrap_or_default();
        table.row([
            name.clone().unwrap_or_else(|| tenant.to_string()),
            plan.clone().unwrap_or_else(|| "-".to_owned()),
            total.tasks.to_string(),
            format_duration(Duration::from_millis(ms)),
            amount(total.cost),
            or_none(own_cost),
            or_none(margin),
            total.currency.clone().unwrap_or_else(|| "no prices".to_owned()),
        ]);
    }
    let mut text = table.take();
    if costs.left_out > 0 {
        text.push_str(&format!("{} more rows; see --limit.\n", costs.left_out));
    }
    text
}
