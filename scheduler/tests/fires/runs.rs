//! Schedules that start workflow runs, fired by two schedulers. Nobody runs their tasks: runs end only when they are cancelled, or by
//! themselves where their nodes expire.

use crate::world::{World, every, schedule, seconds};
use domain::audit::ActorId;
use domain::plan::PlanLimits;
use domain::schedule::{FireTemplate, Misfire, Overlap, WorkflowStart};
use domain::workflow::Plan;
use serde_json::json;
use std::time::Duration;
use store::TenantScope;
use store::schedule::PutSchedule;
use store::workflow::{self, PutWorkflow};
use testkit::schedules::noop_template;

/// A workflow of `nodes` nodes, each after the one before. They expire at once where they are `late`.
async fn put_workflow(
    world: &World,
    scope: &TenantScope,
    name: &str,
    (nodes, late): (usize, bool),
) {
    let mut task = noop_template("node");
    if late {
        (task.expire_if_late, task.delay_tolerance) = (true, Duration::from_millis(100));
    }
    let node = |place: usize| {
        let after: Vec<_> = place
            .checked_sub(1)
            .map(|before| json!({"node": before, "on": "succeeded"}))
            .into_iter()
            .collect();
        json!({"name": format!("n{place}"), "task": task, "after": after})
    };
    let plan = json!({"nodes": (0..nodes).map(node).collect::<Vec<_>>()});
    let plan: Plan = serde_json::from_value(plan).unwrap();
    let new = PutWorkflow {
        name: name.to_owned(),
        definition: json!({"nodes": nodes}).to_string(),
        plan,
        updated_by: ActorId::from("aaaaaaaaaaaa".to_owned()),
        if_version: None,
        most: 100,
    };
    workflow::put(&world.api, scope, &new).await.unwrap();
}

fn starting(name: &str, workflow: &str) -> PutSchedule {
    let start = WorkflowStart { workflow: workflow.to_owned(), input: None };
    PutSchedule { template: FireTemplate::Workflow(start), ..schedule(name, every("1s")) }
}

/// What must hold of fires and runs, whatever happened.
async fn check(world: &World) {
    for (what, sql) in [
        ("runs of two due times", "select count(run_id) - count(distinct run_id) from schedule_fire"),
        ("runs of no fire", "select count(*) from workflow_run r where not exists (
            select from schedule_fire f where f.run_id = r.id and f.schedule_id = r.schedule_id and f.due_at = r.due_at)"),
        ("fires whose run is not there", "select count(*) from schedule_fire f where f.run_id is not null
            and not exists (select from workflow_run r where r.id = f.run_id)"),
        ("runs whose tasks are not there", "select count(*) from workflow_run r where r.total <>
            (select count(*) from task_spec s where s.run_id = r.id and s.schedule_id = r.schedule_id and s.due_at = r.due_at)"),
        ("early", "select count(*) from schedule_fire where fired_at < due_at"),
        ("due times without a row", "select count(*) from (
            select s.id from schedule s join schedule_fire f on f.schedule_id = s.id group by s.id, s.due_at
            having count(*) <> round(extract(epoch from max(f.due_at) - min(f.due_at))) + 1
                or s.due_at <> max(f.due_at) + interval '1 second') h"),
    ] {
        assert_eq!(world.number(sql).await, 0, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_due_time_starts_one_run_as_its_overlap_says_and_delays_no_task() {
    let world = World::new().await;
    let scope = world.tenant().await;
    put_workflow(&world, &scope, "small", (2, false)).await;
    put_workflow(&world, &scope, "large", (1500, false)).await;
    for overlap in [Overlap::Skip, Overlap::CancelOther, Overlap::Allow] {
        let of = starting(overlap.as_str(), "small");
        world.put(&scope, &PutSchedule { overlap, ..of }).await;
    }
    world.put(&scope, &starting("large", "large")).await;
    for at in 0..50 {
        world.put(&scope, &schedule(&format!("task-{at}"), every("1s"))).await;
    }
    let (one, other) = (world.scheduler().await, world.scheduler().await);
    seconds(4.0).await;
    // What it owned is the other's within a moment.
    one.stop().await;
    seconds(5.0).await;
    other.stop().await;
    check(&world).await;
    let count = async |name: &str, what: &str| {
        let sql = format!(
            "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where s.name = '{name}' and {what}"
        );
        world.number(&sql).await
    };
    let all = count("skip", "true").await;
    assert!(all >= 6, "{all}");
    assert_eq!(count("skip", "f.run_id is not null").await, 1);
    assert_eq!(count("skip", "f.outcome = 'skipped_overlap' and f.run_id is null").await, all - 1);
    assert_eq!(count("allow", "f.run_id is not null").await, count("allow", "true").await);
    let made = count("cancel_other", "f.run_id is not null").await;
    let replaced = count("cancel_other", "f.outcome = 'skipped_overlap'").await;
    assert_eq!(made + replaced, count("cancel_other", "true").await);
    assert!(made >= 5, "{made}");
    let live = "select count(*) from workflow_run where schedule_name = 'cancel_other' and stopped_at is null";
    assert_eq!(world.number(live).await, 1, "the newest");
    let wrong = "select count(*) from workflow_run where schedule_name <> 'cancel_other' and (stopped_at is not null or finished_at is not null)";
    assert_eq!(world.number(wrong).await, 0);
    assert!(count("large", "f.run_id is not null").await >= 5);
    let tasks = "schedule_id in (select id from schedule where name like 'task-%')";
    // The start and the hand-over each make one due time of all wait for an owner; the others show what a large run costs its
    // neighbours.
    let usual = world.lateness_ms(0.75, tasks).await;
    assert!(usual <= 500.0, "p75 of fires that make tasks: {usual} ms");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_start_is_said_and_stops_nothing_else() {
    let world = World::new().await;
    let scope = world.tenant().await;
    put_workflow(&world, &scope, "gone", (1, false)).await;
    put_workflow(&world, &scope, "wide", (60, false)).await;
    put_workflow(&world, &scope, "small", (1, false)).await;
    world
        .allow(&scope, &PlanLimits { backlog: 50, workflow_runs: 3, ..PlanLimits::default() })
        .await;
    for (name, workflow) in [("gone", "gone"), ("wide", "wide"), ("small", "small")] {
        world.put(&scope, &starting(name, workflow)).await;
    }
    // As of a restored backup: otherwise it is refused.
    world.sql("delete from workflow where name = 'gone'").await;
    let running = world.scheduler().await;
    let rows = "select count(*) >= 15 from schedule_fire";
    world.until("some fires", Duration::from_secs(30), rows).await;
    running.stop().await;
    check(&world).await;
    for (name, said) in [
        ("gone", "workflow_unavailable there is no workflow `gone`"),
        ("wide", "shed_quota the quota `backlog` has no room for 60 tasks"),
        ("small", "shed_quota the quota `workflow_runs` is used up"),
    ] {
        let sql = format!(
            "select outcome || ' ' || coalesce(detail, '') from schedule_fire f join schedule s on s.id = f.schedule_id
                where s.name = '{name}' order by f.due_at desc limit 1"
        );
        let last = world.sql(&sql).await;
        // With all runs used up, that is said first.
        let used_up = "shed_quota the quota `workflow_runs` is used up";
        assert!(last == said || name == "wide" && last == used_up, "{name}: {last}");
    }
    assert_eq!(
        world.number("select count(*) from workflow_run").await,
        3,
        "as many as it may have"
    );
}

mod own_engines {
    use super::*;
    use testkit::db::TestDatabase;
    use testkit::services::PrivatePostgres;

    #[tokio::test(flavor = "multi_thread")]
    async fn runs_that_fail_one_after_the_other_pause_their_schedule() {
        let engine = PrivatePostgres::start().await.unwrap();
        let database = TestDatabase::on(&engine.url().unwrap()).await.unwrap();
        let world = World::on(database, &[]);
        let scope = world.tenant().await;
        put_workflow(&world, &scope, "late", (2, true)).await;
        let of = starting("weak", "late");
        let weak = PutSchedule { pause_after_failures: Some(3), misfire: Misfire::Skip, ..of };
        world.put(&scope, &weak).await;
        let running = world.scheduler().await;
        let paused = "select bool_or(paused_at is not null) from schedule";
        world.until("it is paused", Duration::from_secs(30), paused).await;
        seconds(2.5).await;
        running.stop().await;
        check(&world).await;
        let because = world.sql("select paused_because from schedule").await;
        assert!(because.starts_with("3 runs in a row did not succeed"), "{because}");
        let after = "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where f.due_at > s.paused_at and f.run_id is not null";
        assert_eq!(world.number(after).await, 0);
        let failed =
            "select count(*) from workflow_run where state = 'failed' and counted_by is null";
        assert!(world.number(failed).await >= 3);
    }
}
