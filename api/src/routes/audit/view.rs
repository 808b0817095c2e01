//! A row of the audit as it is shown.

use crate::problem::{Code, Problem};
use domain::audit::PLATFORM;
use domain::id::{AuditId, TenantId};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use store::audit::AuditRecord;
use utoipa::ToSchema;

/// An action or a failed attempt.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditView<'a> {
    /// Its id.
    #[schema(value_type = String)]
    id: AuditId,
    /// Position in the tenant's chain, from 1; null until it is sealed after a few seconds.
    #[schema(required)]
    position: Option<u64>,
    /// The tenant; null for entries of the platform.
    #[schema(value_type = Option<String>, required)]
    tenant: Option<TenantId>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Who.
    actor: ActorView<'a>,
    /// The request id, as in `X-Request-Id`; null if not over HTTP.
    #[schema(required)]
    request_id: Option<&'a str>,
    /// The action, such as `key.create`; `session.refused` and `session.reused` for failed attempts.
    action: &'a str,
    /// To what.
    target: TargetView<'a>,
    /// The target before; null if it did not exist.
    #[schema(value_type = Option<Object>, required)]
    before: Option<&'a RawValue>,
    /// The target after; null if it was removed.
    #[schema(value_type = Option<Object>, required)]
    after: Option<&'a RawValue>,
}

/// The actor.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
pub struct ActorView<'a> {
    /// `operator`, `key`, `user`, `nobody` (no good credential) or `system` (a command on the database).
    kind: &'a str,
    /// Which one.
    #[schema(required)]
    id: Option<&'a str>,
    /// The credential: the id of a key or of a sign-in.
    #[schema(required)]
    key_id: Option<&'a str>,
}

/// The target of an action.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditTarget)]
pub struct TargetView<'a> {
    /// Its kind, such as `key` or `user`.
    kind: &'a str,
    /// Its id; null if unknown.
    #[schema(required)]
    id: Option<&'a str>,
}

impl<'a> AuditView<'a> {
    /// Shows a row.
    ///
    /// # Errors
    /// `internal` when what is stored is no JSON.
    pub fn new(record: &'a AuditRecord) -> Result<Self, Problem> {
        let entry = &record.entry;
        Ok(Self {
            id: entry.id,
            position: record.position,
            tenant: Some(entry.tenant).filter(|tenant| *tenant != PLATFORM),
            at: entry.at,
            actor: ActorView {
                kind: &entry.actor_kind,
                id: entry.actor_id.as_deref(),
                key_id: entry.key_id.as_deref(),
            },
            request_id: entry.request_id.as_deref(),
            action: &entry.action,
            target: TargetView { kind: &entry.target_kind, id: entry.target_id.as_deref() },
            before: raw(entry.before.as_deref())?,
            after: raw(entry.after.as_deref())?,
        })
    }
}

fn raw(text: Option<&str>) -> Result<Option<&RawValue>, Problem> {
    text.map(serde_json::from_str)
        .transpose()
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))
}
