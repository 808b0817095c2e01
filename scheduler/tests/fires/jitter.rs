//! Fires that wait by chance, for longer than it is to the next due time.

use crate::world::{World, schedule, seconds, timing};
use domain::schedule::Misfire;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn while_a_scheduler_fires_nothing_is_a_misfire_however_wide_the_jitter() {
    let world = World::with(&[("BERTH_SCHEDULES__MISFIRE_AFTER", "4s")]).await;
    let scope = world.tenant().await;
    let running = world.scheduler().await;
    let owned = "select bool_and(owner is not null) from schedule_shard";
    world.until("the shards are owned", SECOND * 10, owned).await;
    for at in 0..10 {
        let wide = r#"{"specs":[{"every":{"every":"1s"}}],"jitter":"12s"}"#;
        let mut new = schedule(&format!("s{at}"), timing(wide));
        new.misfire = Misfire::Skip;
        world.put(&scope, &new).await;
    }
    seconds(10.0).await;
    // The timing changes while many wait: they are fired when they would have been, and nothing is lost.
    for at in 0..5 {
        let narrow = r#"{"specs":[{"every":{"every":"1s"}}],"jitter":"1s"}"#;
        let mut new = schedule(&format!("s{at}"), timing(narrow));
        new.misfire = Misfire::Skip;
        world.put(&scope, &new).await;
    }
    seconds(14.0).await;
    running.stop().await;
    let other = "select count(*) from schedule_fire where outcome not in ('fired', 'late')";
    assert_eq!(world.number(other).await, 0);
    let early = "select count(*) from schedule_fire where fired_at < due_at or fired_at > due_at + interval '14 seconds'";
    assert_eq!(world.number(early).await, 0);
    // Of each the first twelve seconds have come by now: each due time has its row.
    let holes = "select count(*) from (
        select s.id from schedule s join schedule_fire f on f.schedule_id = s.id and f.due_at <= s.created_at + interval '11.5 seconds'
        group by s.id having count(*) <> 11) h";
    assert_eq!(world.number(holes).await, 0);
    assert_eq!(world.number("select count(distinct schedule_id) from schedule_fire").await, 10);
    // By chance, and not in the order in which they were due.
    let disorder = "select count(*) > 20 from (
        select fired_at < lag(fired_at) over (partition by schedule_id order by due_at) as overtaken from schedule_fire) o where overtaken";
    assert_eq!(world.sql(disorder).await, "t");
    let spread = "select min(c) > 6 from (
        select count(*) as c from schedule_fire f join schedule s on s.id = f.schedule_id
            where f.due_at <= s.created_at + interval '10 seconds'
            group by least(3, floor(extract(epoch from f.fired_at - f.due_at) / 3)) ) q";
    assert_eq!(world.sql(spread).await, "t", "each quarter of the range has its part of a hundred");
}
