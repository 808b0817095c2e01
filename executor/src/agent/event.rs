//! What the agent is told.

use crate::stream::{DialError, StreamEvent};
use domain::task::LeaseKey;
use tonic::transport::Channel;

#[derive(Debug)]
pub(super) enum Event {
    /// A dial has ended.
    Dialled(Result<(Channel, String), DialError>),
    /// An attempt that could not be taken up has kept its place for a moment.
    NotStarted { lease: LeaseKey, reason: String },
    /// Something came over a stream.
    Stream(StreamEvent),
}

impl From<StreamEvent> for Event {
    fn from(event: StreamEvent) -> Self {
        Self::Stream(event)
    }
}
