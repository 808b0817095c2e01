//! An invoice as the API shows it.

use api_types::{Invoice, InvoiceCustomer, InvoiceLine};
use store::invoice::InvoiceRecord;

/// The invoice of a record.
pub(crate) fn invoice(record: InvoiceRecord) -> Invoice {
    let InvoiceRecord { period, document, .. } = record;
    let line = |line: domain::invoice::InvoiceLine| InvoiceLine {
        line: line.line,
        kind: line.kind.into(),
        description: line.description,
        tier: line.tier,
        quantity: line.quantity,
        unit_price: line.unit_price.map(|price| price.0),
        amount: line.amount.0,
        credit: line.credit,
    };
    Invoice {
        number: record.name.to_string(),
        state: record.state.into(),
        month: period.month,
        zone: record.zone.to_string(),
        starts_at: period.starts_at,
        ends_at: period.ends_at,
        currency: record.currency.to_string(),
        total: record.total.0,
        refunded: record.refunded.0,
        seller: document.seller,
        customer: InvoiceCustomer {
            name: document.customer.name,
            address: document.customer.address,
        },
        lines: document.lines.into_iter().map(line).collect(),
        finalized_at: record.finalized_at,
        paid_at: record.paid_at,
        voided_at: record.voided_at,
    }
}
