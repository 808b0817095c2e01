//! Overdue due times that are made up for under the usual overlap. No task here ends by itself.

use crate::world::{World, every_from, schedule, seconds};
use domain::schedule::{Misfire, Overlap};
use runtime::clock;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_up_for_runs_one_after_the_other_and_is_not_left_out() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let catch_up = Misfire::CatchUp { count: 10, max_age: SECOND * 7200, per_second: Some(5) };
    let anchor = (clock::wall() - SECOND * (86_400 + 30)).to_rfc3339();
    for (name, misfire) in [("now", Misfire::FireNow), ("ten", catch_up)] {
        let mut new = schedule(name, every_from("1m", &anchor));
        (new.misfire, new.overlap) = (misfire, Overlap::default());
        world.put(&scope, &new).await;
    }
    world
        .sql("update schedule set created_at = created_at - interval '1 day', due_at = due_at - interval '20 minutes',
            fire_at = due_at - interval '20 minutes'")
        .await;
    let running = world.scheduler().await;
    let done = "select bool_and(due_at > now()) from schedule";
    world.until("all have caught up", SECOND * 20, done).await;
    seconds(1.0).await;
    running.stop().await;
    let count = async |name: &str, what: &str| {
        let sql = format!(
            "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id
                left join task t on t.id = f.task_id where s.name = '{name}' and {what}"
        );
        world.number(&sql).await
    };
    assert_eq!(count("ten", "f.task_id is not null").await, 10);
    assert_eq!(
        count("ten", "f.outcome = 'skipped_misfire'").await,
        count("ten", "true").await - 10
    );
    assert!(count("now", "true").await >= 20);
    assert_eq!(count("now", "f.task_id is null").await, 0, "each fires");
    // A limit of one for each schedule lets no two run at once.
    let keys = "select count(*) from task t join schedule_fire f on f.task_id = t.id
        where t.concurrency_key is distinct from 'schedule_' || replace(f.schedule_id::text, '-', '')";
    assert_eq!(world.number(keys).await, 0);
}
