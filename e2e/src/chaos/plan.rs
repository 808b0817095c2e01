//! From a seed to what is done, to whom, when and for how long. Pure: the same seed is the same plan.

use super::fault::{Cut, Fault, Kind, Link, Planned, Victim};
use super::scenario::{Faults, Scenario};
use crate::{Role, Shape};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::ops::Range;
use std::time::Duration;

/// Before the first fault.
const LEAD: Duration = Duration::from_secs(2);

/// What is done in this scenario, in the order of time.
#[must_use]
pub fn plan(scenario: &Scenario, seed: u64) -> Vec<Planned> {
    let mut random = StdRng::seed_from_u64(seed);
    match &scenario.faults {
        Faults::Carousel => carousel(&mut random, scenario.faults_for),
        Faults::InTurn(kinds) => in_turn(&mut random, kinds, scenario.faults_for),
    }
}

/// How the broker keeps hints: quorum queues with even seeds, classic ones with odd.
#[must_use]
pub const fn queue_type(seed: u64) -> &'static str {
    if seed.is_multiple_of(2) { "quorum" } else { "classic" }
}

/// Every process of the usual shape.
fn victims() -> Vec<Victim> {
    let counts = Shape::default().counts;
    Role::ALL
        .into_iter()
        .flat_map(|role| {
            let count = counts.get(&role).copied().unwrap_or(0);
            (0..count).map(move |number| Victim { role, number })
        })
        .collect()
}

fn carousel(random: &mut StdRng, length: Duration) -> Vec<Planned> {
    let victims = victims();
    let mut at = Duration::from_secs(1);
    let mut planned = Vec::new();
    while at < length {
        let victim = victims[random.random_range(0..victims.len())];
        planned.push(Planned { at, lasts: Duration::ZERO, fault: Fault::Kill(victim) });
        at += between(random, 1000..3000);
    }
    planned
}

fn in_turn(random: &mut StdRng, kinds: &[Kind], length: Duration) -> Vec<Planned> {
    let mut planned = Vec::new();
    let mut at = LEAD;
    loop {
        let before = planned.len();
        for fault in round(random, kinds) {
            let lasts = between(random, lasts_ms(fault));
            if at + lasts > length {
                return planned;
            }
            planned.push(Planned { at, lasts, fault });
            at += lasts + took(fault) + between(random, 500..2500);
        }
        if planned.len() == before {
            return planned;
        }
    }
}

/// Every fault of these kinds once, shuffled; of those that need a victim, one of each role.
fn round(random: &mut StdRng, kinds: &[Kind]) -> Vec<Fault> {
    let mut faults: Vec<Fault> = kinds.iter().flat_map(|kind| of_kind(random, *kind)).collect();
    faults.shuffle(random);
    faults
}

fn of_kind(random: &mut StdRng, kind: Kind) -> Vec<Fault> {
    let mut of_each_role = |fault: fn(Victim) -> Fault| -> Vec<Fault> {
        let mut chosen = Vec::new();
        for role in Role::ALL {
            let of_role: Vec<Victim> = victims().into_iter().filter(|v| v.role == role).collect();
            chosen.push(fault(of_role[random.random_range(0..of_role.len())]));
        }
        chosen
    };
    match kind.0 {
        "kill" => of_each_role(Fault::Kill),
        "stop" => of_each_role(Fault::Stop),
        "term" => of_each_role(Fault::Term),
        "clock-skew" => {
            let role = if random.random_bool(0.5) { Role::Scheduler } else { Role::Executor };
            vec![Fault::ClockSkew(Victim { role, number: 0 })]
        }
        "cut" => on_links(random, Cut::Reset),
        "delay" => on_links(random, Cut::Delay),
        "black-hole" => on_links(random, Cut::BlackHole),
        "half-open" => on_links(random, Cut::HalfOpen),
        "broker-restart" => vec![Fault::BrokerRestart],
        "broker-wipe" => vec![Fault::BrokerWipe],
        "queue-deletion" => vec![Fault::QueueDeletion],
        "memory-alarm" => vec![Fault::MemoryAlarm],
        "postgres-crash" => vec![Fault::PostgresCrash],
        "postgres-slow" => vec![Fault::PostgresSlow],
        "few-connections" => vec![Fault::FewConnections],
        "killed-backends" => vec![Fault::KilledBackends],
        "redis-away" => vec![Fault::RedisAway],
        _ => Vec::new(),
    }
}

fn on_links(random: &mut StdRng, cut: Cut) -> Vec<Fault> {
    let executor = Link::Executor(random.random_range(0..3));
    let links = [
        Link::ApiDatabase,
        Link::SchedulerDatabase,
        Link::ManagerDatabase,
        Link::Broker,
        Link::Redis,
        executor,
    ];
    links.into_iter().map(|link| Fault::Network(link, cut)).collect()
}

/// For how long, in ms.
const fn lasts_ms(fault: Fault) -> Range<u64> {
    match fault {
        Fault::Kill(_) | Fault::Term(_) | Fault::QueueDeletion => 0..1,
        // Shorter and longer than a lease.
        Fault::Stop(_) | Fault::Network(Link::Executor(_), _) => 1000..9000,
        Fault::ClockSkew(_) => 5000..8000,
        _ => 1000..4000,
    }
}

/// About how long the doing itself takes, so that what follows keeps its distance.
const fn took(fault: Fault) -> Duration {
    match fault {
        Fault::BrokerRestart | Fault::BrokerWipe => Duration::from_secs(6),
        Fault::PostgresCrash | Fault::MemoryAlarm => Duration::from_secs(3),
        Fault::Term(_) | Fault::QueueDeletion => Duration::from_secs(2),
        _ => Duration::ZERO,
    }
}

fn between(random: &mut StdRng, ms: Range<u64>) -> Duration {
    Duration::from_millis(random.random_range(ms))
}

#[cfg(test)]
mod tests {
    use super::super::fault::KINDS;
    use super::*;

    fn named(name: &str, seconds: u64) -> Scenario {
        Scenario::named(name, Some(Duration::from_secs(seconds))).unwrap()
    }

    #[test]
    fn a_seed_is_a_plan() {
        for name in ["mix", "carousel", "kill"] {
            let scenario = named(name, 60);
            assert_eq!(plan(&scenario, 7), plan(&scenario, 7));
            assert_ne!(plan(&scenario, 7), plan(&scenario, 8), "{name}");
        }
    }

    #[test]
    fn a_carousel_kills_every_one_to_three_seconds() {
        let planned = plan(&named("carousel", 60), 1);
        assert!((20..=60).contains(&planned.len()), "{}", planned.len());
        for pair in planned.windows(2) {
            let gap = pair[1].at - pair[0].at;
            assert!((Duration::from_secs(1)..Duration::from_secs(3)).contains(&gap), "{gap:?}");
        }
    }

    #[test]
    fn a_long_mix_has_every_kind() {
        let planned = plan(&named("mix", 600), 3);
        for kind in KINDS {
            assert!(planned.iter().any(|planned| planned.fault.kind() == kind), "{kind:?}");
        }
        assert!(planned.iter().all(|p| p.at + p.lasts <= Duration::from_secs(600)));
    }

    #[test]
    fn every_fault_is_a_scenario_and_nothing_else_is() {
        for kind in KINDS {
            let planned = plan(&named(kind.0, 30), 1);
            assert!(!planned.is_empty(), "{kind:?}");
            assert!(planned.iter().all(|planned| planned.fault.kind() == kind));
        }
        Scenario::named("earthquake", None).unwrap_err();
    }
}
