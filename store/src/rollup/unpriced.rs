//! How many of the attempts that are counted no prices held for.
//!
//! An installation without any price book bills nobody, and has none.

use crate::StoreError;
use crate::statement::named;
use domain::price::{Part, Rollup};
use sqlx::PgConnection;

/// Charged attempts of these sums that no prices held for, while there are price books.
pub(super) async fn attempts(tx: &mut PgConnection, rows: &Rollup) -> Result<u64, StoreError> {
    // Each attempt has one tier.
    let unpriced = rows
        .so_far()
        .filter(|(row, _)| row.price_book.is_none() && matches!(row.part, Part::Tier(_)))
        .map(|(_, sums)| sums.charged_attempts.max(0).unsigned_abs())
        .sum();
    if unpriced == 0 {
        return Ok(0);
    }
    let query = sqlx::query_scalar!(r#"select exists (select from price_book) as "any!""#);
    let any = named("rollup.price_books", query.fetch_optional(tx)).await?;
    Ok(if any == Some(true) { unpriced } else { 0 })
}
