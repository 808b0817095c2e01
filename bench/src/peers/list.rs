//! The peers, and what each needs.

use super::engine::Engine;
use super::phase::Phase;

/// What installs a driver and runs it; the name of its folder in `bench/peers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kit {
    /// npm and the Node.js that it installs.
    Node,
    /// A virtual environment.
    Python,
    /// A cargo package of its own.
    Rust,
}

/// One configuration of another task system.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// Its column in the table, and the name of its database or vhost.
    pub name: &'static str,
    /// What runs its driver.
    pub kit: Kit,
    /// The driver within its kit, and the variant where it has several.
    pub driver: &'static [&'static str],
    /// What it stores tasks in.
    pub engine: Engine,
    /// Where it keeps what a join of a graph counts, if that is another engine.
    pub results: Option<Engine>,
    /// What it has; it has no figure of the others.
    pub phases: &'static [Phase],
}

impl Peer {
    /// All that it uses.
    pub fn engines(&self) -> impl Iterator<Item = Engine> {
        [self.engine].into_iter().chain(self.results)
    }
}

/// In the order of the table.
pub const PEERS: [Peer; 7] = [
    Peer {
        name: "graphile",
        kit: Kit::Node,
        driver: &["graphile-worker.mjs"],
        engine: Engine::Postgres,
        results: None,
        phases: Phase::OF_TASKS,
    },
    Peer {
        name: "graphile-batched",
        kit: Kit::Node,
        driver: &["graphile-worker.mjs", "batched"],
        engine: Engine::Postgres,
        results: None,
        phases: Phase::OF_TASKS,
    },
    Peer {
        name: "pg-boss",
        kit: Kit::Node,
        driver: &["pg-boss.mjs"],
        engine: Engine::Postgres,
        results: None,
        phases: Phase::OF_TASKS,
    },
    Peer {
        name: "bullmq",
        kit: Kit::Node,
        driver: &["bullmq.mjs"],
        engine: Engine::Redis,
        results: None,
        phases: &Phase::ALL,
    },
    Peer {
        name: "celery",
        kit: Kit::Python,
        driver: &["celery_rabbitmq.py"],
        engine: Engine::RabbitMq,
        results: Some(Engine::Redis),
        phases: &Phase::ALL,
    },
    Peer {
        name: "apalis",
        kit: Kit::Rust,
        driver: &["apalis"],
        engine: Engine::Postgres,
        results: None,
        phases: Phase::OF_TASKS,
    },
    Peer {
        name: "dbos",
        kit: Kit::Python,
        driver: &["dbos_postgres.py"],
        engine: Engine::Postgres,
        results: None,
        phases: &[Phase::Graphs],
    },
];

/// The peers of these names; all where none is named.
pub fn named(names: &[String]) -> anyhow::Result<Vec<Peer>> {
    let known = PEERS.map(|peer| peer.name);
    if let Some(other) = names.iter().find(|name| !known.contains(&&***name)) {
        anyhow::bail!("there is no peer `{other}`; there are {}", known.join(", "));
    }
    let chosen = |peer: &Peer| names.is_empty() || names.iter().any(|name| name == peer.name);
    Ok(PEERS.into_iter().filter(chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_chooses_its_peer_and_an_unknown_one_is_an_error() {
        assert_eq!(named(&[]).unwrap().len(), PEERS.len());
        let chosen = named(&["celery".to_owned()]).unwrap();
        assert_eq!(chosen.iter().map(|peer| peer.name).collect::<Vec<_>>(), ["celery"]);
        assert!(named(&["selery".to_owned()]).unwrap_err().to_string().contains("celery"));
    }
}
