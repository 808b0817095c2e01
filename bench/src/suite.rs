//! Runs the figures in turn, round by round, and collects the results.
//!
//! A failed round is reported and skipped. Rounds of one figure are minutes apart, so that a disturbance affects one of
//! them, and the median drops it.

use crate::arguments::{Arguments, Name};
use crate::phase;
use crate::progress::say;
use crate::report::{Machine, Measured, Results, Versions};
use crate::rig;
use anyhow::Context;
use std::collections::BTreeMap;
use testkit::{psql, settings};

/// Everything that the arguments ask for.
pub async fn run(arguments: &Arguments) -> anyhow::Result<Results> {
    rig::OTHERS.get_or_init(|| arguments.set.clone());
    rig::SPEND_CAP.get_or_init(|| arguments.spend_cap);
    let admin_url = settings::database_url().context("no Postgres given; use `make bench`")?;
    let amqp_url = settings::amqp_url().context("no RabbitMQ given; use `make bench`")?;
    let mut results = Results {
        machine: Machine::here()?,
        versions: Versions::ask(&admin_url, &amqp_url).await?,
        settings: settings_used(arguments, &admin_url).await?,
        figures: BTreeMap::new(),
        problems: Vec::new(),
    };
    for round in 1..=arguments.rounds() {
        let now = |name: &Name| arguments.wants(*name) && round <= arguments.rounds_of(*name);
        for name in ALL.into_iter().filter(now) {
            let rounds = arguments.rounds_of(name);
            say(&format!("round {round} of {rounds}: {}", describe(name)));
            match one(name, arguments, &results).await {
                Ok(round) => {
                    let values = round
                        .iter()
                        .map(|m| format!("{} {:.2}", m.key, m.value))
                        .collect::<Vec<_>>();
                    say(&format!("    {}", values.join(", ")));
                    results.add(round);
                }
                Err(error) => {
                    say(&format!("    void: {error:#}"));
                    results.problems.push(format!("{}, round {round}: {error:#}", describe(name)));
                }
            }
        }
    }
    Ok(results)
}

/// In this order.
const ALL: [Name; 21] = [
    Name::Fdatasync,
    Name::RawPostgres,
    Name::RawHop,
    Name::RawChain,
    Name::Drain,
    Name::Keys,
    Name::SingleSubmit,
    Name::EndToEnd,
    Name::SubmitToStart,
    Name::Steps,
    Name::AtHalf,
    Name::LivePages,
    Name::Delayed,
    Name::Workflows,
    Name::ChildStart,
    Name::Commands,
    Name::Idle,
    Name::Fires,
    Name::FireRate,
    Name::FireScale,
    Name::Flat,
];

async fn one(
    name: Name,
    arguments: &Arguments,
    results: &Results,
) -> anyhow::Result<Vec<Measured>> {
    let length = arguments.length();
    match name {
        Name::Fdatasync => phase::fdatasync(length / 5),
        Name::RawPostgres => {
            let mut all = phase::raw_batch(arguments.tasks() / 500).await?;
            all.extend(phase::raw_single(length / 2).await?);
            all.extend(phase::raw_drain(arguments.tasks()).await?);
            Ok(all)
        }
        Name::RawHop => {
            let messages = arguments.tasks() / 2;
            let mut both = phase::raw_hop(messages, 1).await?;
            both.extend(phase::raw_hop(messages / 5, 100).await?);
            Ok(both)
        }
        Name::RawChain => phase::raw_chain(arguments.long_length()).await,
        Name::Drain => phase::batch_and_drain(arguments.drain_tasks()).await,
        Name::Keys => {
            let before =
                results.figures.get("keyed_drain_part").map_or(0, |figure| figure.runs.len());
            phase::keys(arguments.tasks(), before % 2 == 1).await
        }
        Name::SingleSubmit => phase::single_submit(length).await,
        Name::EndToEnd => phase::end_to_end(length, arguments.connections).await,
        Name::SubmitToStart => {
            let mut all = phase::submit_to_start(arguments.long_length()).await?;
            all.extend(phase::submit_to_start_embedded(length).await?);
            Ok(all)
        }
        Name::Steps => phase::steps_to_start(length).await,
        Name::AtHalf => {
            let most = results.figures.get("end_to_end_per_s").and_then(|figure| figure.median);
            let rate = arguments.half.or(most.map(|most| (most / 2.0) as u32));
            let rate = rate
                .context("half of what? Measure `end-to-end` in the same run, or say `--half N`")?;
            phase::submit_to_start_at_half(arguments.long_length(), rate).await
        }
        Name::LivePages => phase::live_pages(length).await,
        Name::Fires => {
            let mut all = phase::fires(arguments.rate, arguments.fire_length()).await?;
            if arguments.herd > 0 {
                all.extend(phase::herd(arguments.herd).await?);
            }
            Ok(all)
        }
        Name::Delayed => phase::delayed(length).await,
        Name::Workflows => {
            let before =
                results.figures.get("layers_drain_part").map_or(0, |figure| figure.runs.len());
            let mut all = phase::workflow_drain(before % 2 == 1).await?;
            all.extend(phase::graph_runs(arguments.graph_runs()).await?);
            Ok(all)
        }
        Name::ChildStart => phase::child_start(arguments.long_length()).await,
        Name::Commands => phase::commands(length).await,
        Name::Idle => phase::idle(length, arguments.tasks() / 2).await,
        Name::FireRate => phase::fire_rate(length).await,
        Name::FireScale => phase::fire_scale(arguments.schedules).await,
        Name::Flat => phase::flat(arguments.waiting, arguments.ended, length).await,
    }
}

const fn describe(name: Name) -> &'static str {
    match name {
        Name::Fdatasync => "8 kB made durable",
        Name::RawPostgres => "Postgres alone",
        Name::RawHop => "hints through the broker alone",
        Name::RawChain => "a lone task's way through the engines alone",
        Name::Drain => "batches in, then all of it run",
        Name::Keys => "all of it run, with concurrency keys and without",
        Name::SingleSubmit => "single submits",
        Name::EndToEnd => "single submits while everything runs",
        Name::SubmitToStart => "from submit to start",
        Name::Steps => "from submit to start, by its steps",
        Name::LivePages => "from submit to start while pages of the dashboard are open",
        Name::AtHalf => "from submit to start at half of the maximum",
        Name::Delayed => "from due to start",
        Name::Workflows => "large workflow runs, and many small ones at once",
        Name::ChildStart => "from the end of a parent to the start of its child",
        Name::Commands => "commands that start a process",
        Name::Idle => "nothing to do",
        Name::Fires => "schedules that come due",
        Name::FireRate => "as many due times a second as hold",
        Name::FireScale => "millions of schedules",
        Name::Flat => "all of it run where few wait and where millions do",
    }
}

/// The settings that a run's figures depend on, besides the machine.
pub async fn settings_used(
    arguments: &Arguments,
    admin_url: &str,
) -> anyhow::Result<BTreeMap<&'static str, String>> {
    let mut settings: BTreeMap<&'static str, String> =
        rig::settings().map(|(name, value)| (name, value.to_owned())).collect();
    for name in ["fsync", "synchronous_commit", "shared_buffers", "max_wal_size"] {
        settings.insert(name, psql::run(admin_url, &format!("show {name}")).await?);
    }
    settings.insert("processes", "1 api, 1 scheduler, 1 resource-manager, 1 executor".to_owned());
    settings.insert("rounds", arguments.rounds().to_string());
    settings.insert("round_length_s", arguments.length().as_secs().to_string());
    settings.insert("long_round_length_s", arguments.long_length().as_secs().to_string());
    settings.insert("drain_tasks", arguments.drain_tasks().to_string());
    Ok(settings)
}
