//! Arguments of `make bench ARGS=`.

use clap::{Parser, ValueEnum};
use std::time::Duration;

/// Measures Berth on this machine. Needs the engines of scripts/with-services.
#[derive(Debug, Clone, Parser)]
#[command(name = "bench", max_term_width = 100)]
pub struct Arguments {
    /// Measure only this; repeatable.
    #[arg(long, value_enum, value_name = "NAME")]
    pub only: Vec<Name>,
    /// One short round of each, about a minute: a smoke test, not for publication.
    #[arg(long)]
    pub quick: bool,
    /// About a minute: compare the hot path, as ratios to Postgres alone, with `bench/ratios.json`.
    #[arg(long, conflicts_with_all = ["only", "quick", "scale", "seconds", "rounds", "tasks"])]
    pub gate: bool,
    /// As the gate, but store the result in `bench/ratios.json`. With debug builds, as `make check` compares.
    #[arg(long, conflicts_with_all = ["only", "quick", "scale", "seconds", "rounds", "tasks"])]
    pub keep: bool,
    /// Measure other task systems in turn with Berth: all, or those named, as in `--peers=bullmq,apalis`. About 25 minutes.
    #[arg(
        long,
        value_name = "NAMES",
        num_args = 0..,
        require_equals = true,
        value_delimiter = ',',
        conflicts_with_all = ["only", "gate", "keep", "scale"]
    )]
    pub peers: Option<Vec<String>>,
    /// With `--peers`: compare only this; repeatable.
    #[arg(long, value_name = "NAME", requires = "peers")]
    pub phase: Vec<String>,
    /// Also measure millions of schedules and tasks: many minutes, and more than ten gigabytes of disk.
    #[arg(long)]
    pub scale: bool,
    /// Seconds of each round of a timed figure. Default: 7; 15 at 200 per second; 30 for `fires`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=120))]
    pub seconds: Option<u64>,
    /// Rounds of each figure. Default: three; one for ratios and schedules.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    pub rounds: Option<u32>,
    /// Waiting tasks in each round of `drain`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=2_000_000))]
    pub tasks: Option<u32>,
    /// Connections of `end-to-end`, each with one submit at a time; more means larger groups.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub connections: u16,
    /// Submits per second of `submit_to_start_at_half`. Default: half of `end-to-end` in the same run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50_000))]
    pub half: Option<u32>,
    /// Due times per second in `fires`, with a hundred times as many schedules, each due every 100 s.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rate: u32,
    /// Schedules due at the same time in `fires`, after that.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub herd: u32,
    /// Schedules stored in `fire-scale`.
    #[arg(long, value_name = "N", default_value_t = 5_000_000, value_parser = clap::value_parser!(u32).range(1000..=20_000_000))]
    pub schedules: u32,
    /// Setting of every process, by environment variable: `--set BERTH_API__SUBMIT_WRITERS=1`; repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// The tenant's tasks have prices and reserve under a spend cap.
    #[arg(long)]
    pub spend_cap: bool,
    /// Waiting tasks in `flat`.
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(10_000..=100_000_000))]
    pub waiting: u32,
    /// Finished tasks in `flat`.
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    pub ended: u32,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Name {
    /// Durable writes of 8 kB per second.
    Fdatasync,
    /// Postgres alone: batches, single submits and a drain.
    RawPostgres,
    /// Messages and hints through the broker, bus only.
    RawHop,
    /// Path of a single task through the engines alone: the lower bound of `submit-to-start`.
    RawChain,
    /// Batches without an executor, then a drain.
    Drain,
    /// Drain with and without concurrency keys, in turn.
    Keys,
    /// Single submits, closed loop.
    SingleSubmit,
    /// Single submits with running executors.
    EndToEnd,
    /// Latency from the intended submit to placement and end of a noop, at 200 per second.
    SubmitToStart,
    /// The same by steps: marked, claimed, started.
    Steps,
    /// The same at half the rate of `end-to-end`, or at `--half` per second.
    AtHalf,
    LivePages,
    /// Latency from the due time to placement and end of delayed noops, at 500 per second.
    Delayed,
    /// Large workflow runs: their start, and their drain relative to one of tasks without edges; and many small runs at once.
    Workflows,
    /// Latency from the end of the last parent to the start of the child, of tasks and of nodes.
    ChildStart,
    /// Commands that start a process in the available isolation, and the isolation alone in a loop.
    Commands,
    /// Memory and cpu of the idle embedded profile, and its memory in a drain.
    Idle,
    /// Schedules due at `--rate` per second, then `--herd` at once. With `--scale` or on request.
    Fires,
    /// Highest rate of due times with a p99 lateness below a second. With `--scale` or on request.
    FireRate,
    /// Millions of stored schedules: cost of reading a shard, and memory of a scheduler. With `--scale` or on request.
    FireScale,
    /// Cost of a task with a small backlog and with `--waiting` and `--ended` tasks, and latency of reads. With
    /// `--scale` or on request.
    Flat,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE is wanted")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Arguments {
    /// Whether this is to be measured.
    pub fn wants(&self, name: Name) -> bool {
        if self.only.is_empty() {
            match name {
                Name::Fires | Name::FireRate | Name::FireScale | Name::Flat => self.scale,
                _ => true,
            }
        } else {
            self.only.contains(&name)
                || (self.scale && matches!(name, Name::FireScale | Name::Flat))
        }
    }

    /// Rounds of each figure.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }

    /// Rounds of one figure: one for schedules, which take minutes and count tens of thousands of due times, and for
    /// ratios, which alternate within a round. So the whole run takes less than ten minutes.
    pub fn rounds_of(&self, name: Name) -> u32 {
        match name {
            Name::Fires
            | Name::FireRate
            | Name::FireScale
            | Name::Flat
            | Name::RawHop
            | Name::Keys
            | Name::Steps
            | Name::Workflows
            | Name::ChildStart
            | Name::Commands => self.rounds.unwrap_or(1),
            _ => self.rounds(),
        }
    }

    /// How long schedules come due at a steady rate.
    pub fn fire_length(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 3 } else { 30 }))
    }

    /// How long a timed round lasts.
    pub fn length(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 3 } else { 7 }))
    }

    /// Duration for a p99: in 7 s, one pause of the machine of 70 ms would decide it.
    pub fn long_length(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 3 } else { 15 }))
    }

    /// Tasks in a round of what counts some thousands of them.
    pub fn tasks(&self) -> u64 {
        u64::from(self.tasks.unwrap_or(if self.quick { 20_000 } else { 100_000 }))
    }

    /// Tasks of a drain beside peers, in whole batches: the slowest runs some thousand per second.
    pub fn peer_tasks(&self) -> u64 {
        u64::from(self.tasks.unwrap_or(if self.quick { 2_000 } else { 20_000 }) / 1000 * 1000)
    }

    /// Runs in a round of `workflows` and beside peers, of 102 nodes each.
    pub fn graph_runs(&self) -> u64 {
        if self.quick { 20 } else { 100 }
    }

    /// Tasks in a round of `drain`.
    pub fn drain_tasks(&self) -> u64 {
        u64::from(self.tasks.unwrap_or(if self.quick { 20_000 } else { 200_000 }))
    }
}
