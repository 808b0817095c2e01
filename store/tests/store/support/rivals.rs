//! Rivals: the same tasks, each event raised by several at once, over overlapping arrays in different orders.

use super::put::{claim, ended};
use super::shuffle::Shuffle;
use super::world::{Leader, Owned, World};
use domain::id::{TaskId, TenantId};
use domain::task::{Dispatch, Event, LeaseKey};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::task::transition::{
    self, CancelAnswer, FailedAttempt, LapsedLease, SessionEpoch, TransitionResult,
};
use tokio::task::JoinSet;

/// What the rivals compete for.
#[derive(Debug, Clone)]
pub struct Prize {
    pub tenant: TenantId,
    pub leader: Leader,
    pub owned: Owned,
    pub tasks: Vec<(TenantId, TaskId)>,
    pub dispatches: Vec<Dispatch>,
    pub leases: Vec<LeaseKey>,
}

/// Per task, the moves that rivals were told they made.
pub type Told = HashMap<TaskId, Vec<Event>>;

impl World {
    /// Raises `event` over `count` of the prize, in an order of the generator's; the tasks it was told it moved.
    /// Any error is a failure: rivals must never see each other.
    async fn compete(
        &self,
        event: Event,
        prize: &Prize,
        random: &mut Shuffle,
        count: usize,
    ) -> Vec<TaskId> {
        let leases = random.some(&prize.leases, count);
        let dispatches = random.some(&prize.dispatches, count);
        let tasks = random.some(&prize.tasks, count);
        let told: Vec<_> = leases.iter().map(|lease| ended(*lease, event)).collect();
        let Prize { owned, leader, tenant, .. } = prize;
        let rm = &self.rm;
        let applied = |answers: Vec<TransitionResult>| {
            let moved = leases
                .iter()
                .zip(answers)
                .filter(|(_, answer)| matches!(answer, TransitionResult::Applied(_)));
            moved.map(|(lease, _)| lease.task).collect()
        };
        match event {
            Event::Completed => applied(transition::completed(rm, &told).await.unwrap()),
            Event::AttemptsExhausted => {
                applied(transition::attempts_exhausted(rm, &told).await.unwrap())
            }
            Event::Stopped => applied(transition::stopped(rm, &told).await.unwrap()),
            Event::HandedBack => applied(transition::handed_back(rm, &told).await.unwrap()),
            Event::AttemptFailed => {
                let retry_after = Duration::ZERO;
                let failed: Vec<_> = told
                    .into_iter()
                    .map(|ended| FailedAttempt { ended, retry_after, held: None })
                    .collect();
                applied(transition::attempt_failed(rm, &failed).await.unwrap())
            }
            Event::LeaseLapsed => {
                let lapsed: Vec<_> = leases.iter().map(lapsed).collect();
                applied(transition::lease_lapsed(rm, &lapsed).await.unwrap())
            }
            Event::Dispatched => {
                let marked = self.dispatch(*leader, &tasks).await;
                marked.iter().map(|dispatch| dispatch.task).collect()
            }
            Event::Placed => {
                let sessions = [SessionEpoch { session: owned.session, epoch: owned.epoch }];
                let claims: Vec<_> = dispatches
                    .iter()
                    .zip(1..)
                    .map(|(d, number)| claim(*owned, *d, number))
                    .collect();
                let placed =
                    transition::placed(rm, owned.node, &sessions, &claims, Duration::from_secs(9))
                        .await;
                placed.unwrap().into_iter().map(|placed| placed.lease.task).collect()
            }
            Event::CancelRequested => {
                let ids: Vec<_> = tasks.iter().map(|task| task.1).collect();
                let scope = TenantScope::of_role(*tenant);
                let answers =
                    transition::cancel_requested(&self.api, &scope, &ids, Duration::from_secs(9))
                        .await;
                let moved = ids.into_iter().zip(answers.unwrap());
                moved
                    .filter(|(_, a)| matches!(a, CancelAnswer::Cancelled | CancelAnswer::Requested))
                    .map(|m| m.0)
                    .collect()
            }
            Event::RunNow | Event::MarkedSucceeded | Event::Recalled => {
                self.pull(event, *tenant, &tasks).await
            }
            Event::DispatchStale => transition::dispatch_stale(&self.scheduler, &dispatches)
                .await
                .map(|_| Vec::new())
                .unwrap(),
            Event::Unplaced => {
                transition::unplaced(rm, &dispatches).await.map(|_| Vec::new()).unwrap()
            }
            Event::Expired => {
                transition::expired(&self.scheduler, &tasks).await.map(|_| Vec::new()).unwrap()
            }
            Event::Due => {
                transition::due(&self.scheduler, &tasks).await.map(|_| Vec::new()).unwrap()
            }
            _ => Vec::new(),
        }
    }

    /// Raises the event of a lever, task by task.
    async fn pull(
        &self,
        event: Event,
        tenant: TenantId,
        tasks: &[(TenantId, TaskId)],
    ) -> Vec<TaskId> {
        let scope = TenantScope::of_role(tenant);
        let mut moved = Vec::new();
        for (_, id) in tasks {
            let did = match event {
                Event::RunNow => transition::run_now(&self.api, &scope, *id).await,
                Event::Recalled => transition::recalled(&self.api, &scope, *id).await,
                _ => transition::marked_succeeded(&self.api, &scope, *id, "by hand").await,
            };
            moved.extend(did.unwrap().then_some(*id));
        }
        moved
    }
}

/// Lets one rival an entry of `events` compete for `prize`, each in `turns` turns over about half of it.
pub async fn race(
    world: &Arc<World>,
    prize: &Prize,
    events: &[Event],
    turns: usize,
    seed: u64,
) -> Told {
    let mut rivals = JoinSet::new();
    for (number, event) in events.iter().copied().enumerate() {
        let (world, prize) = (Arc::clone(world), prize.clone());
        rivals.spawn(async move {
            let mut random = Shuffle::new(seed * 1000 + number as u64);
            let mut moved = Vec::new();
            for _ in 0..turns {
                let count = prize.tasks.len() / 2 + random.below(0..prize.tasks.len() / 2 + 1);
                moved.extend(world.compete(event, &prize, &mut random, count).await);
            }
            (event, moved)
        });
    }
    let mut told = Told::new();
    while let Some(rival) = rivals.join_next().await {
        let (event, moved) = rival.unwrap();
        for task in moved {
            told.entry(task).or_default().push(event);
        }
    }
    told
}

/// Every other task may run at most once.
fn lapsed(lease: &LeaseKey) -> LapsedLease {
    LapsedLease { key: *lease, at_most_once: lease.task.uuid().as_u128().is_multiple_of(2) }
}
