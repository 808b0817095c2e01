//! `berth doctor rebuild-usage`: the roll-up of usage, computed again from the attempts that are kept.
//!
//! It writes to the database as `berth_scheduler`, a day in a transaction, and says on standard error how far it is. It may be stopped
//! at any time, and repeated.

use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table};
use crate::settings_arguments::SettingsArguments;
use chrono::{Days, NaiveDate, NaiveTime};
use domain::id::TenantId;
use domain::price::{Currency, Micros};
use local::database;
use runtime::clock;
use runtime::config;
use serde_json::{Value, json};
use store::connect::SchedulerDb;
use store::usage_rebuild::{
    CostOfDay, DayRebuilt, InvoiceDifference, RebuildDay, RebuildError, differing, first_day,
    rebuild,
};

/// Which days, and of whom.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each day is one transaction: stop it at any time, and repeat it. Invoices never change: final ones that differ are listed.\nExit code 0: done; 1: some invoice differs; 8: --dry-run found differences.\n\nExamples:\n  berth doctor rebuild-usage --dry-run\n  berth doctor rebuild-usage --from 2030-01-01 --to 2030-01-31 --config /etc/berth.toml"
)]
pub struct RebuildUsageArguments {
    /// First day, UTC. Default: the first of which all attempts are kept.
    #[arg(long, value_name = "DAY")]
    pub from: Option<NaiveDate>,
    /// Last day, inclusive. Default: today.
    #[arg(long, value_name = "DAY")]
    pub to: Option<NaiveDate>,
    /// Of one tenant.
    #[arg(long, value_name = "ID")]
    pub tenant: Option<TenantId>,
    /// Show what differs and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// What was found, and where final invoices are other than the roll-up.
struct Outcome {
    days: Vec<DayRebuilt>,
    invoices: Vec<InvoiceDifference>,
}

/// Computes the days again, and prints what differed.
pub async fn run(arguments: &RebuildUsageArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = SchedulerDb::connect(&config.database).map_err(|error| explained(error.into()))?;
    let outcome = all_days(&db, arguments, config.limits.history_retention_days).await;
    db.close().await;
    let outcome = outcome?;
    match format {
        Format::Json => output::line(&document(&outcome, arguments.dry_run).to_string())?,
        Format::Table => output::text(&page(&outcome, arguments.dry_run))?,
    }
    verdict(&outcome, arguments.dry_run)
}

fn explained(error: RebuildError) -> Failure {
    match error {
        RebuildError::Store(error) => database::scheduler_failure(&error),
        refused @ (RebuildError::NotCounted | RebuildError::NotKept { .. }) => {
            Failure::failed(refused.to_string())
        }
    }
}

async fn all_days(
    db: &SchedulerDb,
    arguments: &RebuildUsageArguments,
    retention_days: u32,
) -> Result<Outcome, Failure> {
    let failed = |error: store::StoreError| explained(error.into());
    let first = first_day(db, retention_days).await.map_err(failed)?;
    let today = clock::wall().date_naive();
    let (from, to) = (arguments.from.unwrap_or(first), arguments.to.unwrap_or(today).min(today));
    if from < first {
        return Err(explained(RebuildError::NotKept { day: from, first }));
    }
    if from > to {
        return Err(Failure::usage(format!("--from {from} is after the last day, {to}")));
    }
    let mut days = Vec::new();
    for day in from.iter_days().take_while(|day| *day <= to) {
        let (tenant, dry_run) = (arguments.tenant, arguments.dry_run);
        let what = RebuildDay { day, tenant, retention_days, dry_run };
        let rebuilt = rebuild(db, &what).await.map_err(explained)?;
        output::remark(&progress(&rebuilt));
        days.push(rebuilt);
    }
    let next = to.checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
    let range = [from, next].map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let corrections = days.iter().flat_map(|day| &day.corrections).filter(|_| arguments.dry_run);
    let corrections: Vec<_> = corrections.cloned().collect();
    let invoices = differing(db, range, arguments.tenant, &corrections).await.map_err(failed)?;
    Ok(Outcome { days, invoices })
}

fn progress(day: &DayRebuilt) -> String {
    let DayRebuilt { day, attempts, changed_rows, changed_tenants, .. } = day;
    match changed_rows {
        0 => format!("{day}: {attempts} attempts, as they were counted"),
        _ => format!(
            "{day}: {attempts} attempts, {changed_rows} rows of {changed_tenants} tenants differ"
        ),
    }
}

fn in_units(amount: Micros, currency: &str) -> String {
    amount.in_units(currency.parse::<Currency>().map_or(2, Currency::digits))
}

fn page(outcome: &Outcome, dry_run: bool) -> String {
    let changed: Vec<_> = outcome.days.iter().filter(|day| day.changed_rows > 0).collect();
    let mut page = match changed.len() {
        0 => format!("{} days are as they were counted.\n", outcome.days.len()),
        many => {
            let done = if dry_run { "differ; nothing was changed" } else { "were corrected" };
            let mut table =
                Table::new(["DAY", "ATTEMPTS", "ROWS", "TENANTS", "CURRENCY", "BEFORE", "AFTER"]);
            changed.iter().for_each(|day| add_rows(&mut table, day));
            let all = outcome.days.len();
            format!("{}\n{many} of {all} days {done}.\n", table.take())
        }
    };
    if !outcome.invoices.is_empty() {
        let mut table =
            Table::new(["TENANT", "INVOICE", "STATE", "CURRENCY", "BILLED", "BY THE ROLL-UP"]);
        for one in &outcome.invoices {
            let amount = |amount| in_units(amount, &one.currency);
            table.row([
                one.tenant.to_string(),
                one.number.clone(),
                one.state.clone(),
                one.currency.clone(),
                amount(one.billed),
                amount(one.counted),
            ]);
        }
        page.push_str(&format!(
            "\nFinal invoices bill other amounts for what was used:\n{}An invoice never changes; `berth admin credit create` makes up for it.\n",
            table.take()
        ));
    }
    page
}

fn add_rows(table: &mut Table<7>, day: &DayRebuilt) {
    let counts = |first: bool| match first {
        true => [
            day.day.to_string(),
            day.attempts.to_string(),
            day.changed_rows.to_string(),
            day.changed_tenants.to_string(),
        ],
        false => [const { String::new() }; 4],
    };
    let mut costs = day.costs.iter().map(|CostOfDay { currency, before, after }| {
        [currency.clone(), in_units(*before, currency), in_units(*after, currency)]
    });
    let first = costs.next().unwrap_or(["-"; 3].map(str::to_owned));
    for (at, cost) in std::iter::once(first).chain(costs).enumerate() {
        let ([day, attempts, rows, tenants], [currency, before, after]) = (counts(at == 0), cost);
        table.row([day, attempts, rows, tenants, currency, before, after]);
    }
}

fn document(outcome: &Outcome, dry_run: bool) -> Value {
    let cost = |cost: &CostOfDay| json!({"currency": cost.currency, "before": cost.before, "after": cost.after});
    let day = |day: &DayRebuilt| {
        json!({"day": day.day, "attempts": day.attempts, "changed_rows": day.changed_rows,
            "changed_tenants": day.changed_tenants, "costs": day.costs.iter().map(cost).collect::<Vec<_>>()})
    };
    let invoice = |one: &InvoiceDifference| {
        json!({"tenant": one.tenant, "number": one.number, "state": one.state, "currency": one.currency,
            "billed": one.billed, "counted": one.counted})
    };
    json!({"dry_run": dry_run, "days": outcome.days.iter().map(day).collect::<Vec<_>>(),
        "invoices": outcome.invoices.iter().map(invoice).collect::<Vec<_>>()})
}

fn verdict(outcome: &Outcome, dry_run: bool) -> Result<(), Failure> {
    let changed = outcome.days.iter().filter(|day| day.changed_rows > 0).count();
    if dry_run && changed > 0 {
        let text = format!("{changed} days differ; without --dry-run they are corrected");
        return Err(Failure::new(Exit::Changes, text));
    }
    match outcome.invoices.len() {
        0 => Ok(()),
        many => Err(Failure::failed(format!("{many} final invoices differ from the roll-up"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(changed_rows: usize, invoices: Vec<InvoiceDifference>) -> Outcome {
        let cost = |currency: &str| CostOfDay {
            currency: currency.to_owned(),
            before: Micros(12_500_000),
            after: Micros(12_300_000),
        };
        let day = DayRebuilt {
            day: NaiveDate::default(),
            attempts: 7,
            changed_rows,
            changed_tenants: 1,
            costs: vec![cost("EUR"), cost("JPY")],
            corrections: Vec::new(),
        };
        Outcome { days: vec![day], invoices }
    }

    fn invoice() -> InvoiceDifference {
        InvoiceDifference {
            tenant: TenantId::fresh(),
            number: "2030-01-0007".to_owned(),
            state: "paid".to_owned(),
            currency: "EUR".to_owned(),
            billed: Micros(12_500_000),
            counted: Micros(12_300_000),
        }
    }

    #[test]
    fn what_differs_is_shown_and_is_the_exit_code() {
        let exit = |outcome: &Outcome, dry_run| {
            verdict(outcome, dry_run).map_err(|failure| failure.exit())
        };
        let same = outcome(0, Vec::new());
        assert_eq!(page(&same, false), "1 days are as they were counted.\n");
        assert_eq!(exit(&same, true), Ok(()));
        let wrong = outcome(3, vec![invoice()]);
        let text = page(&wrong, true);
        let day = "1970-01-01  7         3     1        EUR       12.50   12.30";
        for part in [day, "JPY       12.5    12.3", "nothing was changed", "2030-01-0007", "credit"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(exit(&wrong, true), Err(Exit::Changes));
        assert!(page(&wrong, false).contains("1 of 1 days were corrected"));
        assert_eq!(exit(&wrong, false), Err(Exit::Failed), "of the invoice");
        assert_eq!(exit(&outcome(3, Vec::new()), false), Ok(()));
        let document = document(&wrong, true);
        assert_eq!(document["days"][0]["costs"][0]["after"], 12_300_000);
        assert_eq!(document["invoices"][0]["billed"], 12_500_000);
    }
}
