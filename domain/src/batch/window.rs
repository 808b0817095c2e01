//! The first tasks of a strand, which is all that is known of it.
//!
//! Millions may wait; what is read of them follows what may be handed out. So the order must know where its knowledge ends: it
//! picks nothing that something unseen might go before.

use super::{Candidate, ConcurrencyKey};

/// The first tasks of one strand: of those that are late the earliest deadlines, and of those on time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// The key of all its tasks.
    pub key: Option<ConcurrencyKey>,
    /// Both kinds, each earliest deadline first: the late ones before the others.
    pub tasks: Vec<Candidate>,
    /// More are late than these.
    pub more_late: bool,
    /// More are on time than these.
    pub more_on_time: bool,
}
