//! A cap as it is shown, and how one is named in a path.

use crate::answer::Answer;
use crate::call::Call;
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::{LabelIs, SpendAlert, SpendCap};
use domain::id::{ParseNameError, SpendCapName};
use domain::spend::CapScope;
use store::spend_cap::CapRecord;

/// The name in the path.
///
/// # Errors
/// `invalid_parameter` for what is no name.
pub(super) fn name_of(call: &Call) -> Result<SpendCapName, Problem> {
    let text = call.request.part("name").unwrap_or_default();
    text.parse().map_err(|error: ParseNameError| {
        Problem::at(Code::InvalidParameter, "path:name", error.to_string())
    })
}

/// There is none of this name.
pub(super) fn no_such_cap() -> Problem {
    Problem::no_such("spend cap")
}

/// The cap as it is shown.
pub(in crate::routes) fn view(record: CapRecord) -> SpendCap {
    let CapRecord { name, version, cap, used, created_at, updated_at } = record;
    let (label, schedule) = match cap.scope {
        CapScope::Tenant => (None, None),
        CapScope::Label { key, value } => (Some(LabelIs { key, value }), None),
        CapScope::Schedule(name) => (None, Some(name)),
    };
    let alerts = used.alerts.into_iter().map(|(percent, at)| SpendAlert { percent, at });
    SpendCap {
        name,
        version,
        amount: cap.amount,
        currency: cap.currency,
        period: cap.period,
        zone: cap.zone,
        label,
        schedule,
        period_start: used.period_start,
        resets_at: used.resets_at,
        spent: used.spent,
        reserved: used.reserved,
        free: used.free,
        alerts: alerts.collect(),
        created_at,
        updated_at,
    }
}

/// The answer with its version.
pub(super) fn shown(status: StatusCode, record: CapRecord) -> Answer<SpendCap> {
    let version = record.version;
    Answer::versioned(status, version, view(record))
}
