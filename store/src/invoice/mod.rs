//! Invoices: drafts, computed from the roll-up when they are asked for, and final ones, which are rows that never change.
//!
//! A tenant's row of `tenant_billing` says which month is billed next. Who makes a month final locks it, and moves it in the transaction
//! that writes the invoices: so each month is billed once, whoever is killed, and numbers have no gaps.

mod account;
mod attempts;
mod draft;
mod finalize;
mod find;
mod record;
mod settle;

pub use account::{TenantBilling, TenantBillingPut, get_billing, put_billing};
pub use attempts::{AttemptPage, AttemptPosition, LineAttempt, attempts};
pub use finalize::{Closed, Finalized, close_next, ending, finalize};
pub use find::{find, find_for_operator, list, list_for_operator};
pub use record::{InvoiceCustomer, InvoiceDocument, InvoiceRecord};
pub use settle::{Settled, pay, void};
