//! Tasks that last longer than the time to the next due time: none here ever ends by itself.

use crate::world::{World, every, schedule, seconds};
use domain::schedule::Overlap;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn each_policy_makes_the_exact_count_and_no_slow_one_delays_the_others() {
    let world = World::new().await;
    let scope = world.tenant().await;
    for overlap in Overlap::ALL {
        let mut slow = schedule(overlap.as_str(), every("1s"));
        slow.overlap = overlap;
        world.put(&scope, &slow).await;
    }
    for at in 0..300 {
        world.put(&scope, &schedule(&format!("other-{at}"), every("5s"))).await;
    }
    let running = world.scheduler().await;
    seconds(12.0).await;
    running.stop().await;
    assert_eq!(
        world
            .faults(Duration::from_secs(1))
            .await
            .iter()
            .filter(|fault| !fault.contains("no row"))
            .count(),
        0
    );
    let count = async |name: &str, what: &str| {
        let sql = format!(
            "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where s.name = '{name}' and {what}"
        );
        world.number(&sql).await
    };
    let rows = count("allow", "true").await;
    assert!(rows >= 9, "{rows}");
    for (policy, made) in [("skip", 1), ("buffer_one", 2)] {
        let all = count(policy, "true").await;
        assert_eq!(count(policy, "f.task_id is not null").await, made, "{policy}");
        assert_eq!(count(policy, "f.outcome = 'skipped_overlap'").await, all - made, "{policy}");
    }
    for policy in ["allow", "buffer_all"] {
        let all = count(policy, "true").await;
        assert_eq!(count(policy, "f.task_id is not null").await, all, "{policy}");
    }
    // Where two came in one look, the newer took the place of the one before at once.
    let (all, made) =
        (count("cancel_other", "true").await, count("cancel_other", "f.task_id is not null").await);
    let replaced = count("cancel_other", "f.outcome = 'skipped_overlap'").await;
    assert_eq!(made + replaced, all);
    let cancelled =
        world.number("select count(*) from task_history where state = 'cancelled'").await;
    assert_eq!(cancelled, made - 1);
    assert!(made >= 9, "{made} of {all}");
    let others = "fired_at > now() - interval '8 seconds' and schedule_id in (select id from schedule where name like 'other%')";
    let p99 = world.lateness_ms(0.99, others).await;
    assert!(p99 <= 250.0, "300 at one moment: p99 {p99} ms");
}
