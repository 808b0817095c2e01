//! `berth admin credit list` and `create`.

use super::tenant_show::{TenantArguments, id_of};
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use client::Credit;
use client::request::CreditCreate;
use domain::invoice::InvoiceName;
use domain::price::{Currency, Micros};
use domain::time::format_time;

const COLUMNS: [&str; 8] =
    ["KEY", "KIND", "AMOUNT", "CURRENCY", "INVOICE", "APPLIED TO", "MADE", "REASON"];

/// A credit to make.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth admin credit create acme outage-7 --amount -5000000 --currency EUR --reason 'Outage of May 7'\n  \
                  berth admin credit create acme refund-1 --refund --amount -1200000 --currency EUR --invoice 2030-01-0007 --reason 'Billed in error'"
)]
pub struct CreditCreateArguments {
    /// Name or id of the tenant.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
    /// Key of your own, 1 to 100 of A-Z, a-z, 0-9, ., _ and -: a credit of the same key is made once.
    pub key: String,
    /// Micro-units: millionths of the currency's unit. Negative: in the tenant's favour.
    #[arg(long, value_name = "MICROS", allow_negative_numbers = true)]
    pub amount: i64,
    /// Code of ISO 4217.
    #[arg(long)]
    pub currency: String,
    /// Why, as the invoice shows it.
    #[arg(long)]
    pub reason: String,
    /// The invoice that it is about.
    #[arg(long, value_name = "NUMBER")]
    pub invoice: Option<InvoiceName>,
    /// It was paid back; no invoice applies it.
    #[arg(long, requires = "invoice")]
    pub refund: bool,
}

/// Shows a tenant's credits and refunds, newest first.
pub async fn list(arguments: &TenantArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let credits = connection.client.credits(tenant).await;
    let credits = credits.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(credits.json()),
        Format::Table => output::text(&table(&credits.data)),
    }
}

/// Makes a credit or refund. The same again changes nothing.
pub async fn create(
    arguments: &CreditCreateArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let credit = CreditCreate {
        key: arguments.key.clone(),
        refund: arguments.refund,
        currency: arguments.currency.clone(),
        amount: arguments.amount,
        invoice: arguments.invoice.map(|invoice| invoice.to_string()),
        reason: arguments.reason.clone(),
    };
    let made = connection.client.create_credit(tenant, &credit).await;
    let made = made.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(made.json()),
        Format::Table => output::text(&table(std::slice::from_ref(&*made))),
    }
}

fn table(credits: &[Credit]) -> String {
    let mut table = Table::new(COLUMNS);
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    for credit in credits {
        let digits = credit.currency.parse().map_or(2, Currency::digits);
        table.row([
            credit.key.clone(),
            credit.kind.clone(),
            Micros(credit.amount).in_units(digits),
            credit.currency.clone(),
            or_none(&credit.invoice),
            or_none(&credit.applied_to),
            format_time(credit.created_at),
            credit.reason.clone(),
        ]);
    }
    table.take()
}
