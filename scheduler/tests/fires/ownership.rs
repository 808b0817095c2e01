//! Several schedulers share the shards, and hand them over.

use crate::world::{World, every, schedule, seconds};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn three_share_the_work_and_who_goes_in_order_leaves_no_hole() {
    let world = World::new().await;
    let scope = world.tenant().await;
    for at in 0..120 {
        world.put(&scope, &schedule(&format!("s{at}"), every("1s"))).await;
    }
    let (one, two) = (world.scheduler().await, world.scheduler().await);
    let three = world.scheduler().await;
    let shared =
        "select count(distinct owner) = 3 and bool_and(owner is not null) from schedule_shard";
    world.until("the three share the shards", SECOND * 15, shared).await;
    seconds(2.0).await;
    let before = world.now().await;
    one.stop().await;
    two.stop().await;
    let alone =
        "select count(distinct owner) = 1 and bool_and(owner is not null) from schedule_shard";
    world.until("the third has all", SECOND * 5, alone).await;
    let took = world.now().await - before;
    assert!(took.num_milliseconds() < 3000, "{took}");
    seconds(2.0).await;
    three.stop().await;
    assert_eq!(world.faults(SECOND).await, Vec::<String>::new());
    let all = world.number("select count(*) from schedule_fire where task_id is null").await;
    assert_eq!(all, 0, "nothing was a misfire");
    let left = "select count(*) from schedule_shard where owner is not null";
    assert_eq!(world.number(left).await, 0, "who goes gives all up");
    let late = world
        .lateness_ms(1.0, "due_at > (select min(due_at) + interval '5 seconds' from schedule_fire)")
        .await;
    assert!(late <= 2500.0, "{late} ms");
}
