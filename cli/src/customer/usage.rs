//! `berth usage`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use chrono::NaiveDate;
use client::{CostsQuery, Usage, UsageAmounts};
use domain::time::format_duration;
use std::time::Duration;

/// Which days.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  berth usage --from 2030-01-01 --to 2030-01-31\n  berth usage --step hour --group-by label:team"
)]
pub struct UsageArguments {
    /// First day, UTC. Default: first of the month.
    #[arg(long, value_name = "DAY")]
    pub from: Option<NaiveDate>,
    /// Last day, inclusive. Default: last of the month.
    #[arg(long, value_name = "DAY")]
    pub to: Option<NaiveDate>,
    /// How long each row is: hour, day or month. Default: day.
    #[arg(long, value_name = "STEP")]
    pub step: Option<String>,
    /// tier, schedule, workflow, or label:KEY. Default: tier.
    #[arg(long, value_name = "GROUP")]
    pub group_by: Option<String>,
}

const COLUMNS: [&str; 7] =
    ["FROM", "GROUP", "ATTEMPTS", "BILLED", "RUN TIME", "CORE HOURS", "GIB HOURS"];

/// Shows what was used.
pub async fn run(connection: &Connection, arguments: &UsageArguments) -> Result<(), Failure> {
    let UsageArguments { from, to, step, group_by } = arguments.clone();
    let query = CostsQuery { from, to, step, group_by };
    let usage = connection.client.usage(&query).await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(usage.json()),
        Format::Table => output::text(&table(&usage, &query)),
    }
}

fn table(usage: &Usage, query: &CostsQuery) -> String {
    let is_by_tier = query.group_by.as_deref().is_none_or(|group| group == "tier");
    let mut table = Table::new(COLUMNS);
    for row in &usage.data {
        let group = match (&row.tier, &row.group) {
            _ if row.others => "(others)".to_owned(),
            (Some(tier), _) => tier.to_string(),
            (None, Some(group)) => group.clone(),
            (None, None) => if is_by_tier { "own" } else { "-" }.to_owned(),
        };
        let from = match query.step.as_deref() {
            Some("hour") => row.starts_at.format("%Y-%m-%d %H:00").to_string(),
            Some("month") => row.day.format("%Y-%m").to_string(),
            _ => row.day.to_string(),
        };
        table.row(cells(from, group, row.amounts));
    }
    table.row(cells("total".to_owned(), String::new(), usage.total));
    table.take()
}

fn cells(day: String, tier: String, amounts: UsageAmounts) -> [String; 7] {
    let ms = u64::try_from(amounts.run_ms).unwrap_or_default();
    [
        day,
        tier,
        amounts.attempts.to_string(),
        amounts.charged_attempts.to_string(),
        format_duration(Duration::from_millis(ms)),
        thousandths(amounts.cpu_millis_ms, 1000 * 3_600_000),
        thousandths(amounts.memory_mib_ms, 1024 * 3_600_000),
    ]
}

/// `amount / unit` with three decimals, cut and never rounded up: a bill is made from the integers, not from this.
fn thousandths(amount: i64, unit: i64) -> String {
    let whole = i128::from(amount) * 1000 / i128::from(unit);
    format!("{}.{:03}", whole / 1000, whole % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_shown_in_hours_with_its_total_below() {
        let amounts = r#""attempts":2,"charged_attempts":1,"run_ms":3600000,"cpu_millis_ms":900000000,"memory_mib_ms":1843200000"#;
        let usage: Usage = serde_json::from_str(&format!(
            r#"{{"from":"2030-01-01","to":"2030-01-31","data":[{{"day":"2030-01-02","tier":"basic",{amounts}}}],"total":{{{amounts}}}}}"#
        ))
        .unwrap();
        assert_eq!(
            table(&usage, &CostsQuery::default()),
            "FROM        GROUP  ATTEMPTS  BILLED  RUN TIME  CORE HOURS  GIB HOURS\n\
             2030-01-02  basic  2         1       1h        0.250       0.500\n\
             total              2         1       1h        0.250       0.500\n"
        );
    }
}
