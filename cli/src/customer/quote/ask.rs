//! Asks for a quote and shows it.

use super::show::shown;
use crate::customer::connection::Connection;
use crate::customer::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::RawJson;
use client::request::QuoteAsk;
use serde::Serialize;

/// Asks for a quote and shows it.
pub(super) async fn ask(connection: &Connection, ask: QuoteAsk<RawJson>) -> Result<(), Failure> {
    let quote = connection.client.quote(&ask).await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(quote.json()),
        Format::Table => output::text(&shown(&quote)),
    }
}

/// A body as it is sent.
pub(super) fn raw(value: &impl Serialize) -> Result<RawJson, Failure> {
    let text = serde_json::to_string(value);
    let text =
        text.map_err(|error| Failure::failed(format!("cannot write the request: {error}")))?;
    RawJson::parse(&text).ok_or_else(|| Failure::failed("cannot write the request".to_owned()))
}
