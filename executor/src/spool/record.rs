//! One record of the spool: length, checksum, kind, body.
//!
//! The body of a result is the protocol's own encoding, which a later version can read. A record whose
//! checksum fails ends the file: it was being written when the machine stopped.

use domain::task::LeaseKey;
use prost::Message;

const RESULT: u8 = 1;
const ANSWERED: u8 = 2;
/// Length and checksum.
const HEAD: usize = 8;
/// Above any result, with its value; a larger length is garbage.
const MAX_BODY: usize = 128 * 1024;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Record {
    /// It ended so.
    Result(protocol::Result),
    /// It was answered and may be forgotten.
    Answered(LeaseKey),
}

/// Appends `result` as it is stored; returns how many bytes that took.
pub(super) fn write_result(result: &protocol::Result, out: &mut Vec<u8>) -> usize {
    write(RESULT, &result.encode_to_vec(), out)
}

/// Appends that `key` was answered. An answer is stored as a result without an outcome.
pub(super) fn write_answered(key: &LeaseKey, out: &mut Vec<u8>) -> usize {
    let named = protocol::Result {
        lease: Some((*key).into()),
        session_id: protocol::session_bytes(key.session),
        ..protocol::Result::default()
    };
    write(ANSWERED, &named.encode_to_vec(), out)
}

fn write(kind: u8, body: &[u8], out: &mut Vec<u8>) -> usize {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&[kind]);
    checksum.update(body);
    let len = u32::try_from(body.len() + 1).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&checksum.finalize().to_le_bytes());
    out.push(kind);
    out.extend_from_slice(body);
    HEAD + 1 + body.len()
}

/// The record at the start of `bytes`, and how long it is. None for a torn or foreign end.
pub(super) fn read(bytes: &[u8]) -> Option<(Record, usize)> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (checksum, rest) = rest.split_first_chunk::<4>()?;
    let len = u32::from_le_bytes(*len) as usize;
    if len == 0 || len > MAX_BODY {
        return None;
    }
    let stored = rest.get(..len)?;
    if crc32fast::hash(stored) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (kind, body) = stored.split_first()?;
    let result = protocol::Result::decode(body).ok()?;
    let key = result.key().ok()?;
    let record = match *kind {
        RESULT => Record::Result(result),
        ANSWERED => Record::Answered(key),
        _ => return None,
    };
    Some((record, HEAD + len))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use domain::id::{SessionId, TaskId, TenantId};

    pub(in crate::spool) fn sample(reason: &str) -> protocol::Result {
        let (tenant, task, session) = (TenantId::fresh(), TaskId::fresh(), SessionId::fresh());
        let lease = LeaseKey { tenant, task, attempt: 3, session };
        protocol::Result {
            lease: Some(lease.into()),
            session_id: protocol::session_bytes(session),
            outcome: protocol::result::Outcome::Failed.into(),
            exit_code: Some(7),
            reason: reason.to_owned(),
            ran_ms: 12,
            retry_after_ms: Some(90_000),
            ..protocol::Result::default()
        }
    }

    #[test]
    fn a_record_comes_back_and_any_damage_is_seen() {
        let result = sample("exit code 7");
        let mut bytes = Vec::new();
        let len = write_result(&result, &mut bytes);
        assert_eq!(len, bytes.len());
        assert_eq!(read(&bytes), Some((Record::Result(result.clone()), len)));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            assert_eq!(read(&damaged), None, "byte {at}");
            assert_eq!(read(&bytes[..at]), None, "cut at {at}");
        }
        let key = result.key().unwrap();
        let mut bytes = Vec::new();
        let len = write_answered(&key, &mut bytes);
        assert_eq!(read(&bytes), Some((Record::Answered(key), len)));
    }

    #[test]
    fn the_longest_result_comes_back() {
        let result = protocol::Result {
            value: Some(vec![b'1'; domain::task::MAX_RESULT_BYTES].into()),
            ..sample(&"x".repeat(protocol::MAX_REASON))
        };
        let mut bytes = Vec::new();
        let len = write_result(&result, &mut bytes);
        assert_eq!(read(&bytes), Some((Record::Result(result), len)));
    }

    /// Written by the version before `retry_after_ms`: FAILED, exit code 7, after 12 ms.
    #[test]
    fn a_record_of_an_earlier_version_is_read() {
        let body: Vec<u8> = [
            &[0x0a, 38, 0x0a, 16][..],
            &[1; 16],
            &[0x12, 16],
            &[2; 16],
            &[0x18, 3, 0x12, 16],
            &[3; 16],
            &[0x18, 2, 0x20, 7, 0x32, 1, b'x', 0x38, 12],
        ]
        .concat();
        let mut bytes = Vec::new();
        let len = write(RESULT, &body, &mut bytes);
        let Some((Record::Result(result), read)) = read(&bytes) else {
            panic!("it is not read");
        };
        assert_eq!((read, result.retry_after_ms), (len, None));
        assert_eq!((result.exit_code, result.reason.as_str(), result.ran_ms), (Some(7), "x", 12));
        assert_eq!(result.outcome(), protocol::result::Outcome::Failed);
    }
}
