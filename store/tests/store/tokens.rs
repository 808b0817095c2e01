//! Reports under a wrong token, or with another outcome, change nothing and are told so.

use crate::support::{World, ended};
use domain::id::{NodeId, SessionId};
use domain::task::{AttemptOutcome, Event, LeaseKey, State};
use std::time::Duration;
use store::task::transition::{self, EndedAttempt, FailedAttempt, LapsedLease, TransitionResult};

/// Raises every event that ends a lease, each on its own.
async fn raise_all(world: &World, lease: LeaseKey) -> Vec<(Event, TransitionResult)> {
    let rm = &world.rm;
    let told = |event| [ended(lease, event)];
    let failed = |event| {
        let [ended] = told(event);
        [FailedAttempt { ended, retry_after: Duration::ZERO, held: None }]
    };
    let lapsed = |at_most_once| LapsedLease { key: lease, at_most_once };
    let answers = [
        (Event::Completed, transition::completed(rm, &told(Event::Completed)).await),
        (Event::AttemptFailed, transition::attempt_failed(rm, &failed(Event::AttemptFailed)).await),
        (
            Event::AttemptsExhausted,
            transition::attempts_exhausted(rm, &told(Event::AttemptsExhausted)).await,
        ),
        (
            Event::AttemptAborted,
            transition::attempt_aborted(rm, &told(Event::AttemptAborted)).await,
        ),
        (Event::AttemptKilled, transition::attempt_killed(rm, &told(Event::AttemptKilled)).await),
        (Event::HandedBack, transition::handed_back(rm, &told(Event::HandedBack)).await),
        (Event::NotStarted, transition::not_started(rm, &told(Event::NotStarted)).await),
        (Event::Stopped, transition::stopped(rm, &told(Event::Stopped)).await),
        (Event::LeaseLapsed, transition::lease_lapsed(rm, &[lapsed(false)]).await),
        (Event::LeaseLapsedForGood, transition::lease_lapsed(rm, &[lapsed(true)]).await),
    ];
    answers.into_iter().map(|(event, answers)| (event, answers.unwrap()[0])).collect()
}

#[tokio::test]
async fn a_report_under_another_attempt_or_session_is_stale_and_changes_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    for state in [State::Running, State::Cancelling] {
        let put = world.put(leader, owned, tenant, state).await;
        let all = world.fingerprint(None).await;
        for lease in [
            LeaseKey { attempt: 0, ..put.lease },
            LeaseKey { attempt: 2, ..put.lease },
            LeaseKey { session: SessionId::fresh(), ..put.lease },
        ] {
            for (event, answer) in raise_all(&world, lease).await {
                assert_eq!(
                    answer,
                    TransitionResult::Stale { actual: state, leased: false },
                    "{event} under {lease:?}"
                );
            }
        }
        let foreign = LeaseKey { tenant: world.tenant().await, ..put.lease };
        for (event, answer) in raise_all(&world, foreign).await {
            assert_eq!(answer, TransitionResult::NotFound, "{event} for another tenant");
        }
        assert_eq!(world.fingerprint(None).await, all);
    }
}

#[tokio::test]
async fn after_an_end_the_same_outcome_is_a_success_and_any_other_is_stale() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let ends = [
        (State::Succeeded, AttemptOutcome::Succeeded),
        (State::Retrying, AttemptOutcome::Failed),
        (State::Failed, AttemptOutcome::Failed),
        (State::Aborted, AttemptOutcome::Failed),
        (State::Killed, AttemptOutcome::KilledCap),
    ];
    for (state, outcome) in ends {
        let put = world.put(leader, owned, tenant, state).await;
        let all = world.fingerprint(None).await;
        for (event, answer) in raise_all(&world, put.lease).await {
            let same = crate::support::outcome_of(event) == outcome;
            let expected = if same {
                TransitionResult::Repeated
            } else {
                TransitionResult::Stale { actual: state, leased: false }
            };
            assert_eq!(answer, expected, "{event} in {state}");
        }
        assert_eq!(world.fingerprint(None).await, all);
    }
}

#[tokio::test]
async fn one_batch_answers_each_report_by_its_own_token() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let [live, done] = world.run(leader, owned, tenant, 2).await[..] else { panic!("two leases") };
    transition::completed(&world.rm, &[ended(done, Event::Completed)]).await.unwrap();
    let failed = EndedAttempt { outcome: AttemptOutcome::Failed, ..ended(live, Event::Completed) };
    let unknown = LeaseKey { task: domain::id::TaskId::fresh(), ..live };
    let batch = [
        ended(done, Event::Completed),
        // A late report of an attempt that never was, before the right one, and the right one twice.
        ended(LeaseKey { attempt: 9, ..live }, Event::Completed),
        ended(live, Event::Completed),
        ended(live, Event::Completed),
        failed,
        ended(unknown, Event::Completed),
    ];
    let answers = transition::completed(&world.rm, &batch).await.unwrap();
    let stale = TransitionResult::Stale { actual: State::Succeeded, leased: false };
    let expected = [
        TransitionResult::Repeated,
        stale,
        TransitionResult::Applied(State::Succeeded),
        TransitionResult::Repeated,
        stale,
        TransitionResult::NotFound,
    ];
    assert_eq!(answers, expected);
    world.check_promises(2).await;
}

#[tokio::test]
async fn two_reports_of_one_lease_in_a_batch_that_goes_on_count_once() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let lease = world.run(leader, owned, tenant, 1).await[0];
    let batch = [
        ended(lease, Event::HandedBack),
        ended(lease, Event::HandedBack),
        ended(lease, Event::Completed),
    ];
    let answers = transition::handed_back(&world.rm, &batch).await.unwrap();
    let expected = [
        TransitionResult::Applied(State::Ready),
        TransitionResult::Repeated,
        TransitionResult::Stale { actual: State::Ready, leased: false },
    ];
    assert_eq!(answers, expected);
    world.check_promises(1).await;
}

#[tokio::test]
async fn empty_batches_are_no_work() {
    let world = World::new().await;
    let leader = world.lead(NodeId::fresh()).await;
    let owned = world.open(NodeId::fresh()).await;
    assert!(transition::completed(&world.rm, &[]).await.unwrap().is_empty());
    assert!(transition::attempt_failed(&world.rm, &[]).await.unwrap().is_empty());
    assert!(transition::lease_lapsed(&world.rm, &[]).await.unwrap().is_empty());
    assert_eq!(transition::unplaced(&world.rm, &[]).await.unwrap(), 0);
    assert_eq!(transition::due(&world.scheduler, &[]).await.unwrap(), 0);
    assert!(world.dispatch(leader, &[]).await.is_empty());
    assert!(world.place(owned, &[]).await.is_empty());
    assert!(store::task::submit::insert(&world.submit, &[]).await.unwrap().is_empty());
}
