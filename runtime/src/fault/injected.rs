//! What a hit fails with.

/// The failure that a test asked for. Callers turn it into their own error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fault was injected at `{point}`")]
pub struct InjectedFault {
    /// The point's name.
    pub point: &'static str,
}
