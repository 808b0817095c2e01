//! A piece of output as it is shown.

use api_types::{LogChunk, Stream};
use store::output::{self, OutputChunk};

/// The chunk of a record.
pub(super) fn log_chunk(chunk: OutputChunk) -> LogChunk {
    let OutputChunk { attempt, stream, seq, offset, at, data } = chunk;
    let stream = match stream {
        output::Stream::Stdout => Stream::Stdout,
        output::Stream::Stderr => Stream::Stderr,
    };
    LogChunk { attempt, stream: stream.into(), seq, offset, at, data }
}
