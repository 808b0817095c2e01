//! `/v1/invoices`, and what operators do with them and with credits.

use crate::{DateTime, Extensible};
use chrono::NaiveDate;
use domain::id::TaskId;
use domain::invoice::{InvoiceState, LineKind};
use serde::{Deserialize, Serialize};

/// An invoice. All amounts are whole micro-units: millionths of the currency's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Invoice {
    /// Such as `2030-01-0007`: the month, and how many invoices the tenant has had with this one. Of a draft the month and the currency,
    /// `2030-01-EUR`.
    pub number: String,
    /// Its state.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::InvoiceState))]
    pub state: Extensible<InvoiceState>,
    /// The first day of its month.
    pub month: NaiveDate,
    /// The IANA zone of the month.
    pub zone: String,
    /// When the month begins; attempts count that ended from then on.
    pub starts_at: DateTime,
    /// When the month ends, excluded.
    pub ends_at: DateTime,
    /// Code of ISO 4217.
    pub currency: String,
    /// What is to be paid: the sum of the lines, in whole smallest units of the currency.
    pub total: i64,
    /// What was paid back.
    pub refunded: i64,
    /// Who sends it, several lines.
    pub seller: String,
    /// Whom it is for.
    pub customer: InvoiceCustomer,
    /// Its lines.
    pub lines: Vec<InvoiceLine>,
    /// When it was made final; null for a draft.
    pub finalized_at: Option<DateTime>,
    /// When it was paid.
    pub paid_at: Option<DateTime>,
    /// When it was made void.
    pub voided_at: Option<DateTime>,
}

/// Whom an invoice is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvoiceCustomer {
    /// The tenant's name.
    pub name: Option<String>,
    /// Its address, several lines.
    pub address: Option<String>,
}

/// A line of an invoice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvoiceLine {
    /// Its place, from 1.
    pub line: u32,
    /// What it is about. `GET /v1/invoices/{number}/lines/{line}/attempts` lists the attempts of `attempts`, `tasks` and `fires`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::InvoiceLineKind))]
    pub kind: Extensible<LineKind>,
    /// The same in words.
    pub description: String,
    /// The tier of its attempts; null: of tasks that gave resources, or no line of attempts.
    pub tier: Option<String>,
    /// Billed attempts, tasks or fires.
    pub quantity: Option<i64>,
    /// Micro-units for each; null where they differ.
    pub unit_price: Option<i64>,
    /// Micro-units that it adds to the total.
    pub amount: i64,
    /// The key of the credit.
    pub credit: Option<String>,
}

/// An attempt of a line of an invoice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvoiceAttempt {
    /// Its task.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub task: TaskId,
    /// Its number, from 1.
    pub attempt: u32,
    /// When it was placed: its prices are of then.
    pub placed_at: DateTime,
    /// When it ended.
    pub ended_at: DateTime,
    /// Billed time.
    pub usage_ms: i64,
    /// Micro-units that it adds to the line.
    pub cost: i64,
}

/// A credit or refund.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Credit {
    /// Given by whoever made it.
    pub key: String,
    /// `credit`: the next invoice applies it. `refund`: it was paid back. `carried`: what credits of an invoice exceeded its charges by.
    /// `returned`: the credits of an invoice that is void.
    pub kind: String,
    /// Code of ISO 4217.
    pub currency: String,
    /// Micro-units; negative: in the tenant's favour.
    pub amount: i64,
    /// The invoice that it is about.
    pub invoice: Option<String>,
    /// Why.
    pub reason: String,
    /// The invoice that applied it.
    pub applied_to: Option<String>,
    /// When it was made.
    pub created_at: DateTime,
}

/// How a tenant is billed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantBilling {
    /// The IANA zone of its months.
    pub zone: String,
    /// Its name at a billing provider.
    pub customer: Option<String>,
    /// Its address on invoices, several lines.
    pub address: Option<String>,
    /// The first day of the month that is billed next.
    pub month: NaiveDate,
    /// When that month begins.
    pub starts_at: DateTime,
    /// When it ends, excluded.
    pub ends_at: DateTime,
}
