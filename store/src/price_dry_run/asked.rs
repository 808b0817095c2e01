//! By which prices, and whose use.

use crate::price_history::KnownPrices;
use domain::price::{Currency, Prices};
use uuid::Uuid;

/// Where a chunk or a statement finds what it needs.
pub(super) struct Asked<'a> {
    pub(super) prices: &'a Prices,
    pub(super) currency: Currency,
    pub(super) known: &'a KnownPrices,
    pub(super) tenants: &'a [Uuid],
}
