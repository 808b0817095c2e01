//! `/v1/admin/price-books`: what things cost.

use crate::DateTime;
use domain::id::PriceBookName;
use serde::{Deserialize, Serialize};

/// A price book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceBook {
    /// Its name.
    pub name: PriceBookName,
    /// Version, from 1; counts changes.
    pub version: i64,
    /// Its currency and prices.
    #[serde(flatten)]
    pub book: domain::price::PriceBook,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was last changed.
    pub updated_at: DateTime,
}

/// A deleted price book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeletedPriceBook {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: PriceBookName,
    /// True.
    pub deleted: bool,
}
