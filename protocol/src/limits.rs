//! Limits of the stream.
//!
//! A sender keeps them; a receiver refuses more. They are part of the protocol: to raise one, change the receiver
//! first.

/// Version in `Hello.protocol`. A resource manager refuses unknown versions.
pub const PROTOCOL_VERSION: u32 = 1;

/// Largest encoded message on the stream, bytes. Set it on both ends: tonic's own default for
/// receiving is 4 MiB, and a message above it breaks the stream.
pub const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// Most data in one `OutputChunk`, bytes.
pub const MAX_OUTPUT_CHUNK: usize = 64 * 1024;

/// Unacknowledged output of an executor, bytes.
pub const MAX_UNANSWERED_OUTPUT: usize = 4 * 1024 * 1024;

/// Longest `Result.reason`, bytes of UTF-8.
pub const MAX_REASON: usize = 1024;

/// Highest assignment number of a session; at a million per second it lasts nine years.
pub const MAX_ASSIGNMENT: u64 = 1 << 48;

/// Most sessions that `Hello.earlier_session_ids` names.
pub const MAX_EARLIER_SESSIONS: usize = 8;

/// `reason` truncated to [`MAX_REASON`] bytes, not inside a character; frees the rest.
#[must_use]
pub fn truncate_reason(mut reason: String) -> String {
    if reason.len() > MAX_REASON {
        let end = (0..=MAX_REASON).rev().find(|&at| reason.is_char_boundary(at)).unwrap_or(0);
        reason.truncate(end);
        reason.shrink_to_fit();
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        assert_eq!(truncate_reason("short".to_owned()), "short");
        let cut = truncate_reason(format!("x{}", "é".repeat(MAX_REASON)));
        assert_eq!(cut.len(), MAX_REASON - 1);
        assert!(cut.ends_with('é'));
        assert!(cut.capacity() <= MAX_REASON, "{} bytes are kept", cut.capacity());
    }
}
