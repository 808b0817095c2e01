//! The names of leases and sessions on the stream, as bytes and as ids.
//!
//! Parsed once at the edge: other lengths than 16 bytes are refused, so that no other code sees an invalid id. A
//! [`Lease`] does not name its session; that is the stream's, or stands beside it in a result.

use crate::{Lease, Result as AttemptResult, ResultAnswer};
use domain::id::{SessionId, TaskId, TenantId};
use domain::task::LeaseKey;
use uuid::Uuid;

/// A field is not a UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidId {
    /// The field's name in the `.proto`.
    pub field: &'static str,
    /// How many bytes it has instead of 16.
    pub len: usize,
}

impl std::error::Error for InvalidId {}

impl std::fmt::Display for InvalidId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` has {} bytes where an id has 16", self.field, self.len)
    }
}

impl From<LeaseKey> for Lease {
    fn from(key: LeaseKey) -> Self {
        Self {
            tenant_id: key.tenant.uuid().as_bytes().to_vec(),
            task_id: key.task.uuid().as_bytes().to_vec(),
            attempt: key.attempt,
        }
    }
}

impl Lease {
    /// The key of this lease of `session`.
    ///
    /// # Errors
    /// [`InvalidId`] when an id is not 16 bytes long.
    pub fn key(&self, session: SessionId) -> Result<LeaseKey, InvalidId> {
        Ok(LeaseKey {
            tenant: TenantId(uuid("tenant_id", &self.tenant_id)?),
            task: TaskId(uuid("task_id", &self.task_id)?),
            attempt: self.attempt,
            session,
        })
    }
}

impl AttemptResult {
    /// The lease it is of.
    ///
    /// # Errors
    /// [`InvalidId`] when an id is not 16 bytes long.
    pub fn key(&self) -> Result<LeaseKey, InvalidId> {
        key(self.lease.as_ref(), &self.session_id)
    }
}

impl ResultAnswer {
    /// The lease of the result that it answers.
    ///
    /// # Errors
    /// [`InvalidId`] when an id is not 16 bytes long.
    pub fn key(&self) -> Result<LeaseKey, InvalidId> {
        key(self.lease.as_ref(), &self.session_id)
    }
}

fn key(lease: Option<&Lease>, session: &[u8]) -> Result<LeaseKey, InvalidId> {
    let lease = lease.ok_or(InvalidId { field: "lease", len: 0 })?;
    lease.key(session_id(session)?)
}

/// The bytes of `session` for the stream.
#[must_use]
pub fn session_bytes(session: SessionId) -> Vec<u8> {
    session.uuid().as_bytes().to_vec()
}

/// Parses a `session_id` field.
///
/// # Errors
/// [`InvalidId`] when it is not 16 bytes long.
pub fn session_id(bytes: &[u8]) -> Result<SessionId, InvalidId> {
    uuid("session_id", bytes).map(SessionId)
}

fn uuid(field: &'static str, bytes: &[u8]) -> Result<Uuid, InvalidId> {
    Uuid::from_slice(bytes).map_err(|_| InvalidId { field, len: bytes.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_comes_back_as_it_was_sent() {
        let session = SessionId::fresh();
        let key =
            LeaseKey { tenant: TenantId::fresh(), task: TaskId::fresh(), attempt: 7, session };
        assert_eq!(Lease::from(key).key(session), Ok(key));
        let (lease, session_id) = (Some(key.into()), session_bytes(session));
        assert_eq!(AttemptResult { lease, session_id, ..Default::default() }.key(), Ok(key));
    }

    #[test]
    fn bytes_that_are_no_id_are_refused_by_field() {
        let lease = Lease { tenant_id: vec![1; 16], task_id: vec![1; 15], attempt: 1 };
        let refused = lease.key(SessionId::fresh()).unwrap_err();
        assert_eq!(refused.to_string(), "`task_id` has 15 bytes where an id has 16");
        assert!(session_id(&[]).is_err());
        assert_eq!(AttemptResult::default().key(), Err(InvalidId { field: "lease", len: 0 }));
    }
}
