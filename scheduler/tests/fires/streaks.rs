//! A schedule whose tasks fail one after the other is paused by the platform.

use crate::world::{World, every, schedule, seconds};
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::services::PrivatePostgres;

mod own_engines {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn after_three_failures_in_a_row_no_later_due_time_makes_a_task() {
        // Transactions that other tests leave open in the same engine would hold up who counts.
        let engine = PrivatePostgres::start().await.unwrap();
        let database = TestDatabase::on(&engine.url().unwrap()).await.unwrap();
        let world = World::on(database, &[]);
        let scope = world.tenant().await;
        for (name, enough) in [("weak", Some(3)), ("patient", None)] {
            let mut new = schedule(name, every("1s"));
            new.pause_after_failures = enough;
            // Nobody runs them: each expires.
            let mut late = testkit::schedules::noop_template("v1");
            (late.expire_if_late, late.delay_tolerance) = (true, Duration::from_millis(100));
            new.template = late.into();
            world.put(&scope, &new).await;
        }
        let running = world.scheduler().await;
        let paused = "select bool_or(paused_at is not null) from schedule";
        world.until("one is paused", Duration::from_secs(20), paused).await;
        seconds(3.0).await;
        running.stop().await;
        assert_eq!(
            world.sql("select name from schedule where paused_at is not null").await,
            "weak"
        );
        let by = "select paused_by || ' ' || failures_in_row from schedule where name = 'weak'";
        assert_eq!(world.sql(by).await, "system 3");
        let of_weak =
            "from schedule_fire f join schedule s on s.id = f.schedule_id where s.name = 'weak'";
        let made = world.number(&format!("select count(f.task_id) {of_weak}")).await;
        assert_eq!(made, 3, "a second lies between two, and a third of one until it is seen");
        let after = format!("select count(f.task_id) {of_weak} and f.due_at > s.paused_at");
        assert_eq!(world.number(&after).await, 0);
        let written = format!("select count(*) {of_weak} and f.outcome = 'paused'");
        assert!(world.number(&written).await >= 2, "its due times are written down");
        let query = "select detail ->> 'task' = 'task_' || replace((select f.task_id::text from schedule_fire f join schedule s on s.id = f.schedule_id
                where s.name = 'weak' and f.task_id is not null order by f.due_at desc limit 1), '-', '')
            from task_event where kind = 'schedule_paused'";
        assert_eq!(world.sql(query).await, "t", "the event names the last of them");
        let others = "select count(f.task_id) from schedule_fire f join schedule s on s.id = f.schedule_id where s.name = 'patient'";
        assert!(world.number(others).await > 4);
        assert_eq!(world.faults(Duration::from_secs(1)).await, Vec::<String>::new());
    }
}
