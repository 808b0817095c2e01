//! A row of the audit as it is shown.

use crate::problem::{Code, Problem};
use api_types::{AuditActor, AuditEntry, AuditTarget, Extensible};
use domain::audit::PLATFORM;
use serde_json::value::RawValue;
use store::audit::AuditRecord;

/// The entry of a record.
///
/// # Errors
/// `internal` when what is stored is no JSON.
pub(super) fn entry(record: AuditRecord) -> Result<AuditEntry, Problem> {
    let entry = record.entry;
    Ok(AuditEntry {
        id: entry.id,
        position: record.position,
        tenant: Some(entry.tenant).filter(|tenant| *tenant != PLATFORM),
        at: entry.at,
        actor: AuditActor {
            kind: Extensible::read(entry.actor_kind.into()),
            id: entry.actor_id.map(Into::into),
            key_id: entry.key_id.map(Into::into),
        },
        request_id: entry.request_id.map(Into::into),
        // Another version may have written other words.
        action: Extensible::read(entry.action.into()),
        target: AuditTarget {
            kind: Extensible::read(entry.target_kind.into()),
            id: entry.target_id.map(Into::into),
        },
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
