//! `berth cap`: list, show, set, delete.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table};
use client::{ApiResponse, ClientError, CostsQuery, LabelIs, SpendCap, SpendCapPut};
use domain::id::SpendCapName;
use domain::price::{Currency, Micros};
use domain::spend::CapPeriod;
use domain::time::format_time;

/// Which cap.
#[derive(Debug, clap::Args)]
pub struct CapArguments {
    /// Name.
    pub name: SpendCapName,
}

/// A cap to store.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth cap set all 250\n  berth cap set ml 20 --period day --zone Europe/Berlin --label team=ml\n  berth cap set nightly 5.50 --schedule nightly\n\n\
                  A cap that is there keeps all but its amount. What was accepted before a cap is not in it."
)]
pub struct CapSetArguments {
    /// Name: 1 to 63 of a-z, 0-9 and -.
    pub name: SpendCapName,
    /// The most that its tasks may cost in a period, in units of the currency.
    pub amount: Micros,
    /// Code of ISO 4217. Default: the currency in which you are billed.
    #[arg(long)]
    pub currency: Option<Currency>,
    /// day or month. Default: month.
    #[arg(long)]
    pub period: Option<CapPeriod>,
    /// Time zone in which periods begin. Default: UTC.
    #[arg(long)]
    pub zone: Option<String>,
    /// Only tasks with this label.
    #[arg(long, value_name = "KEY=VALUE", value_parser = label, conflicts_with = "schedule")]
    pub label: Option<LabelIs>,
    /// Only tasks of this schedule, and of the runs that it starts.
    #[arg(long, value_name = "NAME")]
    pub schedule: Option<String>,
    /// Only if the cap has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

const COLUMNS: [&str; 8] = ["NAME", "OF", "PER", "AMOUNT", "SPENT", "RESERVED", "FREE", "CURRENCY"];

fn label(text: &str) -> Result<LabelIs, String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok(LabelIs { key: key.to_owned(), value: value.to_owned() })
}

/// Shows all caps.
pub async fn list(connection: &Connection) -> Result<(), Failure> {
    let caps = connection.client.spend_caps().await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(caps.json()),
        Format::Table => output::text(&table(&caps.data)),
    }
}

/// Caps and how they stand.
pub(super) fn table(caps: &[SpendCap]) -> String {
    let mut table = Table::new(COLUMNS);
    caps.iter().for_each(|cap| table.row(row(cap)));
    table.take()
}

/// Shows a cap.
pub async fn show(connection: &Connection, arguments: &CapArguments) -> Result<(), Failure> {
    tell(connection, connection.client.spend_cap(&arguments.name).await)
}

/// Stores a cap, or changes its amount.
pub async fn set(connection: &Connection, arguments: &CapSetArguments) -> Result<(), Failure> {
    let before = match connection.client.spend_cap(&arguments.name).await {
        Ok(cap) => Some(cap.into_value()),
        Err(ClientError::Api(error)) if error.status == 404 => None,
        Err(error) => return Err(failure(&error)),
    };
    let CapSetArguments { name, amount, currency, period, zone, label, schedule, if_version } =
        arguments;
    let currency = match (currency, &before) {
        (Some(currency), _) => *currency,
        (None, Some(before)) => before.currency,
        (None, None) => billed_in(connection).await?,
    };
    let is_scoped = label.is_some() || schedule.is_some();
    let kept = before.as_ref().filter(|_| !is_scoped);
    let cap = SpendCapPut {
        amount: *amount,
        currency,
        period: period.or(before.as_ref().map(|cap| cap.period)).unwrap_or(CapPeriod::Month),
        zone: zone
            .clone()
            .or(before.as_ref().map(|cap| cap.zone.clone()))
            .unwrap_or_else(|| "UTC".to_owned()),
        label: label.clone().or(kept.and_then(|cap| cap.label.clone())),
        schedule: schedule.clone().or(kept.and_then(|cap| cap.schedule.clone())),
    };
    tell(connection, connection.client.put_spend_cap(name, &cap, *if_version).await)
}

/// Deletes a cap.
pub async fn delete(connection: &Connection, arguments: &CapArguments) -> Result<(), Failure> {
    let name = &arguments.name;
    let deleted = connection.client.delete_spend_cap(name, None).await;
    let deleted = deleted.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(deleted.json()),
        Format::Table => output::line(&format!("Spend cap `{name}` is deleted.")),
    }
}

async fn billed_in(connection: &Connection) -> Result<Currency, Failure> {
    let costs = connection.client.costs(&CostsQuery::default()).await;
    let costs = costs.map_err(|error| failure(&error))?;
    let currency = costs.month.as_ref().and_then(|month| month.currency.parse().ok());
    currency.ok_or_else(|| {
        Failure::usage("your plan has no prices: say with --currency what the cap is in".to_owned())
    })
}

fn tell(
    connection: &Connection,
    answer: Result<ApiResponse<SpendCap>, ClientError>,
) -> Result<(), Failure> {
    let cap = answer.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(cap.json()),
        Format::Table => output::text(&details(&cap)),
    }
}

fn of(cap: &SpendCap) -> String {
    match (&cap.label, &cap.schedule) {
        (Some(label), _) => format!("label {}={}", label.key, label.value),
        (None, Some(schedule)) => format!("schedule {schedule}"),
        (None, None) => "all tasks".to_owned(),
    }
}

fn units(cap: &SpendCap, amount: Micros) -> String {
    amount.in_units(cap.currency.digits())
}

fn row(cap: &SpendCap) -> [String; 8] {
    let amounts = [cap.amount, cap.spent, cap.reserved, cap.free];
    let [amount, spent, reserved, free] = amounts.map(|amount| units(cap, amount));
    let name = cap.name.to_string();
    let currency = cap.currency.to_string();
    [name, of(cap), cap.period.to_string(), amount, spent, reserved, free, currency]
}

fn details(cap: &SpendCap) -> String {
    let mut details = Details::default();
    let with_currency = |amount| format!("{} {}", units(cap, amount), cap.currency);
    details.row("name", &cap.name);
    details.row("of", of(cap));
    details.row("per", format!("{}, {}", cap.period, cap.zone));
    details.row("amount", with_currency(cap.amount));
    details.row("spent", with_currency(cap.spent));
    details.row("reserved", with_currency(cap.reserved));
    details.row("free", with_currency(cap.free));
    details.row("resets at", format_time(cap.resets_at));
    for alert in &cap.alerts {
        details.row("used up", format!("{} % since {}", alert.percent, format_time(alert.at)));
    }
    details.row("version", cap.version);
    details.to_string()
}
