//! Where few tasks wait, one walk shows them: as a look that sees everything does.

use crate::support::{World, new_task};
use domain::id::{NodeId, PoolName, TenantId};
use domain::placement::Shapes;
use domain::resources::{Resources, Tier};
use domain::task::State;
use store::TenantScope;
use store::task::submit::NewTask;
use store::task::{Look, Seen, all_ready, candidates};

fn pool() -> PoolName {
    "default".parse().unwrap()
}

/// What a look with room for everything sees.
async fn look(world: &World, largest: Resources, lacks: &Shapes) -> Seen {
    let look = Look {
        after: None,
        of_tenant: 100,
        strands: 1000,
        named: &[],
        named_strands: 1,
        rows: 1_000_000,
        per_strand: 1000,
        fewer: &[],
        largest,
        lacks,
    };
    candidates(&world.scheduler, &pool(), look).await.unwrap()
}

/// Both show the same; gives how many tasks in how many strands.
async fn alike(world: &World, largest: Resources, lacks: &Shapes) -> (usize, usize) {
    let all = look(world, largest, lacks).await;
    let walk = all_ready(&world.scheduler, &pool(), 1000, largest, lacks).await.unwrap().unwrap();
    assert_eq!(walk.strands, all.strands);
    assert_eq!((walk.next, walk.partly.len()), (all.next, all.partly.len()));
    assert!(walk.now >= all.now);
    (walk.strands.iter().map(|strand| strand.rows.len()).sum(), walk.strands.len())
}

fn any_size() -> Resources {
    Resources::from_dimensions([u32::MAX; 5])
}

async fn give_strands(world: &World, tenant: TenantId) {
    world
        .sql(format!(
            "update task t set strand = n.n % 3, priority = n.n % 2, flexible = n.n % 2 = 1
                from (select id, row_number() over (order by id) n from task where tenant_id = '{}') n where t.id = n.id",
            tenant.uuid()
        ))
        .await;
}

#[tokio::test]
async fn a_walk_shows_what_a_look_that_sees_everything_shows() {
    let world = World::new().await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (0, 0));
    let [one, two, keyed] = [world.tenant().await, world.tenant().await, world.tenant().await];
    for tenant in [one, two, keyed] {
        world.store_ready(tenant, 12).await;
        give_strands(&world, tenant).await;
    }
    let key = "k1".parse().unwrap();
    store::concurrency::put(&world.api, &TenantScope::new(keyed), &key, 9).await.unwrap();
    let of_keyed = format!("tenant_id = '{}' and strand = 1; ", keyed.uuid());
    world
        .sql(format!(
            "update task set concurrency_key = 'k1' where {of_keyed}
            update task set start_deadline = now() - interval '1 second' where strand = 2 and priority = 0;
            update task set expire_if_late = true where strand = 2 and flexible;
            update task set prepaid = true where strand = 0"
        ))
        .await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (36, 9));

    // What is about to expire is left out, unless it has run before.
    world.sql("update task set expire_if_late = true where strand = 2 and priority = 0").await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (30, 9));
    world.sql("update task set first_started_at = now() where strand = 2").await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (36, 9));

    // Of a size for which there is no room a strand is told, and no task of it.
    let premium = Tier::Premium.resources();
    let large = NewTask { tier: None, resources: premium, ..new_task(one) };
    let large = world.store(large).await;
    world.sql(format!("update task set strand = 7 where id = '{}'", large.0)).await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (37, 10));
    assert_eq!(alike(&world, Tier::Basic.resources(), &Shapes::default()).await, (36, 10));
    assert_eq!(alike(&world, any_size(), &[premium].into_iter().collect()).await, (36, 10));
    let none = [Resources::default()].into_iter().collect();
    assert_eq!(alike(&world, any_size(), &none).await, (0, 10));
}

#[tokio::test]
async fn what_is_elsewhere_or_not_ready_is_not_shown_and_more_than_asked_for_is_told() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    for state in
        [State::Scheduled, State::Queued, State::Running, State::Cancelling, State::Retrying]
    {
        world.put(leader, owned, tenant, state).await;
    }
    store::pool::list(&world.submit).await.unwrap();
    world.sql("insert into pool (name) values ('gpu')").await;
    world.store(NewTask { pool: "gpu".parse().unwrap(), ..new_task(tenant) }).await;
    world.store_ready(tenant, 5).await;
    let lacks = Shapes::default();
    let walk = async |most| {
        let seen = all_ready(&world.scheduler, &pool(), most, any_size(), &lacks).await.unwrap();
        seen.map(|seen| seen.strands.iter().map(|strand| strand.rows.len()).sum::<usize>())
    };
    assert_eq!([walk(6).await, walk(5).await, walk(4).await], [Some(5), Some(5), None]);
}
