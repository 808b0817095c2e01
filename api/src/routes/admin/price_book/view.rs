//! A price book as operators see it.

use crate::answer::Answer;
use actix_web::http::StatusCode;
use api_types::PriceBook;
use store::price_book::PriceBookRecord;

/// The price book of a record.
pub(super) fn price_book(record: PriceBookRecord) -> PriceBook {
    let PriceBookRecord { name, version, book, created_at, updated_at } = record;
    PriceBook { name, version, book, created_at, updated_at }
}

/// Shows a price book, with its version as `ETag`.
pub(super) fn shown(status: StatusCode, record: PriceBookRecord) -> Answer<PriceBook> {
    Answer::versioned(status, record.version, price_book(record))
}
