//! Retries that wait for their target: held with the end of their attempt, let go in their order, and never lost.

use crate::support::{Leader, Owned, World, ended};
use domain::budget::TargetKey;
use domain::explain::{Reason, explain};
use domain::id::{NodeId, TenantId};
use domain::task::{Event, LeaseKey, State};
use std::time::Duration;
use store::TenantScope;
use store::held_retry::{HeldRetry, LetGo, TargetWord, let_go, prune, tell, waiting};
use store::task::transition::{self, FailedAttempt, TransitionResult};

const TARGET: &str = "http://a.example:80";
const HOLD: Duration = Duration::from_secs(600);

fn key(tenant: TenantId) -> TargetKey {
    TargetKey { tenant, target: TARGET.into() }
}

/// The attempt failed, and its task waits for its target and for a back-off of its own.
fn held(lease: LeaseKey, back_off: Duration) -> FailedAttempt {
    let held = Some(HeldRetry { target: TARGET.into(), back_off });
    FailedAttempt { ended: ended(lease, Event::AttemptFailed), retry_after: HOLD, held }
}

/// So many tasks that are held, with no back-off.
async fn hold(world: &World, tenant: TenantId, count: usize) -> Vec<LeaseKey> {
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    hold_of(world, (leader, owned), tenant, count).await
}

async fn hold_of(
    world: &World,
    (leader, owned): (Leader, Owned),
    tenant: TenantId,
    count: usize,
) -> Vec<LeaseKey> {
    let leases = world.run(leader, owned, tenant, count).await;
    let failed: Vec<_> = leases.iter().map(|lease| held(*lease, Duration::ZERO)).collect();
    let answers = transition::attempt_failed(&world.rm, &failed).await.unwrap();
    assert_eq!(answers, vec![TransitionResult::Applied(State::Retrying); count]);
    leases
}

async fn waits(world: &World) -> i64 {
    world.number("select count(*) from held_retry").await
}

#[tokio::test]
async fn what_is_held_goes_when_it_is_let_go_with_a_fresh_deadline_and_no_more_than_may() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leases = hold(&world, tenant, 5).await;
    let due: Vec<_> = leases.iter().map(|lease| (tenant, lease.task)).collect();
    assert_eq!(transition::due(&world.scheduler, &due).await.unwrap(), 0, "it waits");

    let gone = let_go(&world.rm, &[(key(tenant), 3)]).await.unwrap();
    assert_eq!(gone, [LetGo { key: key(tenant), found: 3, gone: 3 }]);
    assert_eq!(waits(&world).await, 2);
    let deadline = "select count(*) from task where run_at <= now() and wake_at = run_at
        and start_deadline - run_at = interval '300 seconds'";
    assert_eq!(world.number(deadline).await, 3);
    assert_eq!(transition::due(&world.scheduler, &due).await.unwrap(), 3);

    let gone = let_go(&world.rm, &[(key(tenant), 9)]).await.unwrap();
    assert_eq!(gone, [LetGo { key: key(tenant), found: 2, gone: 2 }]);
    assert_eq!(let_go(&world.rm, &[(key(tenant), 9)]).await.unwrap(), []);
}

#[tokio::test]
async fn nothing_goes_before_its_own_back_off_or_for_another_tenants_target() {
    let world = World::new().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let lease = world.run(leader, owned, tenant, 1).await[0];
    let failed = [held(lease, Duration::from_secs(60))];
    transition::attempt_failed(&world.rm, &failed).await.unwrap();
    assert_eq!(let_go(&world.rm, &[(key(tenant), 9), (key(other), 9)]).await.unwrap(), []);
    world.sql("update held_retry set not_before = now()").await;
    assert_eq!(let_go(&world.rm, &[(key(other), 9)]).await.unwrap(), []);
    assert_eq!(let_go(&world.rm, &[(key(tenant), 9)]).await.unwrap()[0].gone, 1);
}

#[tokio::test]
async fn a_task_that_has_moved_on_stays_as_it_is_and_its_row_goes() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leases = hold(&world, tenant, 3).await;
    let (scope, kill_grace) = (TenantScope::of_role(tenant), Duration::from_secs(40));
    transition::cancel_requested(&world.api, &scope, &[leases[0].task], kill_grace).await.unwrap();
    // Another attempt has failed since.
    world.sql(format!("update task set attempt = 2 where id = '{}'", leases[1].task.uuid())).await;
    let gone = let_go(&world.rm, &[(key(tenant), 9)]).await.unwrap();
    assert_eq!(gone, [LetGo { key: key(tenant), found: 3, gone: 1 }]);
    assert_eq!(waits(&world).await, 0);
    assert_eq!(world.number("select count(*) from task where run_at > now()").await, 1);
}

#[tokio::test]
async fn a_report_that_comes_twice_or_too_late_holds_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let lease = hold(&world, tenant, 1).await[0];
    assert_eq!(let_go(&world.rm, &[(key(tenant), 1)]).await.unwrap()[0].gone, 1);
    let again = [held(lease, Duration::ZERO)];
    let answers = transition::attempt_failed(&world.rm, &again).await.unwrap();
    assert_eq!(answers, [TransitionResult::Repeated]);
    assert_eq!(waits(&world).await, 0);
}

#[tokio::test]
async fn everybody_learns_for_which_targets_tasks_wait_and_what_is_over_is_cleared_away() {
    let world = World::new().await;
    let (one, other) = (world.tenant().await, world.tenant().await);
    let by = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    hold_of(&world, by, one, 3).await;
    hold_of(&world, by, other, 1).await;
    let known = waiting(&world.rm, 10).await.unwrap();
    let mut targets = known.targets.clone();
    targets.sort();
    let mut wanted = [key(one), key(other)];
    wanted.sort();
    assert_eq!((targets.as_slice(), known.managers), (wanted.as_slice(), 1));
    assert_eq!(waiting(&world.rm, 1).await.unwrap().targets.len(), 1);

    assert_eq!(prune(&world.rm).await.unwrap(), 0);
    world.sql("update held_retry set due_at = now() - interval '2 minutes'").await;
    let word = TargetWord { key: key(one), next_probe: None };
    tell(&world.rm, std::slice::from_ref(&word)).await.unwrap();
    tell(&world.rm, &[word]).await.unwrap();
    world.sql("update retry_target set told_at = now() - interval '2 minutes'").await;
    assert_eq!(prune(&world.rm).await.unwrap(), 5);
    assert_eq!(waiting(&world.rm, 10).await.unwrap().targets, []);
}

#[tokio::test]
async fn whoever_asks_is_told_of_the_budget_or_the_breaker_and_only_the_owner() {
    let world = World::new().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let task = hold(&world, tenant, 1).await[0].task;
    let told = async |tenant| {
        let facts = store::task::explain(&world.api, &TenantScope::of_role(tenant), task).await;
        facts.unwrap().map(|facts| explain(facts).reasons)
    };
    let target = TARGET.to_owned();
    let reasons = told(tenant).await.unwrap();
    assert_eq!(reasons[0], Reason::RetryBudget { target: target.clone() });
    assert!(matches!(reasons[1], Reason::Retry { failures: 1, .. }), "{reasons:?}");
    let next_probe = Some(Duration::from_secs(5));
    tell(&world.rm, &[TargetWord { key: key(tenant), next_probe }]).await.unwrap();
    let open = told(tenant).await.unwrap();
    assert!(
        matches!(&open[0], Reason::BreakerOpen { target: of, .. } if *of == target),
        "{open:?}"
    );
    assert_eq!(told(other).await, None);
    let_go(&world.rm, &[(key(tenant), 1)]).await.unwrap();
    assert!(matches!(told(tenant).await.unwrap()[0], Reason::Retry { .. }));
}
