//! Jitter, and the order in which due times are fired that it makes.

use super::*;
use crate::id::ScheduleId;
use crate::schedule::{Reckoner, Spec, Steps, Timing};
use crate::time::Timestamp;
use chrono::TimeDelta;
use proptest::prelude::*;
use std::time::Duration;
use uuid::Uuid;

fn at(second: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + second, 0).unwrap()
}

fn every(every: u64, jitter: u64, created: i64) -> Reckoner {
    let spec = Spec::Every {
        every: Duration::from_secs(every),
        anchor: None,
        counting: Default::default(),
    };
    let jitter = Duration::from_secs(jitter);
    Reckoner::new(&Timing { jitter, ..Timing::of(vec![spec]) }, at(created)).unwrap()
}

fn id(n: u128) -> ScheduleId {
    ScheduleId(Uuid::from_u128(n))
}

fn source(reckoner: &Reckoner, after: i64, until: Option<i64>) -> Source<'_> {
    Source { reckoner, after: at(after), until: until.map(at) }
}

/// A scheduler that is never away: it looks whenever something is to be fired, and a little later. What it wrote, and when.
fn fired(
    schedule: ScheduleId,
    reckoner: &Reckoner,
    misfire: Misfire,
    lasts: i64,
) -> Vec<(FireRow, Timestamp)> {
    let sources = vec![source(reckoner, 0, None)];
    let mut coming = first_coming(schedule, &sources, Coming::after(at(0))).unwrap();
    let (mut written, mut fires) = (Vec::new(), 0);
    while coming.fire_at < at(lasts) {
        let now = coming.fire_at + TimeDelta::milliseconds(7);
        let decision = decide(&Situation {
            schedule,
            sources: sources.clone(),
            next: coming,
            until: None,
            fixed_delay: None,
            max_fires: None,
            fires,
            paused: false,
            suspended: false,
            pool_granted: true,
            can_start: true,
            misfire,
            misfire_after: Duration::from_secs(10),
            overlap: Overlap::Allow,
            can_queue: true,
            live: &[],
            queued: 0,
            room: u64::MAX,
            at_once: u64::MAX,
            now,
        });
        fires = decision.fires;
        written.extend(decision.rows.into_iter().map(|row| (row, now)));
        let Next::At(next) = decision.next else { panic!("{:?}", decision.next) };
        assert!(next > coming, "it goes on");
        coming = next;
    }
    written
}

#[test]
fn while_nobody_is_away_every_due_time_fires_in_time_however_wide_the_jitter() {
    for (step, jitter) in [(2, 60), (1, 600), (60, 7), (5, 0), (10, 10)] {
        for misfire in [Misfire::Skip, Misfire::FireNextSoon, Misfire::FireNow] {
            let reckoner = every(step, jitter, 0);
            let lasts = i64::try_from(jitter).unwrap() + 400;
            let mut written = fired(id(7), &reckoner, misfire, lasts);
            for (row, now) in &written {
                assert_eq!(row.outcome, Outcome::Fired, "{step} {jitter} {misfire:?}");
                let wait = *now - row.due_at;
                let most = TimeDelta::milliseconds(7 + 1000 * i64::try_from(jitter).unwrap());
                assert!(wait >= TimeDelta::zero() && wait <= most, "{wait}");
            }
            assert!(written.is_sorted_by_key(|(_, now)| *now));
            written.sort_unstable_by_key(|(row, _)| row.due_at);
            // Each once; those of the last moments may still wait.
            let due: Vec<_> = written.iter().map(|(row, _)| row.due_at).collect();
            let step = i64::try_from(step).unwrap();
            let all: Vec<_> =
                (1..).map(|n| at(n * step)).take_while(|due| *due < at(400)).collect();
            assert!(due.starts_with(&all), "{step} {jitter} {misfire:?}: {due:?}");
            assert!(due.is_sorted_by(|one, other| one < other), "none twice");
        }
    }
}

#[test]
fn waits_are_evenly_spread_over_the_jitter_also_where_due_times_are_much_nearer() {
    // 20 equal parts of the range; the statistic is above 45.3 by chance once in a million.
    const PARTS: usize = 20;
    for (step, jitter) in [(2, 60), (1, 600), (30, 30), (600, 60)] {
        let reckoner = every(step, jitter, 0);
        let lasts = i64::try_from(step * 4000 + jitter).unwrap();
        let mut parts = [0_u32; PARTS];
        let mut count = 0_u32;
        for (row, now) in fired(id(99), &reckoner, Misfire::Skip, lasts) {
            // What is due within the last jitter is fired in part.
            if row.due_at > at(lasts - i64::try_from(jitter).unwrap()) {
                continue;
            }
            let wait = (now - row.due_at).num_milliseconds() - 7;
            let part = wait * i64::try_from(PARTS).unwrap() / i64::try_from(jitter * 1000).unwrap();
            parts[usize::try_from(part).unwrap().min(PARTS - 1)] += 1;
            count += 1;
        }
        assert!(count > 3900, "{count}");
        let expected = f64::from(count) / PARTS as f64;
        let chi: f64 = parts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        assert!(chi < 60.0, "every {step} s, jitter {jitter} s: {chi} of {parts:?}");
    }
}

#[test]
fn a_due_time_that_stands_is_fired_also_where_no_rule_has_it_any_more() {
    let reckoner = every(60, 0, 0);
    let stands = Coming { fire_at: at(30), due_at: at(30) };
    let sources = [source(&reckoner, 0, None)];
    assert_eq!(first_coming(id(1), &sources, stands).unwrap().due_at, at(60));
    let all =
        upcoming((id(1), sources[0]), Coming::of(id(1), &reckoner, at(60)), 3, Steps::unlimited())
            .due;
    let due: Vec<_> = all.iter().map(|due| due.at).collect();
    assert_eq!(due, [at(60), at(120), at(180)]);
}

#[test]
fn a_preview_shows_what_waits_for_its_jitter_too() {
    let reckoner = every(2, 60, 0);
    let all = [source(&reckoner, 0, None)];
    // The first that is fired after a minute, and all that will be by then.
    let next = first_coming(id(3), &all, Coming::after(at(60))).unwrap();
    let mut due: Vec<_> = upcoming((id(3), all[0]), next, 40, Steps::unlimited())
        .due
        .iter()
        .map(|due| due.at)
        .collect();
    assert_eq!((due.len(), due[0]), (40, next.due_at));
    due.sort_unstable();
    let waits = |due: &Timestamp| Coming::of(id(3), &reckoner, *due) >= next;
    assert!(due.iter().all(waits), "none that has been fired");
    assert!(due[0] < at(60), "some were due before");
}

proptest! {
    /// Two timings one after the other: the due times of both, each once, in the order of their fires, from wherever it begins.
    #[test]
    fn a_timeline_has_each_due_time_once_and_in_order(
        schedule: u128,
        (first, second) in (1_u64..20, 1_u64..20),
        (one, other) in (0_u64..40, 0_u64..40),
        change in 1_i64..100,
        begin in 0_i64..150,
    ) {
        let (old, new) = (every(first, one, 0), every(second, other, 0));
        let sources = [source(&old, 0, Some(change)), source(&new, change, None)];
        let schedule = id(schedule);
        let mut all: Vec<_> = (1..=400)
            .map(at)
            .flat_map(|due| {
                let (reckoner, step) =
                    if due <= at(change) { (&old, first) } else { (&new, second) };
                let is_due = (due - at(0)).num_seconds() % i64::try_from(step).unwrap() == 0;
                is_due.then(|| Coming::of(schedule, reckoner, due))
            })
            .collect();
        all.sort_unstable();
        let begin = Coming::after(at(begin));
        let expected: Vec<_> =
            all.into_iter().filter(|coming| *coming > begin && coming.fire_at <= at(350)).collect();
        let found: Vec<_> = timeline::Timeline::new(schedule, &sources, begin)
            .take_while(|coming| coming.fire_at <= at(350))
            .collect();
        prop_assert_eq!(found, expected);
    }

    /// A situation that ends where its schedule changed leaves the rest to the next one, whole.
    #[test]
    fn what_comes_after_a_change_is_left_to_the_next_situation(
        schedule: u128,
        jitter in 0_u64..40,
        change in 5_i64..100,
    ) {
        let reckoner = every(3, jitter, 0);
        let schedule = id(schedule);
        let first = Situation {
            schedule,
            sources: vec![source(&reckoner, 0, None)],
            next: first_coming(schedule, &[source(&reckoner, 0, None)], Coming::after(at(0))).unwrap(),
            until: Some(at(change)),
            fixed_delay: None,
            max_fires: None,
            fires: 0,
            paused: false,
            suspended: false,
            pool_granted: true,
            can_start: true,
            misfire: Misfire::FireNow,
            misfire_after: Duration::from_secs(10),
            overlap: Overlap::Allow,
            can_queue: true,
            live: &[],
            queued: 0,
            room: u64::MAX,
            at_once: u64::MAX,
            now: at(200),
        };
        let decision = decide(&first);
        let fires = |due| Coming::of(schedule, &reckoner, due).fire_at;
        prop_assert!(decision.rows.iter().all(|row| fires(row.due_at) <= at(change)));
        let Next::At(next) = decision.next else { panic!("{:?}", decision.next) };
        prop_assert!(next.fire_at > at(change));
        let second = decide(&Situation { next, until: None, paused: true, ..first });
        prop_assert!(second.rows.iter().all(|row| row.outcome == Outcome::Paused));
        let mut due: Vec<_> =
            decision.rows.iter().chain(&second.rows).map(|row| row.due_at).collect();
        due.sort_unstable();
        let expected: Vec<_> =
            (1..=66).map(|n| at(n * 3)).filter(|due| fires(*due) <= at(200)).collect();
        prop_assert_eq!(due, expected);
    }
}
