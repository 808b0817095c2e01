//! What can be typed after `make bench ARGS=`.

use clap::{Parser, ValueEnum};
use std::time::Duration;

/// Measures Berth on this machine. Needs the engines of scripts/with-services.
#[derive(Debug, Clone, Parser)]
#[command(name = "bench", max_term_width = 100)]
pub struct Arguments {
    /// Measure only this. May be repeated.
    #[arg(long, value_enum, value_name = "NAME")]
    pub only: Vec<Name>,
    /// One short round of each, about a minute: to see that all of it works, not to quote.
    #[arg(long)]
    pub quick: bool,
    /// About a minute: whether the hot path has become much slower than `bench/ratios.json` says, as ratios to Postgres alone.
    #[arg(long, conflicts_with_all = ["only", "quick", "scale", "seconds", "rounds", "tasks"])]
    pub gate: bool,
    /// The same minute; and what it measures is kept in `bench/ratios.json`. With debug builds, as `make check` compares.
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
    /// Measure millions of schedules and of tasks too: many minutes more, and more than ten gigabytes of disk.
    #[arg(long)]
    pub scale: bool,
    /// Seconds that each round of a timed figure lasts; where this is left out 7, those at 200 a second 15, and those of `fires` 30.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=120))]
    pub seconds: Option<u64>,
    /// Rounds of each figure. Where this is left out three, and one of what is a ratio by itself or of schedules.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    pub rounds: Option<u32>,
    /// Tasks that wait in each round of `drain`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=2_000_000))]
    pub tasks: Option<u32>,
    /// Connections of `end-to-end`, each with one submit at a time: the more, the larger are the groups that are stored together.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub connections: u16,
    /// Submits a second of `submit_to_start_at_half`; where this is left out, half of what `end-to-end` gave in the same run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50_000))]
    pub half: Option<u32>,
    /// Due times a second in `fires`. There are a hundred times as many schedules, each due every 100 s.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rate: u32,
    /// Schedules due at one moment in `fires`, after that.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub herd: u32,
    /// Schedules stored in `fire-scale`.
    #[arg(long, value_name = "N", default_value_t = 5_000_000, value_parser = clap::value_parser!(u32).range(1000..=20_000_000))]
    pub schedules: u32,
    /// Another setting of every process, by its environment variable: `--set BERTH_API__SUBMIT_WRITERS=1`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Tasks that wait in `flat`.
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(10_000..=100_000_000))]
    pub waiting: u32,
    /// Tasks that have ended before, in `flat`.
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    pub ended: u32,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Name {
    /// How often the disk makes 8 kB durable.
    Fdatasync,
    /// What Postgres alone can take of batches, single submits and a drain.
    RawPostgres,
    /// Messages and hints through the broker, with nothing but the bus.
    RawHop,
    /// A lone task's way through the engines alone: what `submit-to-start` cannot be quicker than.
    RawChain,
    /// Batches in, nobody runs them; then executors start and all is run.
    Drain,
    /// The same run with concurrency keys and without, in turn.
    Keys,
    /// One task a request, as fast as answers come.
    SingleSubmit,
    /// Single submits while everything runs.
    EndToEnd,
    /// From the moment a submit was meant to be sent to its placement and to the end of a task of no length, at 200 a second.
    SubmitToStart,
    /// The same by its steps: marked for its turn, claimed, started.
    Steps,
    /// The same at half of what `end-to-end` reached in the same run, or at `--half` a second.
    AtHalf,
    /// From a task's due time to its placement and to its end, for delayed tasks of no length, at 500 a second.
    Delayed,
    /// Commands that start a process, in the isolation that exists; and that isolation in a loop.
    Commands,
    /// Memory and processor of the embedded profile with nothing to do, and its memory while it drains.
    Idle,
    /// Schedules that come due at `--rate` a second; then `--herd` at one moment. With `--scale`, or when asked for.
    Fires,
    /// The highest rate of due times of which all but a hundredth are written within a second. With `--scale`, or when asked
    /// for.
    FireRate,
    /// Millions of schedules stored: what the look at a shard costs, and a scheduler's memory. With `--scale`, or when asked for.
    FireScale,
    /// What a task costs where few wait and where `--waiting` do beside `--ended` that have ended, and what reads take there. With
    /// `--scale`, or when asked for.
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

    /// Rounds of one figure. Those of schedules take minutes, and count tens of thousands of due times each; others are ratios that are
    /// measured in turns within a round. So all of it is to take less than ten minutes.
    pub fn rounds_of(&self, name: Name) -> u32 {
        match name {
            Name::Fires
            | Name::FireRate
            | Name::FireScale
            | Name::Flat
            | Name::RawHop
            | Name::Keys
            | Name::Steps
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

    /// The same where the slowest hundredth counts: of 7 s one pause of the machine of 70 ms is all of them.
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

    /// Tasks in a round of `drain`.
    pub fn drain_tasks(&self) -> u64 {
        u64::from(self.tasks.unwrap_or(if self.quick { 20_000 } else { 200_000 }))
    }
}
