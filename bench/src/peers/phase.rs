//! What is compared: Berth's own phases, and the same phases of the drivers.

use crate::arguments::Arguments;
use crate::phase;
use crate::report::Measured;

/// One phase, of Berth or of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Batches in while nothing runs, then all is run.
    Drain,
    /// Single submits while nothing runs.
    Submit,
    /// Single submits while everything runs.
    EndToEnd,
    /// Waits for a start, at 200 submits per second.
    Start,
    /// Delayed tasks, 500 per second.
    Delay,
}

impl Phase {
    /// In the order of the table.
    pub const ALL: [Self; 5] =
        [Self::Drain, Self::Submit, Self::EndToEnd, Self::Start, Self::Delay];

    /// As drivers know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Submit => "submit",
            Self::EndToEnd => "end-to-end",
            Self::Start => "start",
            Self::Delay => "delay",
        }
    }

    /// The figures that both must give.
    pub const fn figures(self) -> &'static [&'static str] {
        match self {
            Self::Drain => &["batch_submit_per_s", "drain_per_s"],
            Self::Submit => &["single_submit_per_s"],
            Self::EndToEnd => &["end_to_end_per_s"],
            Self::Start => &["submit_to_start_p50_ms", "submit_to_start_p99_ms"],
            Self::Delay => &["lateness_p50_ms", "lateness_p99_ms"],
        }
    }

    /// Tasks of a drain, seconds of the others.
    pub fn amount(self, arguments: &Arguments) -> u64 {
        match self {
            Self::Drain => arguments.peer_tasks(),
            Self::Submit | Self::EndToEnd | Self::Delay => arguments.length().as_secs(),
            Self::Start => arguments.long_length().as_secs(),
        }
    }

    /// One round of Berth.
    pub async fn of_berth(self, arguments: &Arguments) -> anyhow::Result<Vec<Measured>> {
        let length = arguments.length();
        match self {
            Self::Drain => phase::batch_and_drain(arguments.peer_tasks()).await,
            Self::Submit => phase::single_submit(length).await,
            Self::EndToEnd => phase::end_to_end(length, arguments.connections).await,
            Self::Start => phase::submit_to_start(arguments.long_length()).await,
            Self::Delay => phase::delayed(length).await,
        }
    }
}
