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

#[tokio::test(flavor = "multi_thread")]
async fn due_times_of_patterns_that_meant_something_else_are_found_anew_also_far_before_the_old() {
    let world = World::new().await;
    let scope = world.tenant().await;
    // The clocks of New York go forward on the second Sunday of March: two of these times fall into the gap and are one after it.
    let fixed = r#"{"specs":[{"cron":"0,30 2,9 8-14 3 +SUN"}],"zone":"America/New_York"}"#;
    // Those of Berlin go back on the last Sunday of October: what recurs is due twice at two.
    let recurs = r#"{"specs":[{"cron":"0 */2 25-31 10 +SUN"}],"zone":"Europe/Berlin"}"#;
    let delay = r#"{"specs":[{"every":{"every":"10m","counting":"fixed_delay"}}]}"#;
    for (name, of) in [("fixed", fixed), ("recurs", recurs), ("delay", delay)] {
        world.put(&scope, &schedule(name, timing(of))).await;
    }
    // The release before had no time in the gap, and kept a release of the zones' data and nothing else. It had the fixed delay wait
    // for three hours after its task has ended.
    world
        .sql("create table was as select id, due_at from schedule;
            update schedule set tzdb = split_part(tzdb, '+', 1), due_at = due_at + (case when name = 'fixed' then interval '6 hours'
                when name = 'delay' then interval '3 hours' else interval '0' end);
            update schedule set fire_at = due_at")
        .await;
    let running = world.scheduler().await;
    let done = "select count(*) = 0 from schedule where tzdb not like '%+2'";
    world.until("all are looked at", Duration::from_secs(20), done).await;
    let moved = "select count(*) from schedule s join was w using (id) where s.due_at - w.due_at =
        case when s.name = 'delay' then interval '3 hours' else interval '0' end and s.ended_at is null";
    assert_eq!(world.number(moved).await, 3);
    running.stop().await;
}
