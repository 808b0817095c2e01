//! The executor stream: messages and limits between an executor and a resource manager.
//!
//! The contract is `proto/executor.proto`; read its comments first. The code generated from it is
//! committed (`src/generated.rs`), so that a build needs no `protoc`; after a change of the `.proto` run
//! `cargo run --manifest-path protocol/generate/Cargo.toml`. This crate also has the limits of both ends,
//! and conversions between messages and `domain`. Only the resource manager and the
//! executor use this crate.
//!
//! A message is one variant of a `oneof`; each converts into its envelope:
//!
//! ```
//! use protocol::{FromExecutor, Heartbeat, PROTOCOL_VERSION};
//!
//! let beat = Heartbeat { number: 1, ..Heartbeat::default() };
//! let message: FromExecutor = beat.into();
//! assert!(message.message.is_some());
//! assert_eq!(PROTOCOL_VERSION, 1);
//! ```
#![warn(missing_docs)]

mod capacity;
mod envelope;
#[expect(
    missing_docs,
    clippy::allow_attributes_without_reason,
    reason = "generated code; the .proto holds its documentation"
)]
#[rustfmt::skip]
mod generated;
mod lease;
mod limits;
mod outcome;
mod run;

pub use generated::*;
pub use lease::{InvalidId, session_bytes, session_id};
pub use limits::{
    MAX_ASSIGNMENT, MAX_EARLIER_SESSIONS, MAX_MESSAGE_BYTES, MAX_OUTPUT_CHUNK, MAX_REASON,
    MAX_UNANSWERED_OUTPUT, PROTOCOL_VERSION, truncate_reason,
};
pub use outcome::UnspecifiedOutcome;
pub use run::{KindsOfRuns, UnreadableRun};
