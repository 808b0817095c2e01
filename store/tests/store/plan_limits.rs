//! The limits of plans while processes of the release before run, and after its columns are gone.

use crate::plans::statements;
use crate::support::World;
use domain::id::PlanName;
use domain::plan::PlanLimits;
use store::audit::By;
use store::plan;

/// A column for each limit, as the release before has them.
const OF_BEFORE: &str = "submits_per_second, submit_burst, submits_per_hour, running_tasks, backlog, schedules, payload_bytes,
    stored_output_bytes, retention_days, weight, flexible";

async fn limits(world: &World, name: &PlanName) -> PlanLimits {
    plan::find(&world.admin, name).await.unwrap().unwrap().limits
}

/// What the release before reads, as JSON.
async fn limits_of_before(world: &World, name: &str) -> PlanLimits {
    let columns = format!(
        "select to_jsonb(o)::text from (select {OF_BEFORE} from plan where name = '{name}') o"
    );
    serde_json::from_str(&world.text(columns).await.unwrap()).unwrap()
}

#[tokio::test]
async fn this_release_and_the_one_before_write_and_read_the_same_limits() {
    let world = World::new().await;
    for name in ["default", "free"] {
        let both =
            (limits(&world, &name.parse().unwrap()).await, limits_of_before(&world, name).await);
        assert_eq!(both.0, both.1, "{name}: as they were before the migration");
    }
    assert_eq!(world.number("select max(version) from plan").await, 1);

    let team: PlanName = "team".parse().unwrap();
    let made = PlanLimits { backlog: 7, weight: 0.1, flexible: true, ..PlanLimits::default() };
    plan::put(&world.admin, &team, None, &made, By::SYSTEM).await.unwrap();
    assert_eq!(limits_of_before(&world, "team").await, made);
    let changed = PlanLimits { backlog: 8, stored_output_bytes: 1 << 50, ..made };
    plan::put(&world.admin, &team, None, &changed, By::SYSTEM).await.unwrap();
    assert_eq!(limits_of_before(&world, "team").await, changed);

    let version = "select version from plan where name = 'team'";
    assert_eq!(world.number(version).await, 2);

    world.sql("update plan set backlog = 9, flexible = false where name = 'team'").await;
    assert_eq!(world.number(version).await, 3, "a change by the release before counts, too");
    let changed = PlanLimits { backlog: 9, flexible: false, ..changed };
    assert_eq!(limits(&world, &team).await, changed);
    world
        .sql(format!(
            "insert into plan (name, {OF_BEFORE}) select 'copy', {OF_BEFORE} from plan where name = 'team'"
        ))
        .await;
    assert_eq!(limits(&world, &"copy".parse().unwrap()).await, changed);
}

#[tokio::test]
async fn a_limit_of_a_later_release_outlives_a_change_by_this_one() {
    let world = World::new().await;
    let free: PlanName = "free".parse().unwrap();
    world.sql("update plan set limits = limits || '{\"later\": 5}' where name = 'free'").await;
    let changed = PlanLimits { backlog: 9, ..limits(&world, &free).await };
    plan::put(&world.admin, &free, None, &changed, By::SYSTEM).await.unwrap();
    world.sql("update plan set schedules = 4 where name = 'free'").await;
    assert_eq!(limits(&world, &free).await, PlanLimits { schedules: 4, ..changed });
    let later = "select (limits->>'later')::bigint from plan where name = 'free'";
    assert_eq!(world.number(later).await, 5);
}

/// What a later release will do to the table, while processes of this one go on.
#[tokio::test]
async fn no_statement_needs_the_columns_of_single_limits() {
    let world = World::new().await;
    let drops: Vec<_> =
        OF_BEFORE.split(',').map(|column| format!("drop column {column}")).collect();
    world.sql(format!("drop trigger limits on plan; alter table plan {}", drops.join(", "))).await;
    for statement in statements() {
        let prepared = format!("prepare one as {}; deallocate one", statement.sql);
        world.sql(prepared).await;
    }

    let team: PlanName = "team".parse().unwrap();
    let made = PlanLimits { backlog: 7, ..PlanLimits::default() };
    plan::put(&world.admin, &team, None, &made, By::SYSTEM).await.unwrap();
    world.sql("update plan set limits = limits - 'weight' where name = 'team'").await;
    assert_eq!(limits(&world, &team).await, made, "a limit that was not stored has its default");
}
