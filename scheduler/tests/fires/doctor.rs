//! The doctor of a scheduler: what it finds is in its metrics. And what cannot be read is paused, beside others that fire.

use crate::world::{World, every, schedule};
use runtime::metrics::render;
use std::time::Duration;

fn shown(line: &str) -> bool {
    render().lines().any(|shown| shown == line)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_doctor_finds_is_in_the_metrics_and_so_is_when_it_looked() {
    let world = World::new().await;
    let scope = world.tenant().await;
    world.put(&scope, &schedule("broken", every("1s"))).await;
    world.sql("update schedule set due_at = null, fire_at = null, paused_at = now(), paused_because = 'malformed: timing cannot be read'").await;
    let running = world.scheduler().await;
    let found = async || shown("berth_doctor_findings{check=\"schedules_malformed\"} 1");
    testkit::poll::until("it is found", Duration::from_secs(30), found).await.unwrap();
    for sound in [
        "fire_early",
        "batcher_missing",
        "shards_unowned",
        "leases_overlap",
        "placement_stalled",
        "queue_arguments",
    ] {
        assert!(shown(&format!("berth_doctor_findings{{check=\"{sound}\"}} 0")), "{sound}");
        assert!(shown(&format!("berth_doctor_not_seen{{check=\"{sound}\"}} 0")), "{sound}");
    }
    let page = render();
    let name = "berth_doctor_last_run_timestamp_seconds ";
    let at: f64 = page.lines().find_map(|line| line.strip_prefix(name)).unwrap().parse().unwrap();
    let now = runtime::clock::wall().timestamp_millis() as f64 / 1000.0;
    assert!((now - at).abs() < 60.0, "{at} {now}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn schedules_that_cannot_be_read_are_paused_once_and_the_others_fire() {
    let world = World::new().await;
    let scope = world.tenant().await;
    for name in ["timing", "template", "misfire", "range", "good"] {
        world.put(&scope, &schedule(name, every("1s"))).await;
    }
    for name in ["timing", "template", "misfire"] {
        world.sql(&format!("update schedule set {name} = '{{\"x\":' where name = '{name}'")).await;
    }
    // It is read, but the database refuses its task.
    world
        .sql("update schedule set template = jsonb_set(template::jsonb, '{max_attempts}', '0')::text where name = 'range'")
        .await;
    let running = world.scheduler().await;
    let paused = "select count(*) = 4 from schedule where paused_because like 'malformed: %' and due_at is null and name <> 'good'";
    world.until("they are paused", Duration::from_secs(20), paused).await;
    let versions =
        "select string_agg(version::text, ' ' order by name) from schedule where name <> 'good'";
    let before = world.sql(versions).await;
    let fired = "select count(*) >= 3 from schedule_fire f join schedule s on s.id = f.schedule_id where s.name = 'good'";
    world.until("the good one fires", Duration::from_secs(20), fired).await;
    assert_eq!(world.sql(versions).await, before, "paused once");
    let others = "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where s.name <> 'good'";
    assert_eq!(world.number(others).await, 0);
    assert!(!render().lines().any(|line| line.starts_with("berth_tick_total{")
        && line.contains("panic")
        && !line.ends_with(" 0")));
    running.stop().await;
}
