//! What the agent is told.

use crate::command::CommandEnd;
use crate::http::HttpEnd;
use crate::stream::{DialError, StreamEvent};
use protocol::LeaseKey;
use runtime::clock::Instant;
use std::time::Duration;
use tonic::transport::Channel;

#[derive(Debug)]
pub(super) enum Event {
    /// A dial has ended.
    Dialled(Result<(Channel, String), DialError>),
    /// An attempt that could not be taken up has kept its place for a moment.
    NotStarted { lease: LeaseKey, reason: String },
    /// Something came over a stream.
    Stream(StreamEvent),
    /// A command has ended and nothing of it is left.
    CommandEnded {
        lease: LeaseKey,
        end: CommandEnd,
        /// When its turn to start had come; none when it never did.
        began: Option<Instant>,
    },
    /// An HTTP call has ended and its connection is closed.
    HttpEnded {
        lease: LeaseKey,
        end: HttpEnd,
        /// How long it only waited for its turn.
        waited: Duration,
    },
}

impl From<StreamEvent> for Event {
    fn from(event: StreamEvent) -> Self {
        Self::Stream(event)
    }
}
