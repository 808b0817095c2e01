//! Invoices: what a month comes to, line by line, and how an invoice stands.
//!
//! A month is one of the tenant's zone. Lines are whole micro-units and add up to the total: the total is rounded once, at the end, half
//! to even, to the currency's smallest unit, and the rounding is a line of its own. What is final never changes; credits and refunds
//! are signed amounts of their own.

mod bill;
mod name;
mod state;
mod zone;

pub use bill::{
    AppliedCredit, Invoice, InvoiceLine, InvoiceTerms, LineKind, MonthUse, TierUse, bill,
};
pub use name::{InvoiceName, ParseInvoiceNameError};
pub use state::{InvoiceMove, InvoiceState};
pub use zone::{BillingZone, ParseZoneError, Period};
