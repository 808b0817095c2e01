//! `berth invoice list`, `get` and `download`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table};
use client::{DateTime, Invoice, InvoiceLine};
use domain::invoice::InvoiceName;
use domain::price::{Currency, Micros};
use std::path::PathBuf;

/// Which invoice.
#[derive(Debug, clap::Args)]
pub struct InvoiceArguments {
    /// Number, such as 2030-01-0007; or of a draft month and currency, 2030-01-EUR.
    pub number: InvoiceName,
}

/// Which invoice, and as what.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth invoice download 2030-01-0007\n  berth invoice download 2030-01-0007 --format csv --to -"
)]
pub struct InvoiceDownloadArguments {
    /// Number, such as 2030-01-0007; or of a draft month and currency, 2030-01-EUR.
    pub number: InvoiceName,
    /// pdf or csv.
    #[arg(long, value_name = "FORMAT", value_parser = ["pdf", "csv"], default_value = "pdf")]
    pub format: String,
    /// File; `-`: standard output. Default: invoice-NUMBER.FORMAT.
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}

const COLUMNS: [&str; 6] = ["NUMBER", "MONTH", "STATE", "TOTAL", "CURRENCY", "FINAL SINCE"];
const LINES: [&str; 5] = ["LINE", "DESCRIPTION", "QUANTITY", "UNIT PRICE", "AMOUNT"];

/// Shows all invoices, newest first.
pub async fn list(connection: &Connection) -> Result<(), Failure> {
    let invoices = connection.client.invoices().await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(invoices.json()),
        Format::Table => output::text(&table(&invoices.data)),
    }
}

/// Shows one invoice with its lines.
pub async fn get(connection: &Connection, arguments: &InvoiceArguments) -> Result<(), Failure> {
    let invoice = connection.client.invoice(arguments.number).await;
    let invoice = invoice.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(invoice.json()),
        Format::Table => output::text(&details(&invoice)),
    }
}

/// Writes one invoice to a file.
pub async fn download(
    connection: &Connection,
    arguments: &InvoiceDownloadArguments,
) -> Result<(), Failure> {
    let InvoiceDownloadArguments { number, format, to } = arguments;
    let file = connection.client.invoice_file(*number, format).await;
    let file = file.map_err(|error| failure(&error))?;
    let to = to.clone().unwrap_or_else(|| PathBuf::from(format!("invoice-{number}.{format}")));
    if to.as_os_str() == "-" {
        return output::bytes(&mut std::io::stdout().lock(), &file);
    }
    std::fs::write(&to, &file)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", to.display())))?;
    output::line(&format!("Invoice {number} is in {}.", to.display()))
}

/// Invoices, a row each.
pub(crate) fn table(invoices: &[Invoice]) -> String {
    let mut table = Table::new(COLUMNS);
    for invoice in invoices {
        table.row([
            invoice.number.clone(),
            invoice.month.format("%Y-%m").to_string(),
            invoice.state.to_string(),
            amount(invoice, invoice.total),
            invoice.currency.clone(),
            invoice.finalized_at.map_or_else(|| "-".to_owned(), time),
        ]);
    }
    table.take()
}

/// An invoice with its lines.
pub(crate) fn details(invoice: &Invoice) -> String {
    let mut details = Details::default();
    details.row("number", &invoice.number);
    details.row("state", &invoice.state);
    details.some("customer", invoice.customer.name.as_ref());
    details.row("from", time(invoice.starts_at));
    details.row("to", time(invoice.ends_at));
    details.row("zone", &invoice.zone);
    details.some("final since", invoice.finalized_at.map(time));
    details.some("paid", invoice.paid_at.map(time));
    details.some("void since", invoice.voided_at.map(time));
    let mut table = Table::new(LINES);
    invoice.lines.iter().for_each(|line| table.row(cells(invoice, line)));
    let lines = table.take();
    let mut text = format!(
        "{details}\n{lines}\ntotal  {} {}\n",
        amount(invoice, invoice.total),
        invoice.currency
    );
    if invoice.refunded != 0 {
        text.push_str(&format!(
            "refunded  {} {}\n",
            amount(invoice, invoice.refunded),
            invoice.currency
        ));
    }
    text
}

fn cells(invoice: &Invoice, line: &InvoiceLine) -> [String; 5] {
    [
        line.line.to_string(),
        line.description.clone(),
        line.quantity.map_or_else(|| "-".to_owned(), |quantity| quantity.to_string()),
        line.unit_price.map_or_else(|| "-".to_owned(), |price| amount(invoice, price)),
        amount(invoice, line.amount),
    ]
}

fn amount(invoice: &Invoice, micros: i64) -> String {
    Micros(micros).in_units(invoice.currency.parse().map_or(2, Currency::digits))
}

fn time(at: DateTime) -> String {
    domain::time::format_time(at)
}
