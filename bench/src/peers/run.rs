//! Round by round, phase by phase, Berth and the peers in turn: what disturbs the machine disturbs all of them.

use super::comparison::{Comparison, System};
use super::driver;
use super::list::{self, Kit, Peer};
use super::phase::Phase;
use crate::arguments::Arguments;
use crate::progress::say;
use crate::report::{Machine, Versions};
use crate::{rig, suite};
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use testkit::settings;

/// Measures those of `names`, or all, and prints the table. Fails when a round is void.
pub async fn run(arguments: &Arguments, names: &[String]) -> anyhow::Result<()> {
    rig::OTHERS.get_or_init(|| arguments.set.clone());
    let phases = Phase::named(&arguments.phase)?;
    let admin_url = settings::database_url().context("no Postgres given; use `make bench`")?;
    let amqp_url = settings::amqp_url().context("no RabbitMQ given; use `make bench`")?;
    let mut settings = suite::settings_used(arguments, &admin_url).await?;
    settings.insert("drain_tasks", arguments.peer_tasks().to_string());
    let mut comparison = Comparison {
        machine: Machine::here()?,
        versions: Versions::ask(&admin_url, &amqp_url).await?,
        settings,
        systems: vec![System::new("berth")],
        skipped: Vec::new(),
        problems: Vec::new(),
    };
    let mut peers = list::named(names)?;
    peers.retain(|peer| peer.phases.iter().any(|phase| phases.contains(phase)));
    let peers = ready(peers, &mut comparison).await;
    // In the order of `comparison.systems`.
    let mut turns: Vec<Option<&Peer>> = vec![None];
    turns.extend(peers.iter().map(Some));
    for round in 1..=arguments.rounds() {
        for &phase in &phases {
            say(&format!("round {round} of {}: {}", arguments.rounds(), phase.name()));
            // Who is first changes: the page cache and the write-ahead log are as the one before has left them.
            for turn in (0..turns.len()).map(|place| (place + round as usize - 1) % turns.len()) {
                if turns[turn].is_some_and(|peer| !peer.phases.contains(&phase)) {
                    continue;
                }
                let measured = measure(turns[turn], phase, arguments).await;
                comparison.add(turn, phase, measured);
            }
        }
    }
    for peer in &peers {
        for engine in peer.engines() {
            if let Err(error) = engine.remove(peer.name).await {
                say(&format!("{} is not removed from its engine: {error:#}", peer.name));
            }
        }
    }
    comparison.publish()
}

/// Installs them, and leaves out those that cannot be had.
async fn ready(peers: Vec<Peer>, comparison: &mut Comparison) -> Vec<Peer> {
    let mut missing: BTreeMap<Kit, String> = BTreeMap::new();
    for kit in peers.iter().map(|peer| peer.kit).collect::<BTreeSet<_>>() {
        if let Err(error) = kit.install().await {
            missing.insert(kit, format!("{error:#}"));
        }
    }
    let mut ready = Vec::new();
    for peer in peers {
        let reason = match missing.get(&peer.kit) {
            Some(reason) => Some(reason.clone()),
            None => prepare(&peer).await.err().map(|error| format!("{error:#}")),
        };
        if let Some(reason) = reason {
            say(&format!("SKIPPED {}: {reason}", peer.name));
            comparison.skipped.push((peer.name, reason));
        } else {
            comparison.systems.push(System::new(peer.name));
            ready.push(peer);
        }
    }
    ready
}

async fn prepare(peer: &Peer) -> anyhow::Result<()> {
    for engine in peer.engines() {
        engine.prepare(peer.name).await?;
    }
    Ok(())
}

/// One round of one phase: the version where the system says it, and the figures.
async fn measure(
    peer: Option<&Peer>,
    phase: Phase,
    arguments: &Arguments,
) -> anyhow::Result<(Option<String>, BTreeMap<String, f64>)> {
    let Some(peer) = peer else {
        let measured = phase.of_berth(arguments).await?;
        return Ok((None, measured.iter().map(|m| (m.key.to_owned(), m.value)).collect()));
    };
    let printed = driver::run(peer, phase, phase.amount(arguments)).await?;
    Ok((Some(printed.version), printed.figures))
}
