//! A row of the audit as it is shown.

use crate::problem::{Code, Problem};
use api_types::{AuditActor, AuditEntry, AuditTarget};
use domain::audit::PLATFORM;
use serde_json::value::RawValue;
use store::audit::AuditRecord;

/// The entry of a record.
///
/// # Errors
/// `internal` when what is stored is no JSON.
pub(super) fn entry(record: AuditRecord) -> Result<AuditEntry, Problem> {
    let entry = record.entry;
    let kind =
        serde_json::from_value(entry.actor_kind.into()).map_err(|error| malformed(&error))?;
    Ok(AuditEntry {
        id: entry.id,
        position: record.position,
        tenant: Some(entry.tenant).filter(|tenant| *tenant != PLATFORM),
        at: entry.at,
        actor: AuditActor {
            kind,
            id: entry.actor_id.map(Into::into),
            key_id: entry.key_id.map(Into::into),
        },
        request_id: entry.request_id.map(Into::into),
        action: entry.action,
        target: AuditTarget { kind: entry.target_kind, id: entry.target_id.map(Into::into) },
        before: raw(entry.before)?,
        after: raw(entry.after)?,
    })
}

fn raw(text: Option<String>) -> Result<Option<Box<RawValue>>, Problem> {
    text.map(RawValue::from_string).transpose().map_err(|error| malformed(&error))
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::new(Code::Internal, Code::Internal.advice()).caused_by(error)
}
