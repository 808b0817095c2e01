//! Another release of the time zone data.

use crate::world::{World, schedule, timing};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn due_times_of_another_release_are_found_anew_and_no_others_move() {
    let world = World::new().await;
    let scope = world.tenant().await;
    for at in 0..20 {
        for (zone, name) in [("Europe/Berlin", "berlin"), ("Asia/Tokyo", "tokyo")] {
            let daily = format!(r#"{{"specs":[{{"daily":{{"at":["12:00"]}}}}],"zone":"{zone}"}}"#);
            world.put(&scope, &schedule(&format!("{name}-{at}"), timing(&daily))).await;
        }
    }
    world.sql("create table was as select id, due_at from schedule").await;
    // As an older release had it: an hour later in Berlin.
    world
        .sql("update schedule set tzdb = '2020a', due_at = due_at + (case when name like 'berlin%' then interval '1 hour' else interval '0' end);
            update schedule set fire_at = due_at")
        .await;
    let running = world.scheduler().await;
    let done = "select count(*) = 0 from schedule where tzdb = '2020a'";
    world.until("all are looked at", Duration::from_secs(20), done).await;
    let other = "select count(*) from schedule s join was w using (id) where s.due_at <> w.due_at";
    assert_eq!(world.number(other).await, 0);
    let shards = "select count(*) = 0 from schedule_shard where tzdb = ''";
    world.until("the shards say so", Duration::from_secs(10), shards).await;
    running.stop().await;
}
