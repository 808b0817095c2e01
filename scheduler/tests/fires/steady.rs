//! Due times that come while all is well, and backfills.

use crate::world::{World, every, schedule, seconds, timing};
use domain::schedule::Spec;
use domain::schedule::Timing;
use std::time::Duration;
use store::schedule::{Backfill, BackfillAnswer, PutSchedule, backfill};
use store::task::transition;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn each_due_time_is_fired_once_and_in_time() {
    let world = World::new().await;
    let scope = world.tenant().await;
    for at in 0..200 {
        world.put(&scope, &schedule(&format!("s{at}"), every("1s"))).await;
    }
    let running = world.scheduler().await;
    seconds(8.0).await;
    running.stop().await;
    assert_eq!(world.faults(SECOND).await, Vec::<String>::new());
    let fired = world.number("select count(*) from schedule_fire where outcome = 'fired'").await;
    assert!(fired >= 200 * 5, "{fired}");
    let p99 = world.lateness_ms(0.99, "fired_at > now() - interval '5 seconds'").await;
    assert!(p99 <= 500.0, "200 at one moment: p99 {p99} ms");
}

mod alone {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn one_that_is_due_at_once_is_fired_within_a_quarter_of_a_second() {
        let world = World::new().await;
        let scope = world.tenant().await;
        let running = world.scheduler().await;
        world
            .until(
                "the shards are owned",
                SECOND * 10,
                "select bool_and(owner is not null) from schedule_shard",
            )
            .await;
        for at in 0..40 {
            let soon = Timing::of(vec![Spec::After(Duration::from_millis(50 + 10 * at))]);
            world.put(&scope, &schedule(&format!("s{at}"), soon)).await;
        }
        let over = "select count(*) = 40 from schedule where ended_at is not null and due_at is null and fires = 1";
        world.until("all have fired", SECOND * 10, over).await;
        let p99 = world.lateness_ms(0.99, "true").await;
        assert!(p99 <= 250.0, "{p99} ms");
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fixed_delay_counts_from_the_end_of_the_task() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let delay = timing(r#"{"specs":[{"every":{"every":"1s","counting":"fixed_delay"}}]}"#);
    world.put(&scope, &schedule("s", delay)).await;
    let running = world.scheduler().await;
    let fired = "select count(*) from schedule_fire";
    world.until("it has fired", SECOND * 10, "select count(*) = 1 from schedule_fire").await;
    seconds(2.0).await;
    assert_eq!(world.number(fired).await, 1, "its task has not ended");
    let task = world.sql("select 'task_' || replace(awaits::text, '-', '') from schedule").await;
    let task = task.parse().unwrap();
    transition::cancel_requested(&world.api, &scope, &[task], SECOND).await.unwrap();
    world.until("it fires again", SECOND * 10, "select count(*) = 2 from schedule_fire").await;
    let gap = "select (extract(epoch from (select max(due_at) from schedule_fire) - finished_at) * 1000)::bigint from task_history";
    assert_eq!(world.number(gap).await, 1000);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backfill_keeps_its_pace_while_the_schedule_is_paused() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let mut paused = schedule("s", every("1m"));
    paused.paused = Some(true);
    world.put(&scope, &paused).await;
    world.sql("update schedule set created_at = created_at - interval '1 day'").await;
    let running = world.scheduler().await;
    let to = world.now().await - SECOND * 120;
    let range = Backfill { from: to - SECOND * 60 * 30, to, dry_run: false, per_second: 10.0 };
    let BackfillAnswer::Planned(plan) =
        backfill(&world.api, &scope, "s", range, "bbbbbbbbbbbb").await.unwrap()
    else {
        panic!("it can be done")
    };
    assert_eq!(plan.to_fire, 30);
    world.until("it is done", SECOND * 20, "select count(*) = 0 from schedule_backfill").await;
    let fired = "select count(*) from schedule_fire where kind = 'backfill'";
    assert_eq!(world.number(fired).await, 30);
    let took = "select (extract(epoch from max(fired_at) - min(fired_at)) * 1000)::bigint from schedule_fire where kind = 'backfill'";
    let took = world.number(took).await;
    assert!((1800..6000).contains(&took), "30 at 10 a second took {took} ms");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backfill_that_fails_does_not_stop_the_others() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let to = world.now().await - SECOND * 120;
    let range = Backfill { from: to - SECOND * 60 * 30, to, dry_run: false, per_second: 100.0 };
    let mut refused = None;
    for name in ["range", "refused", "good"] {
        let paused = schedule(name, every("1m"));
        let put = world.put(&scope, &PutSchedule { paused: Some(true), ..paused }).await;
        refused = refused.or((name == "refused").then_some(put.id));
        world.sql("update schedule set created_at = created_at - interval '1 day'").await;
        let planned = backfill(&world.api, &scope, name, range, "bbbbbbbbbbbb").await.unwrap();
        assert!(matches!(planned, BackfillAnswer::Planned(_)), "{planned:?}");
    }
    world
        .sql("update schedule set template = jsonb_set(template::jsonb, '{max_attempts}', '0')::text where name = 'range'")
        .await;
    let refused = refused.unwrap().uuid();
    world
        .sql(&format!(
            "alter table schedule_fire add constraint refuses check (schedule_id <> '{refused}')"
        ))
        .await;
    let running = world.scheduler().await;
    let left = "select count(*) = 1 from schedule_backfill";
    world.until("the good one is done", SECOND * 20, left).await;
    let fired = "select count(*) from schedule_fire where kind = 'backfill'";
    assert_eq!(world.number(fired).await, 30);
    let left = "select string_agg(s.name, ' ') from schedule_backfill b join schedule s on s.id = b.schedule_id";
    assert_eq!(world.sql(left).await, "refused", "it is tried again later");
    let paused = "select paused_because from schedule where name = 'range'";
    assert_eq!(world.sql(paused).await, "malformed: template cannot be read");
    running.stop().await;
}
