//! Filters of the audit.

use api_types::{ActorId, AuditAction, Extensible};
use domain::time::Timestamp;

/// Which rows: those that fit all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Done by this key or user.
    pub actor: Option<ActorId>,
    /// Of this action.
    pub action: Option<Extensible<AuditAction>>,
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
            ("actor", self.actor.as_ref().map(ToString::to_string)),
            ("action", self.action.as_ref().map(ToString::to_string)),
            ("from", time(self.from)),
            ("to", time(self.to)),
        ]
    }
}
