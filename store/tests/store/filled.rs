//! A claim costs the same whatever has ended and whatever waits for its time.
//!
//! Two databases, an empty one and a full one, are asked in turn, so that what else the machine does meets both alike.

use crate::support::{Leader, Owned, World, claim, ended};
use domain::id::{NodeId, TenantId};
use domain::placement::Lacks;
use domain::resources::Resources;
use domain::task::{DriverSet, Event, State};
use std::time::Duration;
use store::task::transition::{self, SessionEpoch};
use store::task::{ReadyStrand, SelectionQuery, select_ready};
use testkit::{fill, settings};

const TEMP_FILES: &str =
    "select temp_files from pg_stat_database where datname = current_database()";

struct Side {
    world: World,
    tenant: TenantId,
    held: Option<(Leader, Owned)>,
    times: Vec<Duration>,
}

impl Side {
    async fn new() -> Self {
        let world = World::new().await;
        let tenant = world.tenant().await;
        Self { world, tenant, held: None, times: Vec::new() }
    }

    async fn fill(&self, terminal: u64, future: u64) {
        let node = NodeId::fresh();
        let (leader, owned) = (self.world.lead(node).await, self.world.open(node).await);
        let url = self.world.database.owner_url();
        let model = self.world.put(leader, owned, self.tenant, State::Succeeded).await.task;
        fill::ended(url, &model.uuid().to_string(), terminal).await.unwrap();
        let model = self.world.put(leader, owned, self.tenant, State::Scheduled).await.task;
        fill::scheduled(url, &model.uuid().to_string(), future).await.unwrap();
        // As a batcher that ends would: its place is free for the one that claims.
        store::leadership::release(&self.world.scheduler, node).await.unwrap();
    }

    /// Submits a task, finds and claims it, and ends it.
    async fn claim(&mut self) {
        let world = &self.world;
        let (leader, owned) = match self.held {
            Some(held) => held,
            None => {
                let node = NodeId::fresh();
                *self.held.insert((world.lead(node).await, world.open(node).await))
            }
        };
        world.store_ready(self.tenant, 1).await;
        let sessions = [SessionEpoch { session: owned.session, epoch: owned.epoch }];
        let (pool, shapes) = ("default".parse().unwrap(), Lacks::default());
        let query = SelectionQuery {
            after: None,
            strands_per_tenant: 4,
            scanned_strands: 100,
            requested: &[],
            requested_strands: 100,
            rows: 4096,
            rows_per_strand: 50,
            tenant_limits: &[],
            largest: Resources::from_dimensions([u32::MAX; 5]),
            lacks: &shapes,
            drivers: &DriverSet::default(),
        };
        let began = runtime::clock::monotonic();
        let found = select_ready(&world.scheduler, &pool, query).await.unwrap();
        let of = |strand: &ReadyStrand| (strand.tenant, strand.tasks[0].task);
        let ready: Vec<_> = found.strands.iter().map(of).collect();
        let marked = world.dispatch(leader, &ready).await;
        let claims: Vec<_> = marked.iter().zip(1..).map(|(m, n)| claim(owned, *m, n)).collect();
        let grace = Duration::from_secs(40);
        let placed = transition::placed(&world.rm, owned.node, &sessions, &claims, grace).await;
        self.times.push(began.elapsed());
        let told: Vec<_> =
            placed.unwrap().iter().map(|placed| ended(placed.lease, Event::Completed)).collect();
        assert_eq!(told.len(), 1, "one was ready and one was claimed");
        transition::completed(&world.rm, &told).await.unwrap();
    }

    fn p99(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times[(self.times.len() * 99).div_ceil(100) - 1]
    }
}

async fn claims_cost_the_same(terminal: u64, future: u64, claims: usize) {
    let (mut empty, mut full) = (Side::new().await, Side::new().await);
    full.fill(terminal, future).await;
    let before = full.world.number(TEMP_FILES).await;
    for round in 0..claims + 20 {
        empty.claim().await;
        full.claim().await;
        if round < 20 {
            // Connections are made and plans, too.
            empty.times.clear();
            full.times.clear();
        }
    }
    let (small, large) = (empty.p99(), full.p99());
    eprintln!(
        "a claim takes {small:?} on empty tables, {large:?} on {terminal} ended and {future} waiting tasks (p99)"
    );
    assert!(large <= small * 2, "{large:?} against {small:?}");
    // What a connection wrote is counted when it ends.
    full.world.deadlocks().await;
    assert_eq!(full.world.number(TEMP_FILES).await, before, "claims wrote temporary files");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_costs_the_same_with_twenty_thousand_ended_tasks() {
    claims_cost_the_same(20_000, 5_000, 200).await;
}

mod chaos {
    use super::*;

    /// Millions with `SCALE=1`: to fill the tables takes minutes.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_claim_costs_the_same_with_millions_of_ended_tasks() {
        let million = |usual, full| settings::rounds(usual, full) as u64;
        let (terminal, future) = (million(500_000, 5_000_000), million(100_000, 1_000_000));
        claims_cost_the_same(terminal, future, 1000).await;
    }
}
