//! What canaries report, and what the public status makes of it.

use crate::support::World;
use chrono::{DurationRound, TimeDelta};
use domain::canary::{Health, Seen};
use domain::time::Timestamp;
use store::canary::{self, Report, Status};
use uuid::Uuid;

fn seen(submits: u32, faults: u32, late_ms: u32) -> Seen {
    let well = submits - faults;
    let mut seen = Seen {
        submits,
        accepted: well,
        due: well,
        reached: well,
        on_time: well,
        ..Seen::default()
    };
    (0..well).for_each(|_| seen.lateness.add(late_ms));
    seen
}

fn this_hour() -> Timestamp {
    runtime::clock::wall().duration_trunc(TimeDelta::hours(1)).unwrap()
}

fn of(canary: &str, hour: Timestamp, seen: Seen) -> Report {
    let failing_since = (seen.accepted < seen.submits).then_some(hour);
    Report { canary: canary.parse().unwrap(), start: Uuid::from_u128(1), hour, seen, failing_since }
}

async fn told(world: &World, report: &Report) -> Status {
    canary::report(&world.admin, report).await.unwrap();
    canary::status(&world.admin).await.unwrap()
}

#[tokio::test]
async fn a_report_that_comes_twice_or_late_counts_once() {
    let world = World::new().await;
    let hour = this_hour();
    assert_eq!(canary::status(&world.admin).await.unwrap().health, Health::Unknown);
    let first = of("eu", hour, seen(2, 0, 7));
    let second = of("eu", hour, seen(5, 0, 7));
    for (report, submits) in [(&first, 2), (&second, 5), (&second, 5), (&first, 5)] {
        let status = told(&world, report).await;
        assert_eq!((status.recent.submits, status.recent.lateness.within(99)), (submits, Some(10)));
        assert_eq!((status.health, status.failing_since), (Health::Operational, None));
    }
    // What the same canary saw before it was started again stays.
    let again = Report { start: Uuid::from_u128(2), ..first };
    assert_eq!(told(&world, &again).await.recent.submits, 7);
}

#[tokio::test]
async fn days_are_summed_and_old_ones_forgotten() {
    let world = World::new().await;
    let hour = this_hour();
    let yesterday = hour - TimeDelta::days(1) - TimeDelta::hours(1);
    told(&world, &of("eu", yesterday, seen(10, 4, 400))).await;
    told(&world, &of("eu", hour - TimeDelta::days(89), seen(3, 0, 1))).await;
    told(&world, &of("us", hour, seen(3, 1, 1))).await;
    let status = told(&world, &of("eu", hour, seen(1, 0, 90_000))).await;
    let days: Vec<_> =
        status.days.iter().map(|day| (day.seen.submits, day.seen.accepted)).collect();
    assert_eq!(days, [(3, 3), (10, 6), (4, 3)]);
    assert_eq!(status.days.last().unwrap().day, status.now.date_naive());
    assert_eq!(status.days.last().unwrap().seen.lateness.within(100), Some(300_000));
    assert_eq!(status.recent.submits, 4, "yesterday's hour is over a day ago");
    assert_eq!((status.health, status.failing_since), (Health::Degraded, Some(hour)));

    told(&world, &of("eu", hour - TimeDelta::days(92), seen(8, 0, 1))).await;
    assert_eq!(world.number("select count(*) from canary_hour").await, 4);
}

#[tokio::test]
async fn a_canary_that_is_silent_says_nothing_of_now() {
    let world = World::new().await;
    let hour = this_hour();
    told(&world, &of("eu", hour, seen(3, 0, 1))).await;
    let down = told(&world, &of("us", hour, seen(3, 3, 1))).await;
    assert_eq!(down.health, Health::Degraded);
    world
        .sql("update canary_hour set updated_at = now() - interval '6 minutes' where canary = 'eu'")
        .await;
    assert_eq!(canary::status(&world.admin).await.unwrap().health, Health::Down);
    // Well again, in the next hour or in this one.
    let well = Report { failing_since: None, ..of("us", hour, seen(4, 3, 1)) };
    assert_eq!(told(&world, &well).await.health, Health::Operational);
    world.sql("update canary_hour set updated_at = now() - interval '6 minutes'").await;
    assert_eq!(canary::status(&world.admin).await.unwrap().health, Health::Unknown);
}
