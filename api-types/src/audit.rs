//! The audit log.

use crate::{DateTime, Extensible, RequestId, TargetId};
use domain::audit::{ActorId, ActorKind, AuditAction, CredentialId, TargetKind};
use domain::id::{AuditId, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An action or a failed attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: AuditId,
    /// Position in the tenant's chain, from 1; null until it is sealed after a few seconds.
    pub position: Option<u64>,
    /// The tenant; null for entries of the platform.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub tenant: Option<TenantId>,
    /// When.
    pub at: DateTime,
    /// Who.
    pub actor: AuditActor,
    /// The request id, as in `X-Request-Id`; null if not over HTTP.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub request_id: Option<RequestId>,
    /// The action, such as `key.create`; `session.refused` and `session.reused` for failed attempts.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub action: Extensible<AuditAction>,
    /// To what.
    pub target: AuditTarget,
    /// The target before; null if it did not exist.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub before: Option<Box<RawValue>>,
    /// The target after; null if it was removed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub after: Option<Box<RawValue>>,
}

/// The actor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditActor {
    /// `operator`, `key`, `user`, `nobody` (no good credential) or `system` (a command on the database).
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub kind: Extensible<ActorKind>,
    /// Which one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub id: Option<ActorId>,
    /// The credential: the id of a key or of a sign-in.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub key_id: Option<CredentialId>,
}

/// The target of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditTarget {
    /// Its kind, such as `key` or `user`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub kind: Extensible<TargetKind>,
    /// Its id; null if unknown.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub id: Option<TargetId>,
}
