//! `berth admin price-book dry-run`.

use super::price_book::book_in;
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use client::{PriceDryRun, PriceDryRunQuery, PriceDryRunTenant};
use domain::id::{PriceBookName, TenantId};
use domain::price::{Currency, Micros};

const COLUMNS: [&str; 7] = ["TENANT", "PLAN", "ATTEMPTS", "TASKS", "BEFORE", "AFTER", "CHANGE"];

/// Which prices, and which use.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The last prices of the book are taken for all of the month. Nothing is stored.\n\nExamples:\n  berth admin price-book dry-run eur.yaml\n  berth admin price-book dry-run eur.yaml --month 2030-01 --price-book eur"
)]
pub struct PriceBookDryRunArguments {
    /// JSON or YAML file with the currency and the prices; `-`: standard input.
    pub file: String,
    /// Month, such as 2030-01. Default: the last one.
    #[arg(long, value_name = "MONTH")]
    pub month: Option<String>,
    /// Only tenants whose plan names this price book.
    #[arg(long, value_name = "NAME")]
    pub price_book: Option<PriceBookName>,
    /// Only this tenant.
    #[arg(long, value_name = "ID")]
    pub tenant: Option<TenantId>,
    /// Rows, 1 to 1000. Default: 100.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
}

/// Shows what each tenant's use would have cost.
pub async fn run(
    arguments: &PriceBookDryRunArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let PriceBookDryRunArguments { file, month, price_book, tenant, limit } = arguments;
    let book = book_in(file)?;
    let query = PriceDryRunQuery {
        month: month.clone(),
        price_book: price_book.clone(),
        tenant: *tenant,
        limit: *limit,
    };
    let run = connection.client.dry_run_prices(&book, &query).await;
    let run = run.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(run.json()),
        Format::Table => output::text(&page(&run)),
    }
}

fn page(run: &PriceDryRun) -> String {
    let digits = run.currency.parse::<Currency>().map_or(2, Currency::digits);
    let amount = |micros: i64| Micros(micros).in_units(digits);
    let mut table = Table::new(COLUMNS);
    let mut elsewhere = 0_i64;
    for row in &run.data {
        let PriceDryRunTenant { tenant, name, plan, charged_attempts, tasks, .. } = row;
        elsewhere = elsewhere.saturating_add(row.elsewhere_attempts);
        table.row([
            name.clone().unwrap_or_else(|| tenant.to_string()),
            plan.clone(),
            charged_attempts.to_string(),
            tasks.to_string(),
            amount(row.before.total),
            amount(row.after.total),
            amount(row.change),
        ]);
    }
    let mut text = table.take();
    let (before, after) = (amount(run.before), amount(run.after));
    text.push_str(&format!(
        "\n{} to {}: {before} {} before, {after} by these prices.\n",
        run.from, run.to, run.currency
    ));
    if run.exact_from > run.from {
        text.push_str(&format!(
            "Before {}, attempts are not kept: what these days would cost is without discounts for tolerance and flexible tasks.\n",
            run.exact_from
        ));
    }
    if elsewhere > 0 {
        text.push_str(&format!(
            "{elsewhere} of these attempts had no price, or one in another currency: they are not in BEFORE.\n"
        ));
    }
    if run.left_out > 0 {
        text.push_str(&format!("{} more rows; see --limit.\n", run.left_out));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::NaiveDate;
    use client::CostBill;

    #[test]
    fn what_is_not_exact_or_not_compared_is_said() {
        let day = |day| NaiveDate::from_ymd_opt(2030, 1, day).unwrap();
        let bill = |total| CostBill { charges: total, total, ..CostBill::default() };
        let row = PriceDryRunTenant {
            tenant: TenantId::fresh(),
            name: Some("acme".to_owned()),
            plan: "team".to_owned(),
            charged_attempts: 7,
            elsewhere_attempts: 0,
            tasks: 5,
            before: bill(2_000_000),
            after: bill(1_500_000),
            change: -500_000,
        };
        let mut run = PriceDryRun {
            from: day(1),
            to: day(31),
            currency: "EUR".to_owned(),
            exact_from: day(1),
            before: 2_000_000,
            after: 1_500_000,
            data: vec![row],
            left_out: 0,
        };
        let text = page(&run);
        assert!(text.contains("acme    team  7         5      2.00    1.50   -0.50"), "{text}");
        assert!(text.ends_with("2.00 EUR before, 1.50 by these prices.\n"), "{text}");
        run.exact_from = day(9);
        run.left_out = 3;
        run.data[0].elsewhere_attempts = 2;
        let text = page(&run);
        for part in ["Before 2030-01-09", "2 of these attempts had no price", "3 more rows"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
