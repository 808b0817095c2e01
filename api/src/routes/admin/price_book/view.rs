//! A price book as operators see it, and how one is named in a path.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::PriceBook;
use domain::id::PriceBookName;
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

/// It is in another version than was asked for.
pub(super) fn mismatch(version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The price book has version {version}."),
        None => "The price book does not exist.".to_owned(),
    };
    Problem::new(Code::VersionMismatch, detail)
}

/// The price book named in the path.
pub(super) fn name_of(call: &OperatorCall) -> Result<PriceBookName, Problem> {
    let text = call.request.match_info().get("name").unwrap_or_default();
    text.parse().map_err(|error: domain::id::ParseNameError| {
        Problem::at(Code::InvalidParameter, "path:name", error.to_string())
    })
}
