//! The ways a network misbehaves.

use std::time::Duration;

/// What the proxy does to traffic. Acts at once, on open connections and new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A good network.
    Pass,
    /// Every byte arrives this much later, in each direction; throughput stays.
    Delay(Duration),
    /// Nothing arrives and nobody is told. What is sent meanwhile arrives after the mode ends, as TCP would resend it.
    Blackhole,
    /// Every connection is reset, new ones as soon as they are accepted.
    Reset,
    /// The server side is gone without a word to the client: its connection stays open and silent for good, even when
    /// the mode ends. New ones end up the same.
    HalfOpen,
    /// The client's bytes arrive, the server's answers are lost: the "did it happen?" case. Bytes lost are lost, so a
    /// connection is of no use afterwards; end the mode with [`Mode::Reset`].
    DropReplies,
    /// At most this many bytes a second in each direction of each connection; 0 counts as 1.
    Throttle {
        /// The limit.
        bytes_per_second: u32,
    },
}
