//! A stored piece of output.

use super::Stream;
use domain::time::Timestamp;

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// The attempt that wrote it.
    pub attempt: u32,
    /// The stream.
    pub stream: Stream,
    /// Rises within an attempt, over both streams.
    pub seq: u32,
    /// Offset of the first byte; a jump against the chunk before means bytes left out.
    pub offset: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// The bytes.
    pub data: Vec<u8>,
}
