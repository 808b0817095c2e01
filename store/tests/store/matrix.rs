//! Every event from every state does what the table in `domain` says, twice, and touches no other row.

use crate::support::{Leader, Owned, Put, World, ended, outcome_of};
use domain::epoch::Epoch;
use domain::id::NodeId;
use domain::task::{AttemptOutcome, Dispatch, Event, NoopRun, Run, State, next};
use std::time::Duration;
use store::TenantScope;
use store::task::transition::{
    self, CancelAnswer, Claim, DoomedTask, FailedAttempt, LapsedLease, PreparedTask, SessionEpoch,
    TransitionResult, WaitOver,
};

/// What a statement answered, whatever its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Moved(u64),
    Answered(TransitionResult),
    Cancel(CancelAnswer),
}

struct Stage {
    world: World,
    leader: Leader,
    owned: Owned,
}

impl Stage {
    async fn raise(&self, event: Event, put: &Put) -> Told {
        let Self { world, leader, owned } = self;
        let (rm, task) = (&world.rm, [(put.tenant, put.task)]);
        let dispatch = [put.dispatch];
        let told = [ended(put.lease, event)];
        let one = |answers: Vec<TransitionResult>| Told::Answered(answers[0]);
        match event {
            Event::Due => Told::Moved(transition::due(&world.scheduler, &task).await.unwrap()),
            Event::Dispatched => Told::Moved(world.dispatch(*leader, &task).await.len() as u64),
            Event::DispatchStale => {
                Told::Moved(transition::dispatch_stale(&world.scheduler, &dispatch).await.unwrap())
            }
            Event::Unplaced => Told::Moved(transition::unplaced(rm, &dispatch).await.unwrap()),
            Event::Placed => Told::Moved(world.place(*owned, &dispatch).await.len() as u64),
            Event::Called => one(transition::called(rm, &told).await.unwrap()),
            Event::Completed => one(transition::completed(rm, &told).await.unwrap()),
            Event::AttemptFailed => {
                let [ended] = told;
                let failed =
                    [FailedAttempt { ended, retry_after: Duration::from_secs(60), held: None }];
                one(transition::attempt_failed(rm, &failed).await.unwrap())
            }
            Event::AttemptsExhausted => {
                one(transition::attempts_exhausted(rm, &told).await.unwrap())
            }
            Event::AttemptAborted => one(transition::attempt_aborted(rm, &told).await.unwrap()),
            Event::AttemptKilled => one(transition::attempt_killed(rm, &told).await.unwrap()),
            Event::LeaseLapsed => one(transition::lease_lapsed(
                rm,
                &[LapsedLease { key: put.lease, at_most_once: false }],
            )
            .await
            .unwrap()),
            Event::LeaseLapsedForGood => one(transition::lease_lapsed(
                rm,
                &[LapsedLease { key: put.lease, at_most_once: true }],
            )
            .await
            .unwrap()),
            Event::HandedBack => one(transition::handed_back(rm, &told).await.unwrap()),
            Event::NotStarted => one(transition::not_started(rm, &told).await.unwrap()),
            Event::ReturnedAgain => {
                one(transition::returned_again(rm, &told, &[Duration::from_secs(60)])
                    .await
                    .unwrap())
            }
            Event::Stopped => one(transition::stopped(rm, &told).await.unwrap()),
            Event::CancelRequested => {
                let scope = TenantScope::of_role(put.tenant);
                let grace = Duration::from_secs(40);
                Told::Cancel(
                    transition::cancel_requested(&world.api, &scope, &[put.task], grace)
                        .await
                        .unwrap()[0],
                )
            }
            Event::Expired => {
                Told::Moved(transition::expired(&world.scheduler, &task).await.unwrap())
            }
            Event::Released => {
                Told::Moved(transition::released(&world.scheduler).await.unwrap().ready)
            }
            Event::Skipped => {
                let doomed = DoomedTask { tenant: put.tenant, task: put.task, parent: put.task };
                Told::Moved(transition::skipped(&world.scheduler, &[doomed]).await.unwrap())
            }
            Event::Prepared | Event::PrepareFailed | Event::WaitOver => self.gate(event, put).await,
            Event::RunNow
            | Event::MarkedSucceeded
            | Event::Recalled
            | Event::Postponed
            | Event::Rejected => self.lever(event, put).await,
        }
    }

    /// What comes of a gate.
    async fn gate(&self, event: Event, put: &Put) -> Told {
        let (db, tenant, task) = (&self.world.scheduler, put.tenant, put.task);
        let why = || "why".to_owned();
        let run = Run::Noop(NoopRun { sleep: Duration::ZERO });
        let moved = match event {
            Event::Prepared => {
                transition::prepared(db, &[PreparedTask { tenant, task, run }]).await
            }
            Event::PrepareFailed => transition::prepare_failed(db, &[(tenant, task, why())]).await,
            _ => {
                let over = WaitOver { tenant, task, result: Some("1".to_owned()), reason: why() };
                transition::wait_over(db, "closed", &[over]).await
            }
        };
        Told::Moved(moved.unwrap())
    }

    /// What the owner does by hand.
    async fn lever(&self, event: Event, put: &Put) -> Told {
        let (db, scope) = (&self.world.api, TenantScope::of_role(put.tenant));
        let moved = match event {
            Event::RunNow => transition::run_now(db, &scope, put.task).await,
            Event::MarkedSucceeded => {
                transition::marked_succeeded(db, &scope, put.task, "by hand").await
            }
            Event::Recalled => transition::recalled(db, &scope, put.task).await,
            Event::Rejected => transition::rejected(db, &scope, put.task, "why").await,
            _ => transition::postponed(db, &scope, put.task).await,
        };
        Told::Moved(u64::from(moved.unwrap()))
    }

    /// How the attempt of `put`'s lease ended, if it did.
    async fn attempt(&self, put: &Put) -> Option<AttemptOutcome> {
        let sql = format!(
            "select outcome from attempt where task_id = '{}' and attempt = {} and session_id = '{}'",
            put.lease.task.uuid(),
            put.lease.attempt,
            put.lease.session.uuid()
        );
        self.world.text(sql).await.map(|outcome| outcome.parse().unwrap())
    }

    /// What the event must answer in `state`.
    fn expected(state: State, event: Event, before: Option<AttemptOutcome>) -> Told {
        let to = next(state, event);
        match event {
            Event::Due
            | Event::Dispatched
            | Event::DispatchStale
            | Event::Unplaced
            | Event::Placed
            | Event::Expired
            | Event::Released
            | Event::Skipped
            | Event::RunNow
            | Event::MarkedSucceeded
            | Event::Recalled
            | Event::Postponed
            | Event::Prepared
            | Event::PrepareFailed
            | Event::WaitOver
            | Event::Rejected => Told::Moved(u64::from(to.is_some())),
            Event::CancelRequested => Told::Cancel(match (state, to) {
                (_, Some(State::Cancelled)) => CancelAnswer::Cancelled,
                (_, Some(_)) => CancelAnswer::Requested,
                (State::Cancelling, None) => CancelAnswer::AlreadyRequested,
                (ended, None) => CancelAnswer::Ended(ended),
            }),
            _ => Told::Answered(match to {
                Some(to) => TransitionResult::Applied(to),
                None if before == Some(outcome_of(event)) => TransitionResult::Repeated,
                None => TransitionResult::Stale { actual: state, leased: state.is_leased() },
            }),
        }
    }

    async fn check(&self, event: Event, state: State, put: &Put) {
        let world = &self.world;
        match event {
            Event::Expired if !state.is_terminal() => world.make_late(put.task).await,
            Event::Released => world.make_child(put.task).await,
            Event::Skipped => world.doom(put.task).await,
            Event::Prepared | Event::PrepareFailed | Event::WaitOver => {
                world.give_gate(put.task, "closed").await;
            }
            Event::Rejected => world.give_gate(put.task, "waiting").await,
            _ => {}
        }
        if event == Event::Postponed && !state.is_terminal() {
            world.put_off(put.task).await;
        }
        let others = world.fingerprint(Some(put.task)).await;
        let all = world.fingerprint(None).await;
        let before = self.attempt(put).await;
        let told = self.raise(event, put).await;
        assert_eq!(told, Self::expected(state, event, before), "{event} in {state}");
        let to = next(state, event);
        assert_eq!(world.state(put.task).await, Some(to.unwrap_or(state)), "{event} in {state}");
        assert_eq!(
            world.fingerprint(Some(put.task)).await,
            others,
            "{event} in {state} touched another row"
        );
        if to.is_none() {
            assert_eq!(world.fingerprint(None).await, all, "{event} in {state} changed something");
        }
        if to.is_some_and(|to| !to.is_leased()) && state.is_leased() {
            assert_eq!(self.attempt(put).await, Some(outcome_of(event)), "{event} in {state}");
        } else {
            assert_eq!(self.attempt(put).await, before, "{event} in {state}");
        }
        self.check_again(event, to.unwrap_or(state), put).await;
    }

    /// The same event once more, in the state it led to.
    async fn check_again(&self, event: Event, state: State, put: &Put) {
        let all = self.world.fingerprint(None).await;
        let before = self.attempt(put).await;
        let told = self.raise(event, put).await;
        let expected = match event {
            // It moved to the same state.
            Event::Called if state == State::Running => Told::Answered(TransitionResult::Repeated),
            _ => Self::expected(state, event, before),
        };
        assert_eq!(told, expected, "{event} again, in {state}");
        assert_eq!(
            self.world.fingerprint(None).await,
            all,
            "{event} again, in {state}, changed something"
        );
    }
}

#[tokio::test]
async fn every_event_in_every_state_does_what_the_table_says_and_twice_is_once() {
    let world = World::new().await;
    let (node, tenant) = (NodeId::fresh(), world.tenant().await);
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(node).await);
    let mut stage = Stage { world, leader, owned };
    // Bystanders: one in each state, of another tenant.
    let other = stage.world.tenant().await;
    for &state in State::ALL {
        stage.world.put(leader, owned, other, state).await;
    }
    let mut submitted = State::ALL.len();
    for &event in Event::ALL {
        // Terms that are not renewed would end before the test does.
        stage.leader = stage.world.lead(leader.node).await;
        stage.owned = stage.world.open(NodeId::fresh()).await;
        for &state in State::ALL {
            let put = stage.world.put(stage.leader, stage.owned, tenant, state).await;
            assert_eq!(stage.world.state(put.task).await, Some(state), "preparing");
            stage.check(event, state, &put).await;
            submitted += 1;
        }
    }
    stage.world.check_promises(submitted).await;
}

#[tokio::test]
async fn an_unknown_task_is_told_so_by_every_event() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let stage = Stage { world, leader, owned };
    let mut put = stage.world.put(leader, owned, tenant, State::Ready).await;
    put.task = domain::id::TaskId::fresh();
    put.lease.task = put.task;
    let all = stage.world.fingerprint(None).await;
    for &event in Event::ALL {
        let expected = match stage.raise(event, &put).await {
            Told::Moved(moved) => moved == 0,
            Told::Answered(answer) => answer == TransitionResult::NotFound,
            Told::Cancel(answer) => answer == CancelAnswer::NotFound,
        };
        assert!(expected, "{event}");
    }
    assert_eq!(stage.world.fingerprint(None).await, all);
}

#[tokio::test]
async fn the_old_batcher_marks_nothing_and_a_claim_without_the_session_places_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let tasks = world.store_ready(tenant, 2).await;
    let all = world.fingerprint(None).await;
    let age = Duration::from_secs(5);
    for (node, epoch) in [
        (leader.node, leader.epoch.0 - 1),
        (leader.node, leader.epoch.0 + 1),
        (NodeId::fresh(), leader.epoch.0),
    ] {
        let epoch = Epoch(epoch);
        assert_eq!(
            transition::dispatched(&world.scheduler, node, epoch, &tasks, age).await.unwrap(),
            None
        );
    }
    assert_eq!(world.fingerprint(None).await, all);

    let dispatched = world.dispatch(leader, &tasks).await;
    let all = world.fingerprint(None).await;
    let dispatch = dispatched[0];
    let claim = Claim { dispatch, session: owned.session, assignment: 1, port_first: 0 };
    let of_dispatch = |number: i64| {
        let dispatch = Dispatch { epoch: Epoch(dispatch.epoch.0 + number), ..dispatch };
        Claim { dispatch, ..claim }
    };
    let right = SessionEpoch { session: owned.session, epoch: owned.epoch };
    let wrong = [
        (NodeId::fresh(), vec![right], claim),
        (owned.node, vec![SessionEpoch { epoch: Epoch(owned.epoch.0 + 1), ..right }], claim),
        (owned.node, vec![SessionEpoch { epoch: Epoch(owned.epoch.0 - 1), ..right }], claim),
        (owned.node, vec![], claim),
        (owned.node, vec![right], Claim { session: domain::id::SessionId::fresh(), ..claim }),
        (owned.node, vec![right], of_dispatch(1)),
        (owned.node, vec![right], of_dispatch(-1)),
    ];
    for (node, sessions, claim) in wrong {
        let placed = transition::placed(&world.rm, node, &sessions, &[claim], age).await.unwrap();
        assert_eq!(placed, vec![], "{node} {sessions:?} {claim:?}");
    }
    assert_eq!(world.fingerprint(None).await, all);
    assert_eq!(world.place(owned, &dispatched).await.len(), 2, "the right tokens place");
}
