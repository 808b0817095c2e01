//! Counts of what tenants hold: right, in bounded pieces, and in nobody's way.

use crate::support::{World, config, new_task};
use domain::id::{NodeId, TenantId};
use domain::plan::{PlanLimits, Quota};
use domain::task::State;
use runtime::clock::{monotonic, timeout};
use runtime::config::DatabaseConfig;
use std::time::Duration;
use store::audit::By;
use store::connect::CountDb;
use store::tenant::{self, Count, Holding, NearlyUsed, Watched};
use store::{StoreError, TenantScope, plan};

const LONG: Duration = Duration::from_secs(5);

/// So many tasks, every ninth of them queued.
async fn fill(world: &World, tenant: TenantId, tasks: u32) {
    world
        .sql(format!(
            "insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once)
                select '{}', gen_random_uuid(), 'default', case when n % 9 = 0 then 'queued' else 'ready' end::task_state, 'basic',
                    1, 1, 1, 1, 0, 1, now(), now(), 60000, 3, false, false from generate_series(1, {tasks}) n",
            tenant.uuid()
        ))
        .await;
}

/// From now on `role` reads each task of these tenants in 50 ms.
async fn slow_down(world: &World, role: &str, tenants: &[TenantId]) {
    let tenants: Vec<_> = tenants.iter().map(|tenant| format!("'{}'", tenant.uuid())).collect();
    let tenants = tenants.join(", ");
    world
        .sql(format!(
            "create policy slow on task as restrictive for select to {role}
                using (tenant_id not in ({tenants}) or pg_sleep(0.05)::text is not null)"
        ))
        .await;
}

/// One round of the scheduler's.
async fn look(world: &World) -> Vec<NearlyUsed> {
    let db = &world.scheduler;
    let mut told = Vec::new();
    for Watched { tenant, backlog } in tenant::watched(db, None, 100).await.unwrap() {
        let mut count = Count::default();
        let holding = loop {
            let slice = tenant::count_slice(db, tenant, &mut count, backlog, LONG);
            if let Some(all) = slice.await.unwrap() {
                break all;
            }
        };
        told.extend(tenant::tell_nearly_used(db, tenant, Some(holding)).await.unwrap());
    }
    told
}

#[tokio::test]
async fn what_a_tenant_holds_is_counted_from_its_rows() {
    let world = World::new().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let [one, other] = [world.tenant().await, world.tenant().await];
    for state in [State::Queued, State::Running, State::Cancelling] {
        world.put(leader, owned, one, state).await;
    }
    for state in [State::Ready, State::Scheduled, State::Retrying, State::Succeeded] {
        world.put(leader, owned, one, state).await;
    }
    world.put(leader, owned, other, State::Running).await;
    world.store(new_task(other)).await;
    let mut held = store::task::held(&world.scheduler).await.unwrap();
    held.sort_unstable();
    let mut expected = [(one, 3), (other, 1)];
    expected.sort_unstable();
    assert_eq!(held, expected);
    let counts = CountDb::connect(&config(&world.database)).unwrap();
    let all = tenant::holding(&counts, &TenantScope::of_role(one), 1000).await.unwrap();
    assert_eq!(all, Holding { backlog: 6, running_tasks: 3 });
}

#[tokio::test]
async fn many_are_counted_in_slices_and_no_more_than_asked_for() {
    let world = World::new().await;
    let [one, other] = [world.tenant().await, world.tenant().await];
    fill(&world, one, 45_000).await;
    fill(&world, other, 20_000).await;
    let counts = CountDb::connect(&config(&world.database)).unwrap();
    let holding = async |tenant, most| {
        tenant::holding(&counts, &TenantScope::of_role(tenant), most).await.unwrap()
    };
    assert_eq!(holding(one, 1_000_000).await, Holding { backlog: 45_000, running_tasks: 5_000 });
    assert_eq!(holding(other, 1_000_000).await, Holding { backlog: 20_000, running_tasks: 2_222 });
    assert_eq!(holding(one, 30_000).await.backlog, 40_000, "by then it is too many");
    // The scheduler, a slice a time; what ends the count may be asked again.
    let (mut count, mut slices) = (Count::default(), Vec::new());
    for _ in 0..4 {
        let slice = tenant::count_slice(&world.scheduler, one, &mut count, 1_000_000, LONG);
        let slice = slice.await.unwrap();
        slices.push(slice.map(|all| (all.backlog, all.running_tasks)));
    }
    assert_eq!(slices, [None, None, Some((45_000, 5_000)), Some((45_000, 5_000))]);
}

#[tokio::test]
async fn a_tenant_that_takes_long_to_count_stands_in_no_others_way() {
    let world = World::new().await;
    let (a, b, c) = (world.tenant().await, world.tenant().await, world.tenant().await);
    let quick = world.tenant().await;
    for tenant in [a, b, c, quick] {
        fill(&world, tenant, 40).await;
    }
    slow_down(&world, "berth_submit", &[a, b, c]).await;
    let counts = CountDb::connect(&config(&world.database)).unwrap();
    let timed = async |tenant| {
        let began = monotonic();
        let holding = tenant::holding(&counts, &TenantScope::of_role(tenant), 1000).await.unwrap();
        assert_eq!(holding, Holding { backlog: 40, running_tasks: 4 });
        began.elapsed()
    };
    let quick = async {
        let mut longest = Duration::ZERO;
        for _ in 0..10 {
            longest = longest.max(timed(quick).await);
        }
        longest
    };
    let (a, b, c, quick) = tokio::join!(timed(a), timed(b), timed(c), quick);
    println!("quick ones within {quick:?}, slow ones in {:?}", [a, b, c]);
    assert!([a, b, c].iter().all(|took| *took >= Duration::from_secs(2)));
    // Three first looks of 250 ms each, and a machine that is busy.
    assert!(quick < Duration::from_secs(2), "{quick:?}");
}

#[tokio::test]
async fn a_slice_takes_no_longer_than_a_read_may() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    let short = Duration::from_millis(200);
    let settings = DatabaseConfig { statement_timeout: short, ..config(&world.database) };
    let counts = CountDb::connect(&settings).unwrap();
    assert!(tenant::holding(&counts, &scope, 10).await.is_ok());
    let mut held = world.owner.begin().await.unwrap();
    sqlx::raw_sql("lock table task in access exclusive mode").execute(&mut *held).await.unwrap();
    let ended = timeout(Duration::from_secs(10), tenant::holding(&counts, &scope, 10));
    assert!(matches!(ended.await.expect("ends by itself"), Err(StoreError::Timeout)));
    held.rollback().await.unwrap();
    assert!(tenant::holding(&counts, &scope, 10).await.is_ok(), "the connection is as it was");
}

#[tokio::test]
async fn each_quota_is_told_once_when_it_is_nearly_used_up_however_many_look() {
    let world = World::new().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let limits = PlanLimits {
        backlog: 10,
        running_tasks: 5,
        stored_output_bytes: 100,
        ..PlanLimits::default()
    };
    plan::put(&world.admin, &"small".parse().unwrap(), None, &limits, By::SYSTEM).await.unwrap();
    let on_plan = format!("update tenant set plan = 'small' where id = '{}'", tenant.uuid());
    world.sql(on_plan).await;
    let look = async || look(&world).await;
    let told = |quota: Quota, used| tenant::NearlyUsed {
        tenant,
        quota: quota.to_string(),
        used,
        limit: limits.of(quota),
    };
    world.store_ready(tenant, 7).await;
    world.store_ready(other, 8).await;
    assert_eq!(look().await, []);
    world.store_ready(tenant, 1).await;
    let (a, b, c) = tokio::join!(look(), look(), look());
    assert_eq!([a, b, c].concat(), [told(Quota::Backlog, 8)]);
    // Between 70 and 80 % nothing is new; below, the next crossing is.
    let gone = |count| {
        format!(
            "delete from task where (tenant_id, id) in (select tenant_id, id from task where tenant_id = '{}' limit {count})",
            tenant.uuid()
        )
    };
    world.sql(gone(1)).await;
    world.store_ready(tenant, 1).await;
    assert_eq!(look().await, []);
    world.sql(gone(2)).await;
    assert_eq!(look().await, []);
    // Nothing was submitted since: what runs and what it writes is seen all the same.
    for _ in 0..4 {
        world.put(leader, owned, tenant, State::Running).await;
    }
    let id = tenant.uuid();
    world.sql(format!("insert into output_use values ('{id}', current_date, 79)")).await;
    assert_eq!(look().await, [told(Quota::Backlog, 10), told(Quota::RunningTasks, 4)]);
    world.sql(format!("insert into output_use values ('{id}', current_date - 1, 1)")).await;
    assert_eq!(look().await, [told(Quota::StoredOutputBytes, 80)]);
    let events =
        store::event::warnings(&world.api, &TenantScope::of_role(tenant), 10).await.unwrap();
    assert_eq!(events.len(), 4);
    assert_eq!(events[0].kind, "quota_nearly_used");
    let detail: serde_json::Value = serde_json::from_str(&events[0].detail_json).unwrap();
    let of_output = serde_json::json!({"quota": "stored_output_bytes", "used": 80, "limit": 100});
    assert_eq!(detail, of_output);
    assert!(
        store::event::warnings(&world.api, &TenantScope::of_role(other), 10)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn where_tasks_cannot_be_counted_in_time_the_other_quotas_are_watched_all_the_same() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let limits = PlanLimits { backlog: 10, stored_output_bytes: 100, ..PlanLimits::default() };
    plan::put(&world.admin, &"default".parse().unwrap(), None, &limits, By::SYSTEM).await.unwrap();
    fill(&world, tenant, 10).await;
    let id = tenant.uuid();
    world.sql(format!("insert into output_use values ('{id}', current_date, 90)")).await;
    slow_down(&world, "berth_scheduler", &[tenant]).await;
    let (db, short) = (&world.scheduler, Duration::from_millis(100));
    let slice = tenant::count_slice(db, tenant, &mut Count::default(), 10, short).await;
    assert!(matches!(slice, Err(StoreError::Timeout)), "{slice:?}");
    let told = tenant::tell_nearly_used(db, tenant, None).await.unwrap();
    let quotas: Vec<_> = told.iter().map(|told| (told.quota.as_str(), told.used)).collect();
    assert_eq!(quotas, [("stored_output_bytes", 90)]);
    world.sql("drop policy slow on task").await;
    assert_eq!(look(&world).await.len(), 1, "the backlog, in the next round");
}

#[tokio::test]
async fn tenants_are_listed_page_by_page_and_deleted_ones_not_at_all() {
    let world = World::new().await;
    let mut tenants = Vec::new();
    for _ in 0..5 {
        tenants.push(world.tenant().await);
    }
    tenants.sort_unstable();
    tenant::delete(&world.admin, tenants[2], By::SYSTEM).await.unwrap();
    let page = async |after| {
        let listed = tenant::watched(&world.scheduler, after, 2).await.unwrap();
        listed.iter().map(|watched| watched.tenant).collect::<Vec<_>>()
    };
    assert_eq!(page(None).await, tenants[..2]);
    assert_eq!(page(Some(tenants[1])).await, tenants[3..]);
    assert_eq!(page(Some(tenants[4])).await, []);
}
