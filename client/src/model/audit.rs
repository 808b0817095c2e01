//! The audit.

use domain::id::{AuditId, TenantId};
use domain::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// An action or a failed attempt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditId,
    /// Its place in the tenant's chain, from 1; none until it is sealed.
    pub position: Option<u64>,
    /// The tenant; none for what is the platform's own.
    pub tenant: Option<TenantId>,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: AuditActor,
    /// In which request.
    pub request_id: Option<String>,
    /// The operation's name, such as `key.create`.
    pub action: String,
    /// To what.
    pub target: AuditTarget,
    /// What it was.
    pub before: Option<Value>,
    /// What it is since.
    pub after: Option<Value>,
}

/// The actor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AuditActor {
    /// `operator`, `key`, `user`, `nobody` or `system`.
    pub kind: String,
    /// Which one.
    pub id: Option<String>,
    /// The credential: the id of a key or of a sign-in.
    pub key_id: Option<String>,
}

/// The target of an action.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AuditTarget {
    /// Its kind, such as `key`.
    pub kind: String,
    /// Which one, where that is known.
    pub id: Option<String>,
}

/// Which rows: those that fit all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Done by this key or user.
    pub actor: Option<String>,
    /// Of this action.
    pub action: Option<String>,
    /// At or after this time.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub to: Option<Timestamp>,
}

impl AuditFilter {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 4] {
        let time = |at: Option<Timestamp>| {
            at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
        };
        [
            ("actor", self.actor.clone()),
            ("action", self.action.clone()),
            ("from", time(self.from)),
            ("to", time(self.to)),
        ]
    }
}
