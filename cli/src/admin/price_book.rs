//! `berth admin price-book list`, `get`, `put` and `delete`.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::PriceBook;
use domain::id::PriceBookName;
use domain::time::{Timestamp, format_time};
use runtime::clock;

const COLUMNS: [&str; 5] = ["NAME", "CURRENCY", "IN EFFECT SINCE", "CHANGES AT", "CHANGED"];

/// A price book.
#[derive(Debug, clap::Args)]
pub struct PriceBookArguments {
    /// Name.
    pub name: PriceBookName,
}

/// A price book to store.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth admin price-book put eur eur.yaml\n  berth admin price-book get eur > eur.json && berth admin price-book put eur eur.json\n\n\
                  This replaces the whole book. Prices that are in effect stay as they are; add prices with a later `effective_from`."
)]
pub struct PriceBookPutArguments {
    /// Name: 1 to 63 of a-z, 0-9 and -.
    pub name: PriceBookName,
    /// JSON or YAML file with the currency and the prices; `-`: standard input.
    pub file: String,
    /// Only if the price book has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// Shows every price book.
pub async fn list(connection: &Connection) -> Result<(), Failure> {
    let books = connection.client.price_books().await.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(books.json()),
        Format::Table => output::text(&table(&books.data, clock::wall())),
    }
}

/// Prints a price book as it can be stored again.
pub async fn get(arguments: &PriceBookArguments, connection: &Connection) -> Result<(), Failure> {
    let book = connection.client.price_book(&arguments.name).await;
    let book = book.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(book.json()),
        Format::Table => {
            let text = serde_json::to_string_pretty(&book.book);
            let text = text.map_err(|error| Failure::failed(error.to_string()))?;
            output::line(&text)
        }
    }
}

/// Stores a price book. The same again changes nothing.
pub async fn put(
    arguments: &PriceBookPutArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let PriceBookPutArguments { name, file, if_version } = arguments;
    let book = book_in(file)?;
    let stored = connection.client.put_price_book(name, &book, *if_version).await;
    let stored = stored.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(stored.json()),
        Format::Table => output::text(&table(std::slice::from_ref(&*stored), clock::wall())),
    }
}

/// The price book in a file, with nothing wrong with it.
pub(super) fn book_in(file: &str) -> Result<domain::price::PriceBook, Failure> {
    let text = crate::customer::json_file(file)?;
    let book = serde_json::from_str::<domain::price::PriceBook>(text.as_str())
        .map_err(|error| Failure::usage(format!("{file} is no price book: {error}")))?;
    let wrong: Vec<_> =
        book.problems().iter().map(|(pointer, wanted)| format!("{pointer} {wanted}")).collect();
    match wrong.is_empty() {
        true => Ok(book),
        false => Err(Failure::usage(format!("{file}: {}", wrong.join("; ")))),
    }
}

/// Deletes a price book that no plan has named.
pub async fn delete(
    arguments: &PriceBookArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let name = &arguments.name;
    let deleted = connection.client.delete_price_book(name, None).await;
    let deleted = deleted.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(deleted.json()),
        Format::Table => output::line(&format!("Price book `{name}` is deleted.")),
    }
}

fn table(books: &[PriceBook], now: Timestamp) -> String {
    let mut table = Table::new(COLUMNS);
    for book in books {
        let prices = &book.book.prices;
        let next = prices.iter().find(|prices| prices.effective_from > now);
        let time = |prices: Option<&domain::price::Prices>| {
            prices.map_or_else(|| "-".to_owned(), |prices| format_time(prices.effective_from))
        };
        table.row([
            book.name.to_string(),
            book.book.currency.to_string(),
            time(book.book.at(now)),
            time(next),
            age::ago(book.updated_at, now),
        ]);
    }
    table.take()
}
