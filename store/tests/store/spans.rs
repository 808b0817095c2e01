//! What is kept of a schedule before an edit, for due times that had come by then.

use crate::support::{Firing, World, log_in, new_schedule, once, template};
use domain::audit::By;
use domain::id::{ScheduleId, TaskId, TenantId};
use domain::schedule::{Overlap, Spec, TaskTemplate, Timing};
use domain::tenant::TenantState;
use sqlx::{AssertSqlSafe, Executor};
use std::time::Duration;
use store::TenantScope;
use store::schedule::{self, DeleteAnswer, ListLimit, PutAnswer, PutSchedule, ScheduleRecord};
use store::tenant;

const MINUTE: Duration = Duration::from_secs(60);
const TERM: Duration = Duration::from_secs(30);

/// Due each second.
fn each_second(name: &str) -> PutSchedule {
    let every = Spec::Every {
        every: Duration::from_secs(1),
        anchor: Some("2026-01-01T00:00:00Z".parse().unwrap()),
        counting: Default::default(),
    };
    PutSchedule { timing: Timing::of(vec![every]), ..new_schedule(name) }
}

async fn put(world: &World, tenant: TenantId, new: &PutSchedule) -> ScheduleRecord {
    match schedule::put(&world.api, &TenantScope::of_role(tenant), new).await.unwrap() {
        PutAnswer::Created(record) | PutAnswer::Updated(record) => *record,
        other => panic!("{other:?}"),
    }
}

async fn spans(world: &World, id: ScheduleId) -> i64 {
    let count = format!("select count(*) from schedule_span where schedule_id = '{}'", id.uuid());
    world.number(count).await
}

#[tokio::test]
async fn an_edit_keeps_the_version_by_which_something_came_until_that_has_its_row() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let made = put(&world, tenant, &new_schedule("s")).await;
    let firing = Firing::begin(&world, TERM).await;
    let mut edit = new_schedule("s");
    edit.template = TaskTemplate { name: Some("second".to_owned()), ..template() }.into();
    put(&world, tenant, &edit).await;
    assert_eq!(spans(&world, made.id).await, 0, "nothing had come");
    world.make_due(made.id, 5).await;
    schedule::pause(&world.api, &scope, "s", None).await.unwrap().unwrap();
    edit.overlap = Overlap::Skip;
    put(&world, tenant, &edit).await;
    assert_eq!(spans(&world, made.id).await, 1, "nothing lies between the two edits");
    let all = firing.due(&world).await;
    let fired = firing.fire_by(&world, &all, |facts| {
        let [span] = &facts.spans[..] else { panic!("{:?}", facts.spans) };
        assert_eq!((span.version, span.paused, span.overlap), (2, false, Overlap::Allow));
        assert!(span.template.as_deref().unwrap().contains("second"));
        assert_eq!((facts.version, facts.paused, facts.overlap), (4, true, Overlap::Skip));
        let mut verdict = once(facts, MINUTE, TaskId::fresh());
        (verdict.version, verdict.settled) = (2, vec![2]);
        verdict
    });
    assert_eq!(fired.await.unwrap().rows.len(), 1);
    let stands = "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where f.version = 2 and not s.has_spans";
    assert_eq!(world.number(stands).await, 1);
    assert_eq!(spans(&world, made.id).await, 0);
    // Once more, as after a crash that left the answer unknown.
    assert_eq!(firing.fire(&world, &all, MINUTE).await.unwrap().rows.len(), 0);
}

#[tokio::test]
async fn an_edit_that_fails_keeps_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let made = put(&world, tenant, &each_second("s")).await;
    world.make_due(made.id, 3000).await;
    let mut never = each_second("s");
    never.timing = Timing::of(vec![Spec::At("2001-01-01T00:00:00Z".parse().unwrap())]);
    let answer = schedule::put(&world.api, &TenantScope::of_role(tenant), &never).await.unwrap();
    assert_eq!(answer, PutAnswer::NeverFires);
    assert_eq!(spans(&world, made.id).await, 0);
    let flag = "select count(*) from schedule where has_spans or version <> 1";
    assert_eq!(world.number(flag).await, 0);
}

#[tokio::test]
async fn however_often_it_is_edited_no_more_than_a_thousand_versions_are_kept() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let made = put(&world, tenant, &each_second("s")).await;
    world.make_due(made.id, 2_000_000).await;
    // As if it had been edited each second but the last.
    world
        .sql(format!(
            "insert into schedule_span (schedule_id, version, tenant_id, until, timing, template, overlap, misfire, paused)
                select s.id, n, s.tenant_id, now() - (1001 - n) * interval '1 second', s.timing, s.template, s.overlap, s.misfire, false
                from schedule s, generate_series(1, 1000) n;
            update schedule set has_spans = true, version = 1001, created_at = created_at - interval '1 day' where id = '{}'",
            made.id.uuid()
        ))
        .await;
    let paused = schedule::pause(&world.api, &scope, "s", None).await.unwrap().unwrap();
    assert_eq!(paused.version, 1002);
    assert_eq!(spans(&world, made.id).await, 1000);
    let last = format!(
        "select count(*) from schedule_span where version = 1000 and until = '{}'",
        paused.updated_at.to_rfc3339()
    );
    assert_eq!(world.number(last).await, 1, "the last reaches up to the edit");
}

#[tokio::test]
async fn a_deleted_schedule_stays_for_the_schedulers_alone_until_what_came_has_its_row() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let made = put(&world, tenant, &each_second("s")).await;
    world.make_due(made.id, 5).await;
    let firing = Firing::begin(&world, TERM).await;
    let delete = async || schedule::delete(&world.api, &scope, "s", None).await.unwrap();
    assert_eq!(delete().await, DeleteAnswer::Deleted);
    assert_eq!(delete().await, DeleteAnswer::NotFound);
    assert_eq!(schedule::get(&world.api, &scope, "s").await.unwrap(), None);
    assert_eq!(schedule::held(&world.api, &scope, 10).await.unwrap(), 0);
    let limit = ListLimit { rows: 10, bytes: 1 << 20 };
    assert!(schedule::list(&world.api, &scope, None, limit).await.unwrap().rows.is_empty());
    let all = firing.due(&world).await;
    let fired = firing.fire_by(&world, &all, |facts| {
        assert!(facts.deleted_at.is_some());
        let mut verdict = once(facts, MINUTE, TaskId::fresh());
        (verdict.version, verdict.next, verdict.settled) = (1, None, vec![1]);
        verdict
    });
    assert_eq!(fired.await.unwrap().rows.len(), 1);
    for table in ["schedule", "schedule_span"] {
        assert_eq!(world.number(format!("select count(*) from {table}")).await, 0, "{table}");
    }
    assert_eq!(world.number("select count(*) from schedule_fire").await, 1);
}

#[tokio::test]
async fn how_a_tenant_stood_is_told_to_who_fires_what_came_then() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let made = put(&world, tenant, &each_second("s")).await;
    world.make_due(made.id, 5).await;
    let firing = Firing::begin(&world, TERM).await;
    for _ in 0..2 {
        tenant::suspend(&world.admin, tenant, By::SYSTEM).await.unwrap();
        tenant::suspend(&world.admin, tenant, By::SYSTEM).await.unwrap();
        tenant::resume(&world.admin, tenant, By::SYSTEM).await.unwrap();
    }
    let all = firing.due(&world).await;
    let fired = firing.fire_by(&world, &all, |facts| {
        let past: Vec<_> = facts.past_states.iter().map(|past| past.state).collect();
        let [active, suspended] = [TenantState::Active, TenantState::Suspended];
        assert_eq!(past, [active, suspended, active, suspended]);
        assert!(facts.past_states.is_sorted_by_key(|past| past.until));
        once(facts, MINUTE, TaskId::fresh())
    });
    assert_eq!(fired.await.unwrap().rows.len(), 1);
    // What nobody will ask for any more goes with the next change.
    world.sql("update tenant_past_state set until = until - interval '32 days'").await;
    tenant::suspend(&world.admin, tenant, By::SYSTEM).await.unwrap();
    assert_eq!(world.number("select count(*) from tenant_past_state").await, 1);
}

#[tokio::test]
async fn a_scheduler_may_remove_only_what_its_owner_has_deleted() {
    let world = World::new().await;
    let made = put(&world, world.tenant().await, &new_schedule("s")).await;
    let scheduler = log_in(&world, "berth_scheduler").await;
    let delete = format!("delete from schedule where id = '{}'", made.id.uuid());
    let removed =
        async || scheduler.execute(AssertSqlSafe(delete.clone())).await.unwrap().rows_affected();
    assert_eq!(removed().await, 0);
    world
        .sql(format!("update schedule set deleted_at = now() where id = '{}'", made.id.uuid()))
        .await;
    assert_eq!(removed().await, 1);
}
