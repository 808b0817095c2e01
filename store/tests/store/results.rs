//! What tasks return: stored with their end, once, by the attempt that completed them, and gone with their history.

use crate::support::{World, ended, two_tenants};
use domain::id::{NodeId, SessionId, TaskId};
use domain::task::{AttemptOutcome, Event, LeaseKey, ResultValue, State};
use std::sync::Arc;
use store::TenantScope;
use store::partition::drop_expired;
use store::task::transition::{self, EndedAttempt, TransitionResult};
use tokio::task::JoinSet;

fn value(json: &str) -> Option<ResultValue> {
    Some(ResultValue::read(json.as_bytes()).unwrap())
}

fn returned(lease: LeaseKey, json: &str) -> EndedAttempt {
    EndedAttempt { value: value(json), ..ended(lease, Event::Completed) }
}

/// What is read of a task that has ended.
async fn read(world: &World, scope: &TenantScope, task: TaskId) -> Option<String> {
    let task = store::task::get(&world.api, scope, task).await.unwrap().unwrap();
    store::task::result(&world.api, scope, task.id, task.finished_at.unwrap()).await.unwrap()
}

async fn rows(world: &World) -> i64 {
    world.number("select count(*) from task_result").await
}

#[tokio::test]
async fn each_task_has_the_value_that_it_returned_and_most_have_none() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.run(leader, owned, tenant, 7).await;
    let longest = format!("\"{}\"", "é".repeat(32_767));
    let values = [
        Some("{\"a\": 1, \"a\": 2}"),
        None,
        Some("\"\\u0000\\ud800\""),
        Some("1e999999"),
        Some("null"),
        None,
        Some(longest.as_str()),
    ];
    // Not in the order of their locks.
    let mut reports: Vec<_> = leases
        .iter()
        .zip(values)
        .map(|(lease, json)| EndedAttempt {
            value: json.and_then(value),
            ..ended(*lease, Event::Completed)
        })
        .collect();
    reports.reverse();
    let answers = transition::completed(&world.rm, &reports).await.unwrap();
    assert_eq!(answers, [TransitionResult::Applied(State::Succeeded); 7]);
    let scope = TenantScope::of_role(tenant);
    for (lease, json) in leases.iter().zip(values) {
        assert_eq!(read(&world, &scope, lease.task).await.as_deref(), json);
    }
    assert_eq!(rows(&world).await, 5);
    let exact = "select count(*) from task_result r join task_history h
        on h.tenant_id = r.tenant_id and h.id = r.task_id and h.finished_at = r.finished_at and h.attempt = r.attempt
        where r.bytes = octet_length(r.value)";
    assert_eq!(world.number(exact).await, 5);
    world.check_promises(7).await;
}

#[tokio::test]
async fn a_report_that_comes_twice_writes_once_and_the_first_value_stands() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let [lease, other] = world.run(leader, owned, tenant, 2).await[..] else {
        panic!("two leases")
    };
    // In one statement, too, and beside reports under leases that are over.
    let stale = [
        returned(LeaseKey { attempt: 0, ..lease }, "8"),
        returned(LeaseKey { attempt: 2, ..lease }, "9"),
        returned(LeaseKey { session: SessionId::fresh(), ..lease }, "10"),
    ];
    let both = [returned(lease, "1"), returned(lease, "2"), returned(other, "3")];
    let applied = TransitionResult::Applied(State::Succeeded);
    let answers = transition::completed(&world.rm, &[&stale[..], &both].concat()).await.unwrap();
    assert!(answers[..3].iter().all(|answer| *answer != applied), "{answers:?}");
    assert_eq!(answers[3..], [applied, TransitionResult::Repeated, applied]);
    let again =
        transition::completed(&world.rm, &[returned(lease, "1"), returned(lease, "4")]).await;
    assert_eq!(again.unwrap(), [TransitionResult::Repeated; 2]);
    let scope = TenantScope::of_role(tenant);
    assert_eq!(read(&world, &scope, lease.task).await.as_deref(), Some("1"));
    assert_eq!(rows(&world).await, 2);
}

#[tokio::test]
async fn under_a_stale_lease_nothing_is_stored() {
    let world = World::new().await;
    let (tenant, foreign) = (world.tenant().await, world.tenant().await);
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let put = world.put(leader, owned, tenant, State::Running).await;
    for lease in [
        LeaseKey { attempt: 0, ..put.lease },
        LeaseKey { attempt: 2, ..put.lease },
        LeaseKey { session: SessionId::fresh(), ..put.lease },
        LeaseKey { tenant: foreign, ..put.lease },
    ] {
        let answers = transition::completed(&world.rm, &[returned(lease, "1")]).await.unwrap();
        assert!(!matches!(answers[0], TransitionResult::Applied(_)), "{answers:?}");
    }
    assert_eq!(rows(&world).await, 0);
    assert_eq!(world.state(put.task).await, Some(State::Running));
    // The attempt was lost, another one completes the task; the first one's report comes late.
    let lapsed = transition::LapsedLease { key: put.lease, at_most_once: false };
    transition::lease_lapsed(&world.rm, &[lapsed]).await.unwrap();
    let late = async || {
        let answers = transition::completed(&world.rm, &[returned(put.lease, "1")]).await.unwrap();
        assert!(matches!(answers[0], TransitionResult::Stale { .. }), "{answers:?}");
    };
    late().await;
    assert_eq!(rows(&world).await, 0);
    let task = [(tenant, put.task)];
    world.sql("update task set run_at = now() - interval '1 second'").await;
    assert_eq!(transition::due(&world.scheduler, &task).await.unwrap(), 1);
    let second = world.place(owned, &world.dispatch(leader, &task).await).await[0];
    assert_eq!(second.attempt, 2);
    late().await;
    transition::completed(&world.rm, &[returned(second, "2")]).await.unwrap();
    late().await;
    let scope = TenantScope::of_role(tenant);
    assert_eq!(read(&world, &scope, put.task).await.as_deref(), Some("2"));
    assert_eq!(world.number("select sum(attempt) from task_result").await, 2);
}

#[tokio::test]
async fn what_was_to_be_cancelled_and_succeeded_first_keeps_its_value() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let put = world.put(leader, owned, tenant, State::Cancelling).await;
    transition::completed(&world.rm, &[returned(put.lease, "[]")]).await.unwrap();
    let scope = TenantScope::of_role(tenant);
    assert_eq!(read(&world, &scope, put.task).await.as_deref(), Some("[]"));
    // A value means nothing in any other end.
    let put = world.put(leader, owned, tenant, State::Running).await;
    let failed = EndedAttempt { outcome: AttemptOutcome::Failed, ..returned(put.lease, "1") };
    transition::attempts_exhausted(&world.rm, &[failed]).await.unwrap();
    assert_eq!(read(&world, &scope, put.task).await, None);
    assert_eq!(rows(&world).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_several_settle_at_once_writes_once() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.run(leader, owned, tenant, 60).await;
    let mut settlers = JoinSet::new();
    for number in 0..4 {
        let (world, mut leases) = (Arc::clone(&world), leases.clone());
        leases.rotate_left(number * 15);
        settlers.spawn(async move {
            let mut applied = 0;
            for group in leases.chunks(7) {
                let reports: Vec<_> =
                    group.iter().map(|lease| returned(*lease, &number.to_string())).collect();
                let answers = transition::completed(&world.rm, &reports).await.unwrap();
                let is_applied = |answer: &&TransitionResult| {
                    **answer == TransitionResult::Applied(State::Succeeded)
                };
                applied += answers.iter().filter(is_applied).count();
            }
            applied
        });
    }
    assert_eq!(settlers.join_all().await.into_iter().sum::<usize>(), 60);
    assert_eq!(rows(&world).await, 60);
    world.check_promises(60).await;
}

#[tokio::test]
async fn nobody_reads_what_another_tenants_task_returned() {
    let world = World::new().await;
    let [one, other] = two_tenants(&world).await;
    let sql = format!("select task_id::text from task_result where tenant_id = '{}'", other.uuid());
    let theirs = TaskId(world.text(sql).await.unwrap().parse().unwrap());
    let (mine, theirs_scope) = (TenantScope::of_role(one), TenantScope::of_role(other));
    let task = store::task::get(&world.api, &theirs_scope, theirs).await.unwrap().unwrap();
    let at = task.finished_at.unwrap();
    let result = store::task::result(&world.api, &theirs_scope, theirs, at).await.unwrap();
    assert_eq!(result.as_deref(), Some("1"));
    assert_eq!(store::task::result(&world.api, &mine, theirs, at).await.unwrap(), None);
}

#[tokio::test]
async fn a_result_is_kept_as_long_as_its_task() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    world
        .sql(
            "do $$ declare parent text; begin
            foreach parent in array array['task_history', 'task_result', 'attempt'] loop
                while berth_partition_make(parent, (now() at time zone 'UTC')::date - 40, (now() at time zone 'UTC')::date) loop
                end loop;
            end loop; end $$",
        )
        .await;
    let [old, new] = world.run(leader, owned, tenant, 2).await[..] else { panic!("two leases") };
    transition::completed(&world.rm, &[returned(old, "1"), returned(new, "2")]).await.unwrap();
    let id = old.task.uuid();
    for (table, key) in [("task_history", "id"), ("task_result", "task_id")] {
        world
            .sql(format!(
                "update {table} set finished_at = finished_at - interval '20 days' where {key} = '{id}'"
            ))
            .await;
    }
    let scope = TenantScope::of_role(tenant);
    assert_eq!(read(&world, &scope, old.task).await.as_deref(), Some("1"));
    assert!(drop_expired(&world.scheduler, 21).await.unwrap() > 0);
    assert_eq!(rows(&world).await, 2);
    assert!(drop_expired(&world.scheduler, 7).await.unwrap() > 0);
    assert_eq!(rows(&world).await, 1);
    assert_eq!(store::task::get(&world.api, &scope, old.task).await.unwrap(), None);
    assert_eq!(read(&world, &scope, new.task).await.as_deref(), Some("2"));
}
