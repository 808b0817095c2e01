//! Overdue times that are made up for while an earlier task may live.

use super::*;
use crate::id::{ScheduleId, TaskId};
use crate::schedule::{Reckoner, Spec, Timing};
use crate::time::Timestamp;
use proptest::prelude::*;
use std::time::Duration;
use uuid::Uuid;

const SCHEDULE: ScheduleId = ScheduleId(Uuid::nil());

fn at(second: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + second, 0).unwrap()
}

/// Due each minute from 0 on, and looked at `minutes` and a half later for the first time.
fn decided(
    minutes: i64,
    (misfire, overlap): (Misfire, Overlap),
    (live, queued): (&[Made], usize),
    can_queue: bool,
) -> Decision {
    let every =
        Spec::Every { every: Duration::from_secs(60), anchor: None, counting: Default::default() };
    let reckoner = Reckoner::new(&Timing::of(vec![every]), at(-60)).unwrap();
    decide(&Situation {
        schedule: SCHEDULE,
        sources: vec![Source { reckoner: &reckoner, after: at(-60), until: None }],
        next: Coming::of(SCHEDULE, &reckoner, at(0)),
        until: None,
        fixed_delay: None,
        max_fires: None,
        fires: 0,
        paused: false,
        suspended: false,
        pool_granted: true,
        can_start: true,
        misfire,
        misfire_after: Duration::from_secs(10),
        overlap,
        can_queue,
        live,
        queued,
        room: u64::MAX,
        at_once: u64::MAX,
        now: at(minutes * 60 + 30),
    })
}

fn live(count: usize) -> Vec<Made> {
    (0..count).map(|n| Made::Task(TaskId(Uuid::from_u128(n as u128)))).collect()
}

fn catch_up(count: u32, per_second: Option<u32>) -> Misfire {
    Misfire::CatchUp { count, max_age: Duration::from_secs(86_400), per_second }
}

#[test]
fn under_skip_each_that_is_made_up_for_runs_after_the_one_before() {
    for (misfire, tasks) in [(Misfire::FireNow, 31), (catch_up(10, None), 10)] {
        let decision = decided(30, (misfire, Overlap::Skip), (&[], 0), true);
        let made: Vec<_> = decision.rows.iter().filter(|row| row.outcome.makes_task()).collect();
        assert_eq!(made.len(), tasks, "{misfire:?}");
        assert!(made.iter().all(|row| row.queued), "no two at once");
        let left_out = decision.rows.iter().filter(|row| row.outcome == Outcome::SkippedOverlap);
        assert_eq!(left_out.count(), 0);
    }
}

#[test]
fn a_pace_holds_for_what_runs_one_after_the_other() {
    let decision = decided(30, (catch_up(4, Some(2)), Overlap::Skip), (&[], 0), true);
    let made = decision.rows.iter().filter(|row| row.outcome.makes_task());
    let delays: Vec<_> = made.map(|row| row.delay.as_millis()).collect();
    assert_eq!(delays, [0, 500, 1000, 1500]);
}

#[test]
fn what_runs_already_is_not_joined_but_what_is_made_up_for_is() {
    let ten = catch_up(10, None);
    let made = |live: &[Made], queued| {
        let decision = decided(30, (ten, Overlap::Skip), (live, queued), true);
        decision.rows.iter().filter(|row| row.outcome.makes_task()).count()
    };
    assert_eq!(made(&live(1), 0), 0, "it would run beside one that waits for nobody");
    assert_eq!(made(&live(3), 3), 10, "it runs after those that were made up for before");
    assert_eq!(made(&live(3), 2), 0);
}

#[test]
fn tasks_that_cannot_queue_run_alone() {
    let decision = decided(30, (catch_up(10, None), Overlap::Skip), (&[], 0), false);
    let made: Vec<_> = decision.rows.iter().filter(|row| row.outcome.makes_task()).collect();
    assert_eq!((made.len(), made[0].queued), (1, false));
}

#[test]
fn a_newer_one_takes_the_place_of_what_it_would_cancel_and_waits_for_no_pace() {
    let decision = decided(30, (catch_up(10, Some(1)), Overlap::CancelOther), (&[], 0), true);
    let made: Vec<_> = decision.rows.iter().filter(|row| row.outcome.makes_task()).collect();
    assert_eq!((made.len(), made[0].delay), (1, Duration::ZERO));
    assert_eq!(made[0].due_at, at(30 * 60), "the newest");
}

proptest! {
    /// Whatever came: under `skip` no task may run beside another, and a policy that makes up makes up.
    #[test]
    fn no_two_run_at_once_under_skip(
        minutes in 0_i64..300,
        count in 1_u32..50,
        lives in 0_usize..4,
        queued in 0_usize..4,
        can_queue: bool,
        fire_now: bool,
    ) {
        let tasks = live(lives);
        let queued = queued.min(lives);
        let misfire = if fire_now { Misfire::FireNow } else { catch_up(count, None) };
        let decision = decided(minutes, (misfire, Overlap::Skip), (&tasks, queued), can_queue);
        let made: Vec<_> = decision.rows.iter().filter(|row| row.outcome.makes_task()).collect();
        let alone = made.iter().filter(|row| !row.queued).count() + lives - queued;
        let in_turn = usize::from(queued > 0 || made.iter().any(|row| row.queued));
        // Those that were made before are none of this decision's.
        prop_assert!(made.is_empty() || alone + in_turn <= 1, "{made:?}");
        let overdue = usize::try_from(minutes).unwrap() + 1;
        let wanted = if fire_now { overdue } else { overdue.min(count as usize) };
        let expected = match (lives > queued, can_queue) {
            (true, _) => 0,
            (false, true) => wanted,
            (false, false) => usize::from(lives == 0),
        };
        prop_assert_eq!(made.len(), expected);
        let rows = usize::try_from(minutes).unwrap() + 1;
        prop_assert_eq!(decision.rows.len(), rows.min(MOST_ROWS));
    }
}
