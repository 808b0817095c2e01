//! Concurrency keys: their limits, and what they hold.

use crate::support::{World, log_in, new_task, refused};
use domain::batch::ConcurrencyKey;
use domain::id::{NodeId, TaskId, TenantId};
use store::TenantScope;
use store::concurrency::{self, MOST, Put};
use store::task::submit::NewTask;
use tokio::task::JoinSet;

fn key(text: &str) -> ConcurrencyKey {
    text.parse().unwrap()
}

/// A limit that is stored.
async fn stored(world: &World, tenant: TenantId, text: &str, running: u32) {
    let scope = TenantScope::of_role(tenant);
    let put = concurrency::put(&world.api, &scope, &key(text), running).await.unwrap();
    assert!(matches!(put, Put::Done(limit) if limit.running == running));
}

/// The keys that are stored, and what they allow.
async fn listed(world: &World, tenant: TenantId) -> Vec<(String, u32)> {
    let limits = concurrency::list(&world.api, &TenantScope::of_role(tenant), None, 1000).await;
    limits.unwrap().into_iter().map(|limit| (limit.key.to_string(), limit.running)).collect()
}

async fn task_of(world: &World, tenant: TenantId, text: &str) -> (TenantId, TaskId) {
    let concurrency_key = Some(key(text));
    (tenant, world.store(NewTask { concurrency_key, ..new_task(tenant) }).await)
}

#[tokio::test]
async fn a_limit_is_stored_changed_and_forgotten_by_its_tenant_alone() {
    let world = World::new().await;
    let [one, other] = [world.tenant().await, world.tenant().await];
    for (tenant, text, running) in [(one, "b", 2), (one, "a", 0), (other, "a", 7), (one, "b", 3)] {
        stored(&world, tenant, text, running).await;
    }
    assert_eq!(listed(&world, one).await, [("a".to_owned(), 0), ("b".to_owned(), 3)]);
    let scope = TenantScope::of_role(one);
    let page = concurrency::list(&world.api, &scope, Some(&key("a")), 1).await.unwrap();
    assert_eq!(page.iter().map(|limit| limit.key.as_str()).collect::<Vec<_>>(), ["b"]);
    for _ in 0..2 {
        concurrency::delete(&world.api, &scope, &key("a")).await.unwrap();
        assert_eq!(concurrency::find(&world.api, &scope, &key("a")).await.unwrap(), None);
    }
    assert_eq!(listed(&world, other).await, [("a".to_owned(), 7)]);
    let told = "select string_agg(action, ' ' order by id) from audit where target_kind = 'concurrency_limit'
        and tenant_id = ";
    let told = world.text(format!("{told}'{}'", one.uuid())).await.unwrap();
    assert_eq!(
        told, "concurrency.put concurrency.put concurrency.put concurrency.delete",
        "what changed nothing is not told"
    );
    let api = log_in(&world, "berth_api").await;
    let forged = format!(
        "begin; select set_config('berth.tenant_id', '{}', true);
         insert into concurrency_limit (tenant_id, key, running) values ('{}', 'x', 1)",
        one.uuid(),
        other.uuid()
    );
    assert_eq!(refused(&api, &forged).await.as_deref(), Some("42501"));
}

#[tokio::test]
async fn a_key_holds_what_is_queued_running_or_cancelling_and_nothing_else() {
    let world = World::new().await;
    let [one, other] = [world.tenant().await, world.tenant().await];
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let mut tasks = Vec::new();
    for (tenant, text) in [(one, "a"), (one, "a"), (one, "a"), (one, "b"), (other, "a")] {
        tasks.push(task_of(&world, tenant, text).await);
    }
    task_of(&world, one, "waits").await;
    tasks.extend(world.store_ready(one, 1).await);
    let scope = TenantScope::of_role(one);
    assert_eq!(concurrency::held(&world.scheduler).await.unwrap(), []);
    let dispatches = world.dispatch(leader, &tasks).await;
    // The first stays queued, the third is asked to stop, the others run.
    let to_run: Vec<_> =
        dispatches.into_iter().filter(|dispatch| dispatch.task != tasks[0].1).collect();
    assert_eq!(world.place(owned, &to_run).await.len(), tasks.len() - 1);
    let grace = std::time::Duration::from_secs(40);
    let cancelled = [tasks[2].1];
    store::task::transition::cancel_requested(&world.api, &scope, &cancelled, grace).await.unwrap();
    let mut held = concurrency::held(&world.scheduler).await.unwrap();
    held.sort_unstable();
    let mut wanted = [((one, key("a")), 3), ((one, key("b")), 1), ((other, key("a")), 1)];
    wanted.sort_unstable();
    assert_eq!(held, wanted);
    for (text, held) in [("a", 3), ("b", 1), ("waits", 0), ("none", 0)] {
        assert_eq!(concurrency::held_of(&world.api, &scope, &key(text)).await.unwrap(), held);
    }
}

#[tokio::test]
async fn no_two_requests_at_once_store_one_limit_too_many() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let few_left = MOST - 3;
    world
        .sql(format!(
            "insert into concurrency_limit (tenant_id, key, running) select '{}', 'k' || n, 1 from generate_series(1, {few_left}) n",
            tenant.uuid()
        ))
        .await;
    let mut rivals = JoinSet::new();
    for n in 0..8 {
        let (db, fresh) = (world.api.clone(), key(&format!("fresh {n}")));
        rivals.spawn(async move { concurrency::put(&db, &scope, &fresh, 2).await.unwrap() });
    }
    let puts = rivals.join_all().await;
    assert_eq!(puts.iter().filter(|put| matches!(put, Put::Done(_))).count(), 3, "{puts:?}");
    let stored = "select count(*) from concurrency_limit";
    assert_eq!(world.number(stored).await, i64::from(MOST));
    // Those that are there may change, and one that goes makes room.
    let change =
        async |text: &str| concurrency::put(&world.api, &scope, &key(text), 5).await.unwrap();
    assert!(matches!(change("k1").await, Put::Done(_)));
    assert_eq!(change("another").await, Put::TooMany);
    concurrency::delete(&world.api, &scope, &key("k2")).await.unwrap();
    assert!(matches!(change("another").await, Put::Done(_)));
}
