//! Request ids: `req_` and 24 hex digits, in every answer and every log line of its request.
//!
//! A random part for each process and a running number: unique without asking the system for
//! randomness on every request. They are no secrets.

pub use domain::id::RequestId;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// Gives out request ids.
#[derive(Debug)]
pub(crate) struct RequestIds {
    process: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        Self { process: Uuid::new_v4().as_u64_pair().1, next: AtomicU64::new(0) }
    }

    pub(crate) fn next(&self) -> RequestId {
        RequestId { process: self.process, number: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_and_of_several_processes_differ() {
        let (a, b) = (RequestIds::new(), RequestIds::new());
        let shown = [a.next(), a.next(), b.next()].map(|id| id.to_string());
        assert!(shown.iter().all(|id| id.starts_with("req_") && id.len() == 28));
        assert_ne!(shown[0], shown[1]);
        assert_ne!(shown[0], shown[2]);
    }
}
