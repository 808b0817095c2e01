//! What goes with a move: attempts and their usage, deadlines, wake-ups, counts.

use crate::support::{World, ended, new_task};
use domain::id::NodeId;
use domain::task::{AttemptOutcome, Event, LeaseKey, State};
use std::time::Duration;
use store::task::transition::{self, EndedAttempt, FailedAttempt, LapsedLease, TransitionResult};

fn of(lease: &LeaseKey, column: &str, table: &str) -> String {
    let key = if table == "attempt" { "task_id" } else { "id" };
    format!("select ({column})::bigint from {table} where {key} = '{}'", lease.task.uuid())
}

#[tokio::test]
async fn usage_is_what_ran_and_never_more_than_the_lease_lasted_and_nothing_when_not_charged() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.run(leader, owned, tenant, 4).await;
    world.sql("update task set placed_at = placed_at - interval '10 seconds'").await;
    // The last one claims to have been placed in the future: a clock stepped back.
    let future = format!(
        "update task set placed_at = now() + interval '1 hour' where id = '{}'",
        leases[3].task.uuid()
    );
    world.sql(future).await;
    let ran = |lease, ran_ms| EndedAttempt { ran_ms, ..ended(lease, Event::Completed) };
    let reports = [ran(leases[0], 2_000), ran(leases[1], u64::MAX), ran(leases[3], 5_000)];
    transition::completed(&world.rm, &reports).await.unwrap();
    transition::handed_back(
        &world.rm,
        &[EndedAttempt { ran_ms: 2_000, ..ended(leases[2], Event::HandedBack) }],
    )
    .await
    .unwrap();
    assert_eq!(world.number(of(&leases[0], "usage_ms", "attempt")).await, 2_000);
    let capped = world.number(of(&leases[1], "usage_ms", "attempt")).await;
    assert!((10_000..20_000).contains(&capped), "{capped}");
    assert_eq!(world.number(of(&leases[2], "usage_ms", "attempt")).await, 0);
    assert_eq!(world.number(of(&leases[3], "usage_ms", "attempt")).await, 0);
    assert_eq!(world.number("select count(*) from attempt where ended_at < placed_at").await, 0);
    assert_eq!(world.number("select count(*) from attempt where not charged").await, 1);
}

#[tokio::test]
async fn a_retry_is_due_after_its_wait_with_a_fresh_deadline_and_counts_the_failure() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let lease = world.run(leader, owned, tenant, 1).await[0];
    let retry_after = Duration::from_secs(90);
    let failed =
        FailedAttempt { ended: ended(lease, Event::AttemptFailed), retry_after, held: None };
    transition::attempt_failed(&world.rm, &[failed]).await.unwrap();
    let wait = world.number(of(&lease, "extract(epoch from run_at - now())", "task")).await;
    assert!((80..=90).contains(&wait), "{wait}");
    assert_eq!(
        world.number(of(&lease, "extract(epoch from start_deadline - run_at)", "task")).await,
        300
    );
    assert_eq!(world.number(of(&lease, "(wake_at = run_at)::integer", "task")).await, 1);
    assert_eq!(world.number(of(&lease, "failures", "task")).await, 1);
    assert_eq!(
        transition::due(&world.scheduler, &[(tenant, lease.task)]).await.unwrap(),
        0,
        "not before its time"
    );
}

#[tokio::test]
async fn a_lapse_is_due_at_once_charges_nothing_and_keeps_the_failures() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let lease = world.run(leader, owned, tenant, 1).await[0];
    transition::lease_lapsed(&world.rm, &[LapsedLease { key: lease, at_most_once: false }])
        .await
        .unwrap();
    assert_eq!(world.number(of(&lease, "failures", "task")).await, 0);
    assert_eq!(world.number(of(&lease, "charged::integer", "attempt")).await, 0);
    assert_eq!(transition::due(&world.scheduler, &[(tenant, lease.task)]).await.unwrap(), 1);
    let again = world.place(owned, &world.dispatch(leader, &[(tenant, lease.task)]).await).await;
    assert_eq!(again[0].attempt, 2, "the fence rises");
}

#[tokio::test]
async fn the_first_start_counts_once_and_an_assignment_never_started_is_none() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let mut task = new_task(tenant);
    task.expire_if_late = true;
    let id = world.store(task).await;
    let lease = world.place(owned, &world.dispatch(leader, &[(tenant, id)]).await).await[0];
    transition::not_started(&world.rm, &[ended(lease, Event::NotStarted)]).await.unwrap();
    assert_eq!(world.number(of(&lease, "(first_started_at is null)::integer", "task")).await, 1);
    assert_eq!(
        world.number(of(&lease, "(wake_at = start_deadline)::integer", "task")).await,
        1,
        "it may still expire"
    );
    let lease = world.place(owned, &world.dispatch(leader, &[(tenant, id)]).await).await[0];
    transition::handed_back(&world.rm, &[ended(lease, Event::HandedBack)]).await.unwrap();
    assert_eq!(world.number(of(&lease, "(first_started_at is null)::integer", "task")).await, 0);
    assert_eq!(
        world.number(of(&lease, "(wake_at is null)::integer", "task")).await,
        1,
        "it started in time"
    );
    let lease = world.place(owned, &world.dispatch(leader, &[(tenant, id)]).await).await[0];
    transition::not_started(&world.rm, &[ended(lease, Event::NotStarted)]).await.unwrap();
    assert_eq!(
        world.number(of(&lease, "(first_started_at is null)::integer", "task")).await,
        0,
        "the second start stays"
    );
    world.check_promises(1).await;
}

#[tokio::test]
async fn what_is_late_and_asked_to_expire_is_neither_placed_nor_kept() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let put = world.put(leader, owned, tenant, State::Queued).await;
    world.make_late(put.task).await;
    let dispatch = put.dispatch;
    assert!(world.place(owned, &[dispatch]).await.is_empty());
    assert_eq!(
        transition::expired(&world.scheduler, &[(tenant, put.task)]).await.unwrap(),
        0,
        "the broker has it"
    );
    transition::dispatch_stale(&world.scheduler, &[dispatch]).await.unwrap();
    let woken = store::task::due_for_a_look(&world.scheduler, 10).await.unwrap();
    assert!(
        woken.iter().any(|w| w.task == put.task && w.expires && w.state == State::Ready),
        "{woken:?}"
    );
    assert_eq!(transition::expired(&world.scheduler, &[(tenant, put.task)]).await.unwrap(), 1);
    assert_eq!(world.state(put.task).await, Some(State::Expired));
}

#[tokio::test]
async fn a_task_in_time_or_already_started_does_not_expire() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let in_time = world.put(leader, owned, tenant, State::Ready).await;
    world.sql("update task set expire_if_late = true").await;
    assert_eq!(transition::expired(&world.scheduler, &[(tenant, in_time.task)]).await.unwrap(), 0);
    let started = world.put(leader, owned, tenant, State::Retrying).await;
    world.sql("update task set expire_if_late = true, start_deadline = now() - interval '1 hour' where state = 'retrying'").await;
    assert_eq!(transition::expired(&world.scheduler, &[(tenant, started.task)]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_cancel_shortens_the_lease_and_never_lengthens_it() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let lease = world.run(leader, owned, tenant, 1).await[0];
    let until_end = of(&lease, "extract(epoch from wake_at - now())", "task");
    assert!((95..=100).contains(&world.number(until_end.clone()).await), "cap + grace");
    let scope = store::TenantScope::of_role(tenant);
    let cancel = |grace| {
        transition::cancel_requested(
            &world.api,
            &scope,
            std::slice::from_ref(&lease.task),
            Duration::from_secs(grace),
        )
    };
    cancel(30).await.unwrap();
    assert!((25..=30).contains(&world.number(until_end.clone()).await));
    let answers = cancel(3_000).await.unwrap();
    assert_eq!(answers, [transition::CancelAnswer::AlreadyRequested]);
    assert!(world.number(until_end).await <= 30);
    assert!(store::lease::overdue(&world.rm, &[owned.session]).await.unwrap().is_empty());
    world.sql("update task set wake_at = now()").await;
    assert_eq!(store::lease::overdue(&world.rm, &[owned.session]).await.unwrap(), [owned.session]);
}

#[tokio::test]
async fn a_stop_is_no_failure_and_a_kill_is() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let stopped = world.put(leader, owned, tenant, State::Cancelling).await;
    transition::stopped(&world.rm, &[ended(stopped.lease, Event::Stopped)]).await.unwrap();
    let killed = world.put(leader, owned, tenant, State::Killed).await;
    assert_eq!(world.number(of(&stopped.lease, "failures", "task_history")).await, 0);
    assert_eq!(world.number(of(&killed.lease, "failures", "task_history")).await, 1);
    let outcome = world
        .text(format!("select outcome from attempt where task_id = '{}'", killed.task.uuid()))
        .await;
    assert_eq!(outcome.as_deref(), Some(AttemptOutcome::KilledCap.as_str()));
}

#[tokio::test]
async fn what_comes_back_again_waits_and_keeps_its_place() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let tasks = world.store_ready(tenant, 2).await;
    let leases = world.place(owned, &world.dispatch(leader, &tasks).await).await;
    let place =
        |of: &str| format!("select extract(epoch from {of})::bigint from task order by id limit 1");
    let before = (world.number(place("run_at")).await, world.number(place("start_deadline")).await);
    let told = [ended(leases[0], Event::NotStarted), ended(leases[1], Event::HandedBack)];
    let waits = [Duration::from_secs(60), Duration::from_secs(120)];
    let answers = transition::returned_again(&world.rm, &told, &waits).await.unwrap();
    assert_eq!(answers, [TransitionResult::Applied(State::Retrying); 2]);
    let after = (world.number(place("run_at")).await, world.number(place("start_deadline")).await);
    assert_eq!(before, after);
    assert_eq!(
        world.number("select count(*) from task where failures = 0 and wake_at > now() + interval '50 seconds'").await,
        2
    );
    world.sql("update task set wake_at = now()").await;
    assert_eq!(transition::due(&world.scheduler, &tasks).await.unwrap(), 2);
    let dispatched = world.dispatch(leader, &tasks).await;
    assert_eq!(world.place(owned, &dispatched).await.len(), 2);
}
