//! A row of the audit log, as it is sealed and shown.

use crate::id::{AuditId, TenantId};
use crate::time::Timestamp;
use uuid::Uuid;

/// Owner of the platform's rows; no tenant has this id.
pub const PLATFORM: TenantId = TenantId(Uuid::nil());

/// An action, or a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: AuditId,
    /// Its tenant; [`PLATFORM`] for none.
    pub tenant: TenantId,
    /// When, by the database's clock, to the microsecond.
    pub at: Timestamp,
    /// `operator`, `key`, `user`, `nobody` or `system`.
    pub actor_kind: String,
    /// Which of them.
    pub actor_id: Option<String>,
    /// The credential: id of a key or of a sign-in.
    pub key_id: Option<String>,
    /// In which request.
    pub request_id: Option<String>,
    /// The route's name, such as `key.create`.
    pub action: String,
    /// The kind of thing that was changed, such as `key`.
    pub target_kind: String,
    /// Which one.
    pub target_id: Option<String>,
    /// The target before, as JSON; `None` if it did not exist.
    pub before: Option<String>,
    /// The target after, as JSON; `None` if it was removed.
    pub after: Option<String>,
}

impl Entry {
    /// The bytes to seal: each field with its length, so that different rows differ.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(512);
        bytes.extend_from_slice(self.id.uuid().as_bytes());
        bytes.extend_from_slice(self.tenant.uuid().as_bytes());
        bytes.extend_from_slice(&self.at.timestamp_micros().to_be_bytes());
        for text in [
            Some(&self.actor_kind),
            self.actor_id.as_ref(),
            self.key_id.as_ref(),
            self.request_id.as_ref(),
            Some(&self.action),
            Some(&self.target_kind),
            self.target_id.as_ref(),
            self.before.as_ref(),
            self.after.as_ref(),
        ] {
            match text {
                None => bytes.push(0),
                Some(text) => {
                    bytes.push(1);
                    bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
                    bytes.extend_from_slice(text.as_bytes());
                }
            }
        }
        bytes
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::collections::HashSet;

    pub fn entry(number: u8) -> Entry {
        Entry {
            id: AuditId(Uuid::from_bytes([number; 16])),
            tenant: TenantId(Uuid::from_bytes([7; 16])),
            at: chrono::DateTime::from_timestamp_micros(1_800_000_000_000_000 + i64::from(number))
                .unwrap(),
            actor_kind: "key".to_owned(),
            actor_id: Some("abcdefghijkl".to_owned()),
            key_id: Some("abcdefghijkl".to_owned()),
            request_id: Some("req_1".to_owned()),
            action: "key.create".to_owned(),
            target_kind: "key".to_owned(),
            target_id: Some("mnopqrstuvwx".to_owned()),
            before: None,
            after: Some(r#"{"name": "ci"}"#.to_owned()),
        }
    }

    type Change = fn(&mut Entry);

    /// One change for each field.
    pub const CHANGES: [Change; 13] = [
        |e| e.id = AuditId(Uuid::from_bytes([99; 16])),
        |e| e.tenant = PLATFORM,
        |e| e.at += chrono::TimeDelta::microseconds(1),
        |e| e.actor_kind = "user".to_owned(),
        |e| e.actor_id = None,
        |e| e.key_id = Some(String::new()),
        |e| e.request_id = None,
        |e| e.action = "key.revoke".to_owned(),
        |e| e.target_kind = "user".to_owned(),
        |e| e.target_id = None,
        |e| e.before = Some("{}".to_owned()),
        |e| e.after = Some(r#"{"name": "cj"}"#.to_owned()),
        // The same text, one field further on.
        |e| std::mem::swap(&mut e.before, &mut e.after),
    ];

    #[test]
    fn a_row_that_differs_in_anything_is_encoded_otherwise() {
        let mut all = HashSet::from([entry(1).encode()]);
        for change in CHANGES {
            let mut changed = entry(1);
            change(&mut changed);
            assert!(all.insert(changed.encode()), "{changed:?}");
        }
        let mut shifted = entry(1);
        shifted.actor_kind = "k".to_owned();
        shifted.actor_id = Some("eyabcdefghijkl".to_owned());
        assert!(all.insert(shifted.encode()), "a border that moved");
    }
}
