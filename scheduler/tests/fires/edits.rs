//! Edits race with fires: what was told holds for every due time after it.

use crate::world::{World, every, schedule, seconds};
use runtime::clock;
use std::collections::HashMap;
use std::time::Duration;
use store::schedule::{delete, pause, resume};

const SCHEDULES: usize = 150;
const LENGTH: Duration = Duration::from_secs(12);

#[tokio::test(flavor = "multi_thread")]
async fn after_an_answer_no_later_due_time_is_fired_the_old_way_and_none_is_missed() {
    let world = World::new().await;
    let scope = world.tenant().await;
    for at in 0..SCHEDULES {
        world.put(&scope, &schedule(&format!("s{at}"), every("1s"))).await;
    }
    let running = world.scheduler().await;
    seconds(2.0).await;
    let (began, mut edits) = (clock::monotonic(), 0_usize);
    // By schedule: since when it is told to be paused; of which version since when.
    let mut checks = Vec::new();
    let mut paused = HashMap::new();
    while began.elapsed() < LENGTH {
        let name = format!("s{}", edits * 37 % SCHEDULES);
        match edits % 4 {
            0 if !paused.contains_key(&name) => {
                pause(&world.api, &scope, &name, Some("a test")).await.unwrap();
                paused.insert(name.clone(), world.now().await);
            }
            1 => {
                let from = paused.remove(&name);
                if let (Some(from), Some(record)) =
                    (from, resume(&world.api, &scope, &name).await.unwrap())
                {
                    // Due times of before its instant are of the pause, to the last one.
                    let until = record.updated_at;
                    checks.push(format!(
                        "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where s.name = '{name}'
                            and f.due_at > '{}' and f.due_at <= '{}' and f.task_id is not null", from.to_rfc3339(), until.to_rfc3339()
                    ));
                }
            }
            2 => {
                let mut other = schedule(&name, every("1s"));
                other.template = testkit::schedules::noop_template(&format!("e{edits}")).into();
                let record = world.put(&scope, &other).await;
                let at = world.now().await;
                checks.push(format!(
                    "select count(*) from schedule_fire f where f.schedule_id = '{}' and f.due_at > '{}' and f.version < {}",
                    record.id.uuid(), at.to_rfc3339(), record.version
                ));
                checks.push(format!(
                    "select count(*) from schedule_fire f where f.schedule_id = '{}' and f.due_at <= '{}' and f.version >= {}",
                    record.id.uuid(), record.updated_at.to_rfc3339(), record.version
                ));
                checks.push(format!(
                    "select count(*) from schedule_fire f join task_spec t on t.id = f.task_id
                        where f.schedule_id = '{}' and f.version = {} and t.name <> 'e{edits}'",
                    record.id.uuid(),
                    record.version
                ));
            }
            _ if edits % 16 == 3 => {
                let id = world.sql(&format!("select id from schedule where name = '{name}'")).await;
                delete(&world.api, &scope, &name, None).await.unwrap();
                let at = world.now().await;
                if !id.is_empty() {
                    checks.push(format!(
                        "select count(*) from schedule_fire where schedule_id = '{id}' and due_at > '{}'", at.to_rfc3339()
                    ));
                }
                world.put(&scope, &schedule(&name, every("1s"))).await;
                paused.remove(&name);
            }
            _ => {}
        }
        edits += 1;
        seconds(0.01).await;
    }
    for (name, from) in &paused {
        checks.push(format!(
            "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where s.name = '{name}'
                and f.due_at > '{}' and f.task_id is not null", from.to_rfc3339()
        ));
    }
    seconds(1.5).await;
    running.stop().await;
    assert!(checks.len() > 60, "{} checks of {edits} edits", checks.len());
    for check in &checks {
        assert_eq!(world.number(check).await, 0, "{check}");
    }
    assert_eq!(world.faults(Duration::from_secs(1)).await, Vec::<String>::new());
}
