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
    /// Workflow runs of 1, 100 and 1 nodes, started at once.
    Graphs,
}

impl Phase {
    /// In the order of the table.
    pub const ALL: [Self; 6] =
        [Self::Drain, Self::Submit, Self::EndToEnd, Self::Start, Self::Delay, Self::Graphs];
    /// Those without graphs.
    pub const OF_TASKS: &'static [Self] =
        &[Self::Drain, Self::Submit, Self::EndToEnd, Self::Start, Self::Delay];

    /// Those of these names; all where none is named.
    pub fn named(names: &[String]) -> anyhow::Result<Vec<Self>> {
        let known = Self::ALL.map(Self::name);
        if let Some(other) = names.iter().find(|name| !known.contains(&&***name)) {
            anyhow::bail!("there is no phase `{other}`; there are {}", known.join(", "));
        }
        let chosen =
            |phase: &Self| names.is_empty() || names.iter().any(|name| name == phase.name());
        Ok(Self::ALL.into_iter().filter(chosen).collect())
    }

    /// As drivers know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Submit => "submit",
            Self::EndToEnd => "end-to-end",
            Self::Start => "start",
            Self::Delay => "delay",
            Self::Graphs => "graphs",
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
            Self::Graphs => &["graph_nodes_per_s"],
        }
    }

    /// Tasks of a drain, runs of graphs, seconds of the others.
    pub fn amount(self, arguments: &Arguments) -> u64 {
        match self {
            Self::Drain => arguments.peer_tasks(),
            Self::Submit | Self::EndToEnd | Self::Delay => arguments.length().as_secs(),
            Self::Start => arguments.long_length().as_secs(),
            Self::Graphs => arguments.graph_runs(),
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
            Self::Graphs => phase::graph_runs(arguments.graph_runs()).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_chooses_its_phase_and_an_unknown_one_is_an_error() {
        assert_eq!(Phase::named(&[]).unwrap(), Phase::ALL);
        assert_eq!(Phase::named(&["graphs".to_owned()]).unwrap(), [Phase::Graphs]);
        assert!(Phase::named(&["graph".to_owned()]).unwrap_err().to_string().contains("graphs"));
    }
}
