//! What operators say of how a tenant is billed, and its credits.

use serde::{Deserialize, Serialize};

/// How a tenant is billed, all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantBillingPut {
    /// The IANA zone of its months. Default: UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "Europe/Berlin"))]
    pub zone: Option<String>,
    /// Its name at a billing provider, 1 to 255 characters. Default: none, and its id stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// Its address on invoices, several lines, 1 to 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// A credit or refund to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreditCreate {
    /// 1 to 100 of A-Z, a-z, 0-9, `.`, `_` and `-`. A credit of the same key is made once.
    pub key: String,
    /// True: it was paid back, of a paid invoice. Default: false; the next invoice of the currency applies it.
    #[serde(default)]
    pub refund: bool,
    /// Code of ISO 4217.
    #[cfg_attr(feature = "openapi", schema(example = "EUR", min_length = 3, max_length = 3))]
    pub currency: String,
    /// Micro-units, not 0, at most 10¹⁵. Negative: in the tenant's favour, as a refund always is.
    pub amount: i64,
    /// The invoice that it is about. Required for a refund.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice: Option<String>,
    /// Why, as the invoice shows it: 1 to 500 visible characters.
    pub reason: String,
}
