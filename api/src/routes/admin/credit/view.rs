//! A credit as operators see it.

use api_types::Credit;
use store::credit::CreditRecord;

/// The credit of a record.
pub(super) fn credit(record: CreditRecord) -> Credit {
    let CreditRecord { credit, applied_to, created_at } = record;
    Credit {
        key: credit.key,
        kind: credit.kind.to_string(),
        currency: credit.currency.to_string(),
        amount: credit.amount.0,
        invoice: credit.invoice.map(|name| name.to_string()),
        reason: credit.reason,
        applied_to: applied_to.map(|name| name.to_string()),
        created_at,
    }
}
