//! A due time is judged by who may use its pool when it fires.

use crate::world::{World, every, schedule};
use domain::audit::By;
use domain::pool::PoolGrants;
use domain::schedule::TaskTemplate;
use std::time::Duration;
use store::pool::{PoolChange, PoolStored};
use store::schedule::{Backfill, BackfillAnswer, backfill};

const SECOND: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(20);

async fn set(world: &World, change: PoolChange) {
    let pool = "inner".parse().unwrap();
    let stored = store::pool::set(&world.admin, &pool, change, By::SYSTEM).await.unwrap();
    assert!(matches!(stored, PoolStored::Created(_) | PoolStored::Updated(_)), "{stored:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_a_grant_ends_due_times_make_no_task_say_why_and_make_tasks_again_when_it_is_back() {
    let world = World::new().await;
    let [scope, other] = [world.tenant().await, world.tenant().await];
    let to = |scope: &store::TenantScope| PoolGrants {
        tenants: [scope.tenant()].into(),
        ..PoolGrants::default()
    };
    let granted = || PoolChange { grant: to(&scope), ..PoolChange::default() };
    set(&world, PoolChange { grant: to(&other), ..PoolChange::default() }).await;
    set(&world, granted()).await;
    for (scope, name) in [(&scope, "s"), (&other, "o")] {
        let mut new = schedule(name, every("1s"));
        let pool = "inner".parse().unwrap();
        let template = testkit::schedules::noop_template("v1");
        new.template = TaskTemplate { pool, ..template }.into();
        world.put(scope, &new).await;
    }
    let running = world.scheduler().await;
    let since = async |outcome: &str| {
        let last = format!(
            "select (select f.outcome = '{outcome}' from schedule_fire f where f.tenant_id = '{}' order by f.due_at desc limit 1)",
            scope.tenant().uuid()
        );
        world.until(outcome, LIMIT, &last).await;
    };
    since("fired").await;
    let before = world.number("select count(*) from task").await;
    assert!(before > 0);
    set(&world, PoolChange { revoke: to(&scope), ..PoolChange::default() }).await;
    since("pool_unavailable").await;
    let refused = format!(
        "select count(*) from schedule_fire where tenant_id = '{}' and outcome = 'pool_unavailable' and task_id is not null",
        scope.tenant().uuid()
    );
    assert_eq!(world.number(&refused).await, 0);
    let others =
        "select count(*) from schedule_fire where outcome = 'pool_unavailable' and schedule_id in
        (select id from schedule where name = 'o')";
    assert_eq!(world.number(others).await, 0, "whoever may use it goes on");

    // Those due times are made up for when it is granted again, and not before.
    let (from, to) = (world.now().await - 3 * SECOND, world.now().await);
    let range = Backfill { from, to, dry_run: false, per_second: 100.0 };
    let planned = backfill(&world.api, &scope, "s", range, "bbbbbbbbbbbb").await.unwrap();
    let BackfillAnswer::Planned(plan) = planned else { panic!("{planned:?}") };
    assert!(plan.to_fire > 0, "{plan:?}");
    since("pool_unavailable").await;
    let waits = "select count(*) from schedule_backfill";
    assert_eq!(world.number(waits).await, 1);
    assert_eq!(world.number("select count(*) from schedule_fire where kind = 'backfill'").await, 0);
    set(&world, granted()).await;
    since("fired").await;
    let made = format!(
        "select count(*) = {} from schedule_fire where kind = 'backfill' and task_id is not null",
        plan.to_fire
    );
    world.until("the due times of then", LIMIT, &made).await;
    running.stop().await;
}
