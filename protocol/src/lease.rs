//! The id of a lease, as bytes and as ids.
//!
//! Parsed once at the edge: other lengths than 16 bytes are refused, so that no other code sees an invalid id.

use crate::Lease;
use domain::id::{SessionId, TaskId, TenantId};
use uuid::Uuid;

/// A lease of a session: tenant, task and attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseKey {
    /// The tenant.
    pub tenant: TenantId,
    /// The task.
    pub task: TaskId,
    /// The attempt's number, from 1; the fencing token.
    pub attempt: u32,
}

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

impl TryFrom<&Lease> for LeaseKey {
    type Error = InvalidId;

    fn try_from(lease: &Lease) -> Result<Self, InvalidId> {
        Ok(Self {
            tenant: TenantId(uuid("tenant_id", &lease.tenant_id)?),
            task: TaskId(uuid("task_id", &lease.task_id)?),
            attempt: lease.attempt,
        })
    }
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
        let key = LeaseKey { tenant: TenantId::fresh(), task: TaskId::fresh(), attempt: 7 };
        assert_eq!(LeaseKey::try_from(&Lease::from(key)), Ok(key));
        let session = SessionId::fresh();
        assert_eq!(session_id(&session_bytes(session)), Ok(session));
    }

    #[test]
    fn bytes_that_are_no_id_are_refused_by_field() {
        let lease = Lease { tenant_id: vec![1; 16], task_id: vec![1; 15], attempt: 1 };
        let refused = LeaseKey::try_from(&lease).unwrap_err();
        assert_eq!(refused.to_string(), "`task_id` has 15 bytes where an id has 16");
        assert!(session_id(&[]).is_err());
    }
}
