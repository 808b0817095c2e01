//! A row of the audit as it is shown.

use crate::problem::{Code, Problem};
use domain::audit::PLATFORM;
use domain::id::{AuditId, TenantId};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use store::audit::AuditRecord;
use utoipa::ToSchema;

/// Something that was done, or tried.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditView<'a> {
    /// Its id.
    #[schema(value_type = String)]
    id: AuditId,
    /// Its place in the tenant's chain, from 1; null for the few seconds until it is sealed.
    #[schema(required)]
    position: Option<u64>,
    /// The tenant; null for what is the platform's own.
    #[schema(value_type = Option<String>, required)]
    tenant: Option<TenantId>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Who.
    actor: ActorView<'a>,
    /// The request, as in the answer's `X-Request-Id`; null where nobody asked over HTTP.
    #[schema(required)]
    request_id: Option<&'a str>,
    /// The operation's name, such as `key.create`; `session.refused` and `session.reused` for what was tried and is not good.
    action: &'a str,
    /// To what.
    target: TargetView<'a>,
    /// What it was; null where it was not there.
    #[schema(value_type = Option<Object>, required)]
    before: Option<&'a RawValue>,
    /// What it is since; null where it is gone.
    #[schema(value_type = Option<Object>, required)]
    after: Option<&'a RawValue>,
}

/// Who did it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
pub struct ActorView<'a> {
    /// `operator`, `key`, `user`, `nobody` (no good credential) or `system` (a command on the database).
    kind: &'a str,
    /// Which one.
    #[schema(required)]
    id: Option<&'a str>,
    /// With what they came: the public part of a key, or a sign-in.
    #[schema(required)]
    key_id: Option<&'a str>,
}

/// What it was done to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditTarget)]
pub struct TargetView<'a> {
    /// Its kind, such as `key` or `user`.
    kind: &'a str,
    /// Which one; null where nobody knows.
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
