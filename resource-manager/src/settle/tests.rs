//! The settling loop over a store in memory: what each result means for its task, its lease and its executor.

use super::settler::group_of;
use super::{Reported, Settler};
use crate::ends::Ends;
use crate::fleet::{Fleet, Grant, Placement};
use crate::output::{self, OutputWriter};
use crate::retry::Budgets;
use crate::testing::{FakeExecutor, FakeTask, World, quiet};
use bus::{Hint, Topic};
use domain::budget::BudgetRule;
use domain::id::NodeId;
use domain::resources::{Resources, Tier};
use domain::task::{AttemptOutcome, LeaseKey, ResultValue, State, StoredRun};
use protocol::result_answer::Verdict;
use runtime::clock::timeout;
use runtime::config::Config;
use runtime::health::Health;
use runtime::tick::Turns;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::session::SessionOwner;
use store::task::transition::EndedAttempt;
use tokio::sync::mpsc;

const PREMIUM: Resources = Tier::Premium.resources();
const MOMENT: Duration = Duration::from_millis(1);

/// Its executor is never in quarantine, however much comes back.
fn patient(config: &mut Config) {
    config.resource_manager.quarantine_after = 1_000_000;
}

/// A settling loop, one executor, and the way to report.
struct Settling {
    world: World,
    executor: FakeExecutor,
    results: mpsc::Sender<Vec<Reported>>,
    output: Option<OutputWriter>,
}

impl Settling {
    fn start() -> Self {
        let world = World::with(patient);
        let settings = &world.config.resource_manager;
        let budgets = Budgets::new(settings.retry_budget(), settings.retry_max_hold);
        Self::start_with(world, budgets)
    }

    fn start_with(world: World, budgets: Budgets) -> Self {
        let capacity = Resources::from_dimensions(PREMIUM.dimensions().map(|of| of * 4));
        let executor = FakeExecutor::connect(&world, "one", capacity);
        let (queue, writer) = output::queue();
        let settler = Settler {
            db: world.store.clone(),
            fleet: world.fleet.clone(),
            bus: world.bus.clone(),
            output: queue,
            ends: Ends::default(),
            budgets,
            batch: world.config.resource_manager.settle_batch,
        };
        let (results, incoming) = mpsc::channel(64);
        let turns = Turns::of("settle", &Health::new());
        world.tasks.spawn_detached("settle", settler.run(turns, incoming));
        Self { world, executor, results, output: Some(writer) }
    }

    /// A task that runs on the executor.
    async fn running(&self, task: FakeTask) -> (Hint, LeaseKey) {
        let hint = self.world.store.add(task);
        let lease = grant(&self.world, &hint).await;
        self.world.store.calls();
        (hint, lease)
    }

    /// A result of a lease as the stream's reader queues it.
    fn result(&self, lease: LeaseKey, outcome: AttemptOutcome) -> Reported {
        Reported {
            stream: self.executor.stream.clone(),
            ended: EndedAttempt::bare(lease, outcome, "as a test wants it"),
            called: false,
            retry_after: None,
            held: self.world.fleet.begin_ending(lease),
            of_another: None,
            after_output: 0,
        }
    }

    /// The same of another session than the stream's, as the executor `who` reports it.
    fn result_of_another(&self, lease: LeaseKey, who: SessionOwner) -> Reported {
        let result = self.result(lease, AttemptOutcome::Succeeded);
        Reported { held: None, of_another: Some(Arc::new(who)), ..result }
    }

    /// Reports these in one message; the verdicts, in their order.
    async fn settle(&mut self, results: Vec<Reported>) -> Vec<Verdict> {
        let tasks: Vec<_> = results.iter().map(|reported| reported.ended.lease.task).collect();
        self.results.send(results).await.unwrap();
        quiet().await;
        let verdicts: Vec<_> = self.executor.verdicts().into_iter().flatten().collect();
        assert_eq!(verdicts.len(), tasks.len(), "one each: {verdicts:?}");
        let of = |task| verdicts.iter().find(|(of, _)| of == task).map(|(_, verdict)| *verdict);
        tasks.iter().map(|task| of(task).unwrap()).collect()
    }

    async fn settle_one(&mut self, lease: LeaseKey, outcome: AttemptOutcome) -> Verdict {
        let result = self.result(lease, outcome);
        self.settle(vec![result]).await[0]
    }

    fn me(&self) -> SessionOwner {
        self.executor.identity()
    }
}

/// Grants the task a lease on whichever executor the fleet chooses.
async fn grant(world: &World, hint: &Hint) -> LeaseKey {
    use crate::lease_store::LeaseStore;
    let placements = world.fleet.place(&"default".parse().unwrap(), &[*hint]);
    let claims: Vec<_> = placements.iter().map(Placement::claim).collect();
    let granted = world
        .store
        .placed(NodeId::fresh(), &world.fleet.sessions(), &claims, Duration::ZERO)
        .await
        .unwrap();
    let lease = granted[0].lease;
    let grants = placements.into_iter().zip(granted);
    world.fleet.assign(grants.map(|(placement, placed)| Grant { placement, placed }).collect());
    lease
}

fn is_held(fleet: &Fleet, lease: LeaseKey) -> bool {
    let held = fleet.begin_ending(lease).is_some();
    fleet.keep(lease);
    held
}

fn once_only() -> FakeTask {
    FakeTask { at_most_once: true, ..FakeTask::queued() }
}

fn with_policy(json: &str) -> FakeTask {
    FakeTask { retry: serde_json::from_str(json).unwrap(), ..FakeTask::queued() }
}

/// One that has come back `returned` times and never ran.
fn came_back(returned: u32) -> FakeTask {
    FakeTask { attempt: returned, ..FakeTask::queued() }
}

#[tokio::test(start_paused = true)]
async fn each_outcome_ends_the_lease_and_moves_the_task_as_its_policy_says() {
    use AttemptOutcome as O;
    let last = || FakeTask { max_attempts: 1, ..FakeTask::queued() };
    let kills = r#"{"on":["cap","resources"]}"#;
    let cases = [
        (O::Succeeded, FakeTask::queued(), "completed", State::Succeeded),
        (O::Failed, FakeTask::queued(), "attempt_failed", State::Retrying),
        (O::Failed, last(), "attempts_exhausted", State::Failed),
        (O::Failed, with_policy(kills), "attempts_exhausted", State::Failed),
        (O::KilledCap, FakeTask::queued(), "attempt_killed", State::Killed),
        (O::KilledCap, with_policy(kills), "attempt_failed", State::Retrying),
        (O::KilledResources, with_policy(kills), "attempt_failed", State::Retrying),
        (O::HandedBack, FakeTask::queued(), "handed_back", State::Ready),
        (O::HandedBack, once_only(), "lease_lapsed", State::Failed),
        (O::HandedBack, came_back(1), "returned_again", State::Retrying),
        (O::Lost, FakeTask::queued(), "lease_lapsed", State::Retrying),
        (O::Lost, once_only(), "lease_lapsed", State::Failed),
        (O::Lost, came_back(1), "returned_again", State::Retrying),
        (O::NotStarted, FakeTask::queued(), "not_started", State::Ready),
        (O::NotStarted, once_only(), "not_started", State::Ready),
        (O::NotStarted, came_back(1), "returned_again", State::Retrying),
    ];
    let mut settling = Settling::start();
    for (outcome, task, statement, state) in cases {
        let what = format!("{outcome} of {task:?}");
        let (hint, lease) = settling.running(task).await;
        assert_eq!(settling.settle_one(lease, outcome).await, Verdict::Applied, "{what}");
        assert_eq!(settling.world.store.calls(), [(statement, 1)], "{what}");
        assert_eq!(settling.world.store.state(&hint), state, "{what}");
        assert!(!is_held(&settling.world.fleet, lease), "{what}");
    }
    assert_eq!(settling.world.fleet.loads()[0].free_slots, 16, "all room is free again");
}

#[tokio::test(start_paused = true)]
async fn an_exit_code_on_the_list_ends_the_task_without_another_attempt() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(with_policy(r#"{"abort_on_exit_codes":[3]}"#)).await;
    let mut result = settling.result(lease, AttemptOutcome::Failed);
    result.ended.exit_code = Some(3);
    assert_eq!(settling.settle(vec![result]).await, [Verdict::Applied]);
    assert_eq!(settling.world.store.state(&hint), State::Aborted);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_time_is_not_called_before() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    let asked = Duration::from_secs(500);
    let result = settling.result(lease, AttemptOutcome::Failed);
    settling.settle(vec![Reported { retry_after: Some(asked), ..result }]).await;
    assert!(settling.world.store.task(&hint).wait >= asked);
}

/// A stop counts where it was asked for; any other is an attempt that came back.
#[tokio::test(start_paused = true)]
async fn a_stop_that_nobody_asked_for_is_an_attempt_that_came_back() {
    let cases = [
        (FakeTask::queued(), &["stopped", "handed_back"], State::Ready),
        (once_only(), &["stopped", "lease_lapsed"], State::Failed),
        (came_back(2), &["stopped", "returned_again"], State::Retrying),
    ];
    let mut settling = Settling::start();
    for (task, statements, state) in cases {
        let (hint, lease) = settling.running(task).await;
        let verdict = settling.settle_one(lease, AttemptOutcome::Stopped).await;
        assert_eq!(verdict, Verdict::Applied);
        let calls = settling.world.store.calls();
        assert!(calls.iter().map(|(name, _)| name).eq(statements), "{calls:?}");
        assert_eq!(settling.world.store.state(&hint), state);
        assert!(!is_held(&settling.world.fleet, lease));
    }
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    settling.world.store.change(&hint, |task| task.state = State::Cancelling);
    assert_eq!(settling.settle_one(lease, AttemptOutcome::Stopped).await, Verdict::Applied);
    assert_eq!(settling.world.store.calls(), [("stopped", 1)]);
    assert_eq!(settling.world.store.state(&hint), State::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn of_what_was_to_be_stopped_only_a_success_counts_as_more_than_cancelled() {
    let mut settling = Settling::start();
    for &outcome in AttemptOutcome::ALL {
        let (hint, lease) = settling.running(FakeTask::queued()).await;
        settling.world.store.change(&hint, |task| task.state = State::Cancelling);
        assert_eq!(settling.settle_one(lease, outcome).await, Verdict::Applied, "{outcome}");
        let succeeded = outcome == AttemptOutcome::Succeeded;
        let end = if succeeded { State::Succeeded } else { State::Cancelled };
        assert_eq!(settling.world.store.state(&hint), end, "{outcome}");
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_that_come_back_wait_longer_each_time() {
    let mut settling = Settling::start();
    let mut waits = Vec::new();
    for returned in 0..9 {
        let (hint, lease) = settling.running(came_back(returned)).await;
        settling.settle_one(lease, AttemptOutcome::NotStarted).await;
        waits.push(settling.world.store.task(&hint).wait);
    }
    assert_eq!(waits[0], Duration::ZERO, "the first goes on at once");
    // Each is between half and all of twice the one before.
    assert!(waits[1] >= Duration::from_millis(50), "{waits:?}");
    assert!(waits[1..].iter().zip(&waits[3..]).all(|(a, b)| b >= a), "{waits:?}");
    assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(30)), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_comes_twice_counts_once() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    assert_eq!(settling.settle_one(lease, AttemptOutcome::Succeeded).await, Verdict::Applied);
    assert_eq!(settling.settle_one(lease, AttemptOutcome::Succeeded).await, Verdict::Repeated);
    let task = settling.world.store.task(&hint);
    assert_eq!((task.state, task.ends.len()), (State::Succeeded, 1));
    assert_eq!(settling.world.fleet.loads()[0].completed_slots, 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_task_returns_is_stored_with_its_end_and_once() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    let value = ResultValue::read(br#"{"a":1}"#).unwrap();
    let with_value = |settling: &Settling, lease| {
        let mut result = settling.result(lease, AttemptOutcome::Succeeded);
        result.ended.value = Some(value.clone());
        result
    };
    // Of an attempt that has lost its lease nothing is stored.
    let late = with_value(&settling, LeaseKey { attempt: 0, ..lease });
    assert_eq!(settling.settle(vec![late]).await, [Verdict::Stale]);
    settling.world.store.fail("completed", StoreError::Busy);
    for verdict in [Verdict::Retry, Verdict::Applied, Verdict::Repeated] {
        let result = with_value(&settling, lease);
        assert_eq!(settling.settle(vec![result]).await, [verdict]);
        let stored = settling.world.store.task(&hint).values;
        let wanted = if verdict == Verdict::Retry { vec![] } else { vec![value.clone()] };
        assert_eq!(stored, wanted, "{verdict:?}");
    }
    // Delivered after the executor was started again.
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    let mut result = settling.result_of_another(lease, settling.me());
    result.ended.value = Some(value.clone());
    assert_eq!(settling.settle(vec![result]).await, [Verdict::Applied]);
    assert_eq!(settling.world.store.task(&hint).values, [value]);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_over_changes_nothing_whatever_is_reported_of_it() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    let earlier = LeaseKey { attempt: 0, ..lease };
    for &outcome in AttemptOutcome::ALL {
        let verdict = settling.settle_one(earlier, outcome).await;
        assert_eq!(verdict, Verdict::Stale, "{outcome}");
        assert_eq!(settling.world.store.task(&hint).lease, Some(lease), "{outcome}");
        assert!(is_held(&settling.world.fleet, lease), "{outcome}");
    }
    let unknown = LeaseKey { task: domain::id::TaskId::fresh(), ..lease };
    let verdict = settling.settle_one(unknown, AttemptOutcome::Succeeded).await;
    assert_eq!(verdict, Verdict::NotFound);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_is_asked_for_again_and_its_lease_stands() {
    let mut settling = Settling::start();
    let (good, bad) =
        (settling.running(FakeTask::queued()).await, settling.running(FakeTask::queued()).await);
    settling.world.store.fail("attempt_failed", StoreError::Busy);
    let results = vec![
        settling.result(bad.1, AttemptOutcome::Failed),
        settling.result(good.1, AttemptOutcome::Succeeded),
    ];
    let verdicts = settling.settle(results).await;
    assert_eq!(verdicts, [Verdict::Retry, Verdict::Applied], "one event has no part in another");
    assert!(is_held(&settling.world.fleet, bad.1));
    assert_eq!(settling.world.store.state(&bad.0), State::Running);
    assert_eq!(settling.settle_one(bad.1, AttemptOutcome::Failed).await, Verdict::Applied);
}

#[tokio::test(start_paused = true)]
async fn results_of_an_earlier_session_count_for_its_executor_and_no_other() {
    let mut settling = Settling::start();
    let earlier = FakeExecutor::connect(&settling.world, "two", PREMIUM);
    settling.world.fleet.drain(settling.executor.stream.session);
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    assert_eq!(lease.session, earlier.stream.session);
    let foreign = settling.result_of_another(lease, settling.me());
    assert_eq!(settling.settle(vec![foreign]).await, [Verdict::Stale]);
    assert_eq!(settling.world.store.state(&hint), State::Running);
    let owner = earlier.identity();
    let other_pool = SessionOwner { pool: "other".parse().unwrap(), ..owner.clone() };
    let foreign = settling.result_of_another(lease, other_pool);
    assert_eq!(settling.settle(vec![foreign]).await, [Verdict::Stale]);
    let own = settling.result_of_another(lease, owner);
    assert_eq!(settling.settle(vec![own]).await, [Verdict::Applied]);
    assert_eq!(settling.world.store.state(&hint), State::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_taken_on_frees_its_executor_and_its_task_runs_on() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    let result = settling.result(lease, AttemptOutcome::Succeeded);
    let called = Reported { called: true, ..result };
    assert_eq!(settling.settle(vec![called]).await, [Verdict::Applied]);
    assert_eq!(settling.world.store.state(&hint), State::Running);
    assert!(settling.world.fleet.begin_ending(lease).is_none(), "it holds no room");
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_session_failed_at_is_decided_by_the_policy_that_is_read_first() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(FakeTask { max_attempts: 1, ..FakeTask::queued() }).await;
    let result = settling.result(lease, AttemptOutcome::Failed);
    let unheld = || Reported {
        stream: result.stream.clone(),
        ended: result.ended.clone(),
        called: false,
        retry_after: None,
        held: None,
        of_another: None,
        after_output: 0,
    };
    settling.world.store.fail("live", StoreError::Busy);
    assert_eq!(settling.settle(vec![unheld()]).await, [Verdict::Retry], "it is not known yet");
    assert_eq!(settling.world.store.state(&hint), State::Running);
    assert_eq!(settling.settle(vec![unheld()]).await, [Verdict::Applied]);
    assert_eq!(settling.world.store.state(&hint), State::Failed, "no attempt is left");
    assert_eq!(settling.settle(vec![unheld()]).await, [Verdict::Stale], "no such lease is live");
}

#[tokio::test(start_paused = true)]
async fn while_it_is_not_known_whose_results_are_they_are_asked_for_again() {
    let mut settling = Settling::start();
    let (_, own) = settling.running(FakeTask::queued()).await;
    let (_, another) = settling.running(FakeTask::queued()).await;
    settling.world.store.fail("owners", StoreError::Busy);
    let results = vec![
        settling.result_of_another(another, settling.me()),
        settling.result(own, AttemptOutcome::Succeeded),
    ];
    assert_eq!(settling.settle(results).await, [Verdict::Retry, Verdict::Applied]);
}

#[tokio::test(start_paused = true)]
async fn a_result_waits_until_the_output_before_it_is_stored() {
    let mut settling = Settling::start();
    let (hint, lease) = settling.running(FakeTask::queued()).await;
    let result = settling.result(lease, AttemptOutcome::Succeeded);
    settling.results.send(vec![Reported { after_output: 1, ..result }]).await.unwrap();
    quiet().await;
    assert_eq!(settling.world.store.state(&hint), State::Running);
    // Its writer is gone: at shutdown nothing more will be stored.
    settling.output.take();
    quiet().await;
    assert_eq!(settling.world.store.state(&hint), State::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn one_statement_settles_no_more_than_the_setting_says() {
    let world = World::with(|config| config.resource_manager.settle_batch = 4);
    let settings = &world.config.resource_manager;
    let budgets = Budgets::new(settings.retry_budget(), settings.retry_max_hold);
    let mut settling = Settling::start_with(world, budgets);
    let mut results = Vec::new();
    for _ in 0..10 {
        let (_, lease) = settling.running(FakeTask::queued()).await;
        results.push(settling.result(lease, AttemptOutcome::Succeeded));
    }
    assert_eq!(settling.settle(results).await, [Verdict::Applied; 10]);
    let sizes = [4, 4, 2].map(|rows| ("completed", rows));
    assert_eq!(settling.world.store.calls(), sizes);
}

#[tokio::test(start_paused = true)]
async fn one_statement_settles_no_more_values_than_it_can_carry() {
    let settling = Settling::start();
    let (_, lease) = settling.running(FakeTask::queued()).await;
    let value = ResultValue::read(&vec![b'1'; domain::task::MAX_RESULT_BYTES]).unwrap();
    let of = |count: usize, value: Option<&ResultValue>| {
        let one = || settling.result(lease, AttemptOutcome::Succeeded);
        let with = |mut result: Reported| {
            result.ended.value = value.cloned();
            result
        };
        (0..count).map(|_| with(one())).collect::<Vec<_>>()
    };
    let (plain, large) = (of(200, None), of(200, Some(&value)));
    assert_eq!([group_of(&plain, 1000), group_of(&plain, 150)], [200, 150]);
    assert_eq!([group_of(&large, 1000), group_of(&large, 10)], [64, 10]);
    assert_eq!([group_of(&large[..1], 1000), group_of(&[], 1000)], [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_for_due_tasks_are_woken_by_what_runs_again_only() {
    let mut settling = Settling::start();
    let woken = settling.world.bus.wakeups(&[Topic::ShardOwner]);
    let (_, lease) = settling.running(FakeTask::queued()).await;
    settling.settle_one(lease, AttemptOutcome::Succeeded).await;
    assert!(timeout(MOMENT, woken.next()).await.is_err());
    let (_, lease) = settling.running(FakeTask::queued()).await;
    settling.settle_one(lease, AttemptOutcome::Failed).await;
    assert_eq!(timeout(MOMENT, woken.next()).await, Ok(Topic::ShardOwner));
}

#[tokio::test(start_paused = true)]
async fn a_retry_beyond_the_budget_of_its_target_is_held() {
    let rule = BudgetRule {
        per_first_attempt: 0.0,
        per_second: 0.0,
        burst: 1.0,
        open_after: 1000,
        probe_interval: Duration::from_secs(1),
    };
    let hold = Duration::from_secs(3600);
    let mut settling = Settling::start_with(World::new(), Budgets::new(rule, hold));
    let run = r#"{"http":{"method":"GET","url":"https://target.example/path"}}"#;
    // Budgets are each tenant's: the second attempt is of the same task.
    let run = StoredRun::read(run.to_owned());
    let hint = settling.world.store.add(FakeTask { run, ..FakeTask::queued() });
    let mut held = Vec::new();
    for _ in 0..2 {
        let lease = grant(&settling.world, &hint).await;
        settling.settle_one(lease, AttemptOutcome::Failed).await;
        let task = settling.world.store.task(&hint);
        held.push((task.held_for.as_deref().map(str::to_owned), task.wait >= hold / 2));
        settling.world.store.change(&hint, |task| task.state = State::Queued);
    }
    assert_eq!(held[0], (None, false), "one is paid for");
    assert_eq!(held[1], (Some("https://target.example:443".to_owned()), true));
}
