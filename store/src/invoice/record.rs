//! An invoice as it is stored, or computed.

use crate::StoreError;
use chrono::NaiveDate;
use domain::id::TenantId;
use domain::invoice::{BillingZone, InvoiceLine, InvoiceName, InvoiceState, Period};
use domain::price::{Currency, Micros};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Whom an invoice is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvoiceCustomer {
    /// The tenant's name; none of a purged one.
    pub name: Option<String>,
    /// Its address, several lines.
    pub address: Option<String>,
    /// Its name at a billing provider.
    pub customer: Option<String>,
}

/// What an invoice says, but for amounts and times, which are columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvoiceDocument {
    /// Who sends it, several lines.
    pub seller: String,
    /// Whom it is for.
    pub customer: InvoiceCustomer,
    /// Its lines. They add up to the total.
    pub lines: Vec<InvoiceLine>,
}

/// An invoice.
#[derive(Debug, Clone, PartialEq)]
pub struct InvoiceRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Its number, or the name of a draft.
    pub name: InvoiceName,
    /// How it stands.
    pub state: InvoiceState,
    /// Its month.
    pub period: Period,
    /// The zone of the month.
    pub zone: BillingZone,
    /// Of all its amounts.
    pub currency: Currency,
    /// What is to be paid.
    pub total: Micros,
    /// What was paid back, not negative.
    pub refunded: Micros,
    /// What it says.
    pub document: InvoiceDocument,
    /// When it was made final.
    pub finalized_at: Option<Timestamp>,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When it was made void.
    pub voided_at: Option<Timestamp>,
}

/// A row of `invoice`, with what was refunded.
pub(super) struct InvoiceRow {
    pub(super) tenant_id: Uuid,
    pub(super) number: String,
    pub(super) state: String,
    pub(super) month: NaiveDate,
    pub(super) starts_at: Timestamp,
    pub(super) ends_at: Timestamp,
    pub(super) zone: String,
    pub(super) currency: String,
    pub(super) total: i64,
    pub(super) refunded: i64,
    pub(super) document: String,
    pub(super) finalized_at: Timestamp,
    pub(super) paid_at: Option<Timestamp>,
    pub(super) voided_at: Option<Timestamp>,
}

/// A value of an invoice that cannot be read.
pub(super) fn malformed(what: &'static str, value: &str) -> StoreError {
    let value = value.chars().take(200).collect();
    StoreError::Malformed { what, row: "an invoice".into(), value }
}

impl TryFrom<InvoiceRow> for InvoiceRecord {
    type Error = StoreError;

    fn try_from(row: InvoiceRow) -> Result<Self, StoreError> {
        let InvoiceRow { month, starts_at, ends_at, .. } = row;
        Ok(Self {
            tenant: TenantId(row.tenant_id),
            name: row.number.parse().map_err(|_| malformed("number", &row.number))?,
            state: row.state.parse().map_err(|_| malformed("state", &row.state))?,
            period: Period { month, starts_at, ends_at },
            zone: row.zone.parse().map_err(|_| malformed("zone", &row.zone))?,
            currency: row.currency.parse().map_err(|_| malformed("currency", &row.currency))?,
            total: Micros(row.total),
            refunded: Micros(row.refunded),
            document: serde_json::from_str(&row.document)
                .map_err(|_| malformed("document", &row.document))?,
            finalized_at: Some(row.finalized_at),
            paid_at: row.paid_at,
            voided_at: row.voided_at,
        })
    }
}
