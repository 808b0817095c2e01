//! Cost of guards: single submits with and without limits, authentication and row-level security, in turn.
//!
//! Two clusters of one build side by side, of which one serves at a time, a second each: so whatever disturbs the machine
//! disturbs both. Limits are counted in Redis. What must be reached: at least 0.9 of the rate without guards, and at most 0.05 commands of
//! Redis a request.

use super::body;
use super::single_submit::CONNECTIONS;
use crate::cpu::{Cpu, Meter};
use crate::http::{Connection, closed_loop};
use crate::programs;
use crate::report::{Measured, Results};
use crate::rig::Rig;
use crate::statistics::{median, percentile};
use anyhow::Context;
use e2e::Shape;
use runtime::clock;
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::services::TestRedis;

const TURN: Duration = Duration::from_secs(1);
const SHARE: &str = "guarded_share_of_unguarded";
const LEAST_SHARE: f64 = 0.9;
const CALLS: &str = "redis_commands_per_request";
const MOST_CALLS: f64 = 0.05;

/// One table at a time, because the roles are at work already.
const NO_ROW_LEVEL_SECURITY: &str =
    "select format('alter table %s disable row level security', c.oid::regclass) from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relrowsecurity \\gexec";

/// For `length` each, in pairs of turns.
pub async fn guards(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let redis = TestRedis::new().await?;
    let mut shape = Rig::shape(0)
        .set("BERTH_REDIS__URL", redis.url())
        .set("BERTH_REDIS__KEY_PREFIX", redis.key_prefix());
    shape.program = Some(programs::unguarded()?);
    let mut guarded = Side::start(shape.clone()).await?;
    let mut bare = Side::start(shape.set("BERTH_UNGUARDED", "1")).await?;
    bare.rig.sql(NO_ROW_LEVEL_SECURITY).await?;
    // Not counted: caches and plans, and with guards the bucket, which begins empty.
    for side in [&mut guarded, &mut bare] {
        side.turn().await?;
        side.turns.clear();
    }
    let before = redis.commands().await?;
    for pair in 0..length.div_duration_f64(TURN) as u32 {
        // Which is first changes, so that what a turn leaves behind is nobody's advantage.
        let mut order = [&mut guarded, &mut bare];
        if pair % 2 == 1 {
            order.reverse();
        }
        for side in order {
            side.turn().await?;
        }
    }
    let commands = redis.commands().await? - before;
    for side in [&guarded, &bare] {
        side.rig.stored_well(side.stored).await?;
    }
    let pairs = guarded.turns.iter().zip(&bare.turns);
    let shares: Vec<f64> = pairs.map(|(with, without)| with.per_s / without.per_s).collect();
    let share = |part| percentile(&shares, part).context("no turns");
    Ok(vec![
        Measured::new(SHARE, median(&shares).context("no turns")?)
            .with("lower_quartile", share(0.25)?)
            .with("upper_quartile", share(0.75)?)
            .with("pairs", shares.len() as f64),
        Measured::new(CALLS, commands as f64 / guarded.requests() as f64),
        guarded.measured("guarded_submit_per_s")?,
        bare.measured("unguarded_submit_per_s")?,
    ])
}

/// What is not as it must be, over all rounds.
pub fn what_guards_miss(results: &Results) -> Vec<String> {
    let median_of = |key| results.figures.get(key).and_then(|figure| figure.median);
    let share = median_of(SHARE).filter(|share| *share < LEAST_SHARE);
    let calls = median_of(CALLS).filter(|calls| *calls > MOST_CALLS);
    let share = share.map(|is| format!("{SHARE} is {is:.3}, and must be {LEAST_SHARE} or more"));
    let calls = calls.map(|are| format!("{CALLS} is {are:.4}, and must be {MOST_CALLS} or less"));
    share.into_iter().chain(calls).collect()
}

/// A cluster with guards or without, and what it did in its turns.
struct Side {
    rig: Rig,
    connections: Vec<Connection>,
    meter: Meter,
    /// Over all turns.
    stored: u64,
    turns: Vec<Turn>,
}

struct Turn {
    requests: u64,
    per_s: f64,
    cpu: Cpu,
}

impl Side {
    async fn start(shape: Shape) -> anyhow::Result<Self> {
        let mut rig = Rig::of(shape).await?;
        let connections = rig.connections(CONNECTIONS).await?;
        let meter = rig.meter().await?;
        Ok(Self { rig, connections, meter, stored: 0, turns: Vec::new() })
    }

    async fn turn(&mut self) -> anyhow::Result<()> {
        let before = self.meter.read();
        let until = (Some(clock::monotonic() + TURN), u64::MAX);
        let done =
            closed_loop(&mut self.connections, "/v1/tasks", &body::task(), 201, until).await?;
        let (requests, cpu) = (done.requests, self.meter.since(&before, done.requests));
        self.stored += requests;
        let per_s = requests as f64 / done.elapsed.as_secs_f64();
        self.turns.push(Turn { requests, per_s, cpu });
        Ok(())
    }

    fn requests(&self) -> u64 {
        self.turns.iter().map(|turn| turn.requests).sum()
    }

    /// The middle of all turns, with the processor time of all.
    fn measured(&self, key: &'static str) -> anyhow::Result<Measured> {
        let rates: Vec<f64> = self.turns.iter().map(|turn| turn.per_s).collect();
        let (all, turns) = (self.requests() as f64, self.turns.len() as f64);
        let mut us_per_item = BTreeMap::new();
        for turn in &self.turns {
            for (name, us) in &turn.cpu.us_per_item {
                *us_per_item.entry(*name).or_default() += us * turn.requests as f64 / all;
            }
        }
        let mean =
            |of: fn(&Cpu) -> f64| self.turns.iter().map(|turn| of(&turn.cpu)).sum::<f64>() / turns;
        let (busy_cores, other_cores) = (mean(|cpu| cpu.busy_cores), mean(|cpu| cpu.other_cores));
        let stolen_cores = mean(|cpu| cpu.stolen_cores);
        let rate = median(&rates).context("no turns")?;
        Ok(Measured::new(key, rate).with_cpu(Cpu {
            us_per_item,
            busy_cores,
            other_cores,
            stolen_cores,
        }))
    }
}
