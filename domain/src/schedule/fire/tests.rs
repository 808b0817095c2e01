//! What becomes of due times, over every combination of policies.

use super::*;
use crate::id::{ScheduleId, TaskId};
use crate::schedule::{Reckoner, Spec, Timing};
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::time::Duration;
use uuid::Uuid;

const CATCH_UP: Misfire =
    Misfire::CatchUp { count: 3, max_age: Duration::from_secs(240), per_second: Some(2) };

fn at(second: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + second, 0).unwrap()
}

/// Due each minute from 0.
fn minutely(max_fires: Option<u64>) -> Reckoner {
    let every =
        Spec::Every { every: Duration::from_secs(60), anchor: None, counting: Default::default() };
    Reckoner::new(&Timing { max_fires, ..Timing::of(vec![every]) }, at(-60)).unwrap()
}

fn next(due_at: Timestamp) -> Coming {
    Coming { fire_at: due_at, due_at }
}

fn source(reckoner: &Reckoner) -> Source<'_> {
    Source { reckoner, after: at(-60), until: None }
}

fn situation<'a>(reckoner: &'a Reckoner, live: &'a [Made], now: Timestamp) -> Situation<'a> {
    Situation {
        schedule: ScheduleId(Uuid::nil()),
        sources: vec![source(reckoner)],
        next: Coming::of(ScheduleId(Uuid::nil()), reckoner, at(0)),
        until: None,
        fixed_delay: reckoner.is_fixed_delay().then_some(reckoner),
        max_fires: reckoner.max_fires(),
        fires: 5,
        paused: false,
        suspended: false,
        pool_granted: true,
        can_start: true,
        misfire: Misfire::FireNextSoon,
        misfire_after: Duration::from_secs(10),
        overlap: Overlap::Allow,
        can_queue: true,
        live,
        queued: 0,
        room: u64::MAX,
        at_once: u64::MAX,
        now,
    }
}

fn live(count: usize) -> Vec<Made> {
    (0..count).map(|n| Made::Task(TaskId(Uuid::from_u128(n as u128)))).collect()
}

fn outcomes(decision: &Decision) -> Vec<Outcome> {
    decision.rows.iter().map(|row| row.outcome).collect()
}

/// What should come of it, found in another way: by counting.
fn tasks_expected(s: &Situation<'_>, ages: &[i64]) -> usize {
    if s.paused || s.suspended || !s.pool_granted {
        return 0;
    }
    let overdue = ages.iter().filter(|age| **age > 10).count();
    let wanted = match s.misfire {
        Misfire::FireNow => overdue,
        Misfire::FireNextSoon => overdue.min(1),
        Misfire::Skip => 0,
        Misfire::CatchUp { .. } => {
            ages.iter().filter(|age| **age > 10 && **age <= 240).count().min(3)
        }
    };
    let made_up = if matches!(s.misfire, Misfire::FireNow | CATCH_UP) { wanted } else { 0 };
    let wanted = wanted + ages.len() - overdue;
    // What is made up for does not stand in its own way; all else does.
    let beside = |most: usize| {
        let queued = if s.can_queue && s.live.len() < most { made_up } else { 0 };
        most.saturating_sub(s.live.len()).min(wanted).max(queued)
    };
    let beside = match s.overlap {
        Overlap::Skip => beside(1),
        Overlap::BufferOne => beside(2),
        Overlap::BufferAll | Overlap::Allow => wanted,
        Overlap::CancelOther => wanted.min(1),
    };
    let most = s.max_fires.map_or(usize::MAX, |most| (most - s.fires) as usize);
    beside.min(s.room as usize).min(most)
}

#[test]
fn every_combination_gives_each_due_time_one_outcome_and_the_right_number_of_tasks() {
    let reckoners = [minutely(None), minutely(Some(6)), minutely(Some(7))];
    let tasks = live(3);
    let mut seen = 0;
    for reckoner in &reckoners {
        for misfire in [Misfire::FireNow, Misfire::FireNextSoon, Misfire::Skip, CATCH_UP] {
            for overlap in Overlap::ALL {
                for (paused, suspended, pool_granted) in [
                    (false, false, true),
                    (true, false, true),
                    (false, true, true),
                    (true, true, true),
                    (false, false, false),
                ] {
                    for (lives, can_queue) in (0..=3).flat_map(|n| [(n, true), (n, false)]) {
                        for room in [0, 1, 2, u64::MAX] {
                            for now in [-1, 0, 5, 11, 60, 65, 239, 241, 600, 665] {
                                let s = Situation {
                                    misfire,
                                    overlap,
                                    paused,
                                    suspended,
                                    pool_granted,
                                    can_queue,
                                    room,
                                    ..situation(reckoner, &tasks[..lives], at(now))
                                };
                                check(&s, now);
                                seen += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen, 3 * 4 * 5 * 5 * 8 * 4 * 10);
}

fn check(s: &Situation<'_>, now: i64) {
    let decision = decide(s);
    let all: Vec<i64> = (0..).map(|n| n * 60).take_while(|due| *due <= now).collect();
    let ages: Vec<i64> = all.iter().map(|due| now - due).collect();
    let made = decision.rows.iter().filter(|row| row.outcome.makes_task()).count();
    assert_eq!(made, tasks_expected(s, &ages), "{s:?}\n{decision:?}");
    assert_eq!(decision.fires, s.fires + made as u64);
    let spent = s.max_fires.is_some_and(|most| decision.fires >= most);
    let due: Vec<i64> =
        decision.rows.iter().map(|row| (row.due_at - at(0)).num_seconds()).collect();
    assert!(all.starts_with(&due), "in order, and none passed over");
    if spent {
        assert_eq!(decision.next, Next::Over);
    } else {
        assert_eq!(due, all);
        assert_eq!(decision.next, Next::At(next(at(all.len() as i64 * 60))));
    }
    for (row, age) in decision.rows.iter().zip(&ages) {
        match row.outcome {
            Outcome::Fired => assert!(*age <= 1),
            Outcome::Late => assert!(*age > 1),
            Outcome::SkippedOverlap => {
                assert!(!matches!(s.overlap, Overlap::Allow | Overlap::BufferAll))
            }
            Outcome::CollapsedMisfire => assert!(*age > 10 && s.misfire == Misfire::FireNextSoon),
            Outcome::SkippedMisfire => {
                assert!(*age > 10 && matches!(s.misfire, Misfire::Skip | CATCH_UP))
            }
            Outcome::Paused => assert!(s.paused && !s.suspended),
            Outcome::Suspended => assert!(s.suspended),
            Outcome::ShedQuota => assert!(made as u64 == s.room),
            Outcome::PoolUnavailable => assert!(!s.pool_granted && !s.paused && !s.suspended),
            Outcome::WorkflowUnavailable => assert!(!s.can_start),
            Outcome::ShedSpendCap => panic!("only known when its task is stored"),
        }
        assert!(
            !(s.paused || s.suspended)
                || matches!(row.outcome, Outcome::Paused | Outcome::Suspended)
        );
        assert!(row.delay.is_zero() || row.outcome.makes_task() && s.misfire == CATCH_UP);
        let queues = s.can_queue && matches!(s.overlap, Overlap::Skip | Overlap::BufferOne);
        let made_up = *age > 10 && row.outcome.makes_task();
        let made_up = made_up && matches!(s.misfire, Misfire::FireNow | CATCH_UP);
        assert_eq!(row.queued, queues && made_up);
    }
    let cancels = s.overlap == Overlap::CancelOther && made > 0;
    assert_eq!(decision.cancel, if cancels { s.live.to_vec() } else { vec![] });
}

#[test]
fn overdue_times_become_one_which_is_the_newest() {
    let reckoner = minutely(None);
    let decision = decide(&situation(&reckoner, &[], at(185)));
    use Outcome::{CollapsedMisfire, Late};
    assert_eq!(outcomes(&decision), [CollapsedMisfire, CollapsedMisfire, Late, Late]);
    assert_eq!(decision.rows[2].due_at, at(120), "the newest overdue one");
    assert_eq!(decision.rows[3].due_at, at(180), "5 s late and not overdue: one of its own");
}

#[test]
fn what_is_caught_up_is_the_newest_and_comes_at_its_pace() {
    let reckoner = minutely(None);
    let situation = Situation { misfire: CATCH_UP, ..situation(&reckoner, &[], at(600 + 30)) };
    let decision = decide(&situation);
    let made: Vec<_> = decision.rows.iter().filter(|row| row.outcome.makes_task()).collect();
    let due: Vec<_> = made.iter().map(|row| row.due_at).collect();
    let delays: Vec<_> = made.iter().map(|row| row.delay.as_millis()).collect();
    assert_eq!((due, delays), (vec![at(480), at(540), at(600)], vec![0, 500, 1000]));
}

#[test]
fn a_long_backlog_is_decided_in_parts_with_the_same_end() {
    let reckoner = minutely(None);
    let now = at(2500 * 60 + 30);
    let twenty =
        Misfire::CatchUp { count: 20, max_age: Duration::from_secs(86_400), per_second: None };
    for (misfire, tasks) in
        [(Misfire::FireNow, 2501), (Misfire::FireNextSoon, 1), (Misfire::Skip, 0), (twenty, 20)]
    {
        let (mut coming, mut fires, mut rows, mut calls) = (next(at(0)), 0, vec![], 0);
        loop {
            let situation = situation(&reckoner, &[], now);
            let decision = decide(&Situation { next: coming, fires, misfire, ..situation });
            assert!(decision.rows.len() <= MOST_ROWS);
            let Next::At(next) = decision.next else { panic!("{:?}", decision.next) };
            (coming, fires, calls) = (next, decision.fires, calls + 1);
            rows.extend(decision.rows);
            if next.fire_at > now {
                break;
            }
        }
        assert_eq!((rows.len(), fires, calls), (2501, tasks, 3), "{misfire:?}");
        assert!(rows.is_sorted_by(|one, other| one.due_at < other.due_at));
        let last = rows.iter().rposition(|row| row.outcome.makes_task());
        assert_eq!(last, (tasks > 0).then_some(2500));
    }
}

#[test]
fn a_catch_up_that_does_not_fit_is_left_whole_to_the_next_decision() {
    let reckoner = minutely(None);
    let misfire = Misfire::CatchUp {
        count: 900,
        max_age: Duration::from_secs(864_000),
        per_second: Some(100),
    };
    let situation = Situation { misfire, ..situation(&reckoner, &[], at(1500 * 60 + 30)) };
    let first = decide(&situation);
    assert_eq!((first.rows.len(), first.fires), (601, 5), "only what is left out");
    let Next::At(next) = first.next else { panic!("{:?}", first.next) };
    let second = decide(&Situation { next, ..situation });
    assert_eq!((second.rows.len(), second.fires), (900, 905));
    assert_eq!(second.rows.last().unwrap().delay, Duration::from_millis(8990));
}

#[test]
fn a_newer_due_time_takes_the_place_of_one_that_it_would_cancel() {
    let reckoner = minutely(None);
    let tasks = live(2);
    let s = Situation {
        misfire: Misfire::FireNow,
        overlap: Overlap::CancelOther,
        ..situation(&reckoner, &tasks, at(125))
    };
    let decision = decide(&s);
    assert_eq!(
        outcomes(&decision),
        [Outcome::SkippedOverlap, Outcome::SkippedOverlap, Outcome::Late]
    );
    assert_eq!(decision.cancel, tasks);
    let shed = decide(&Situation { room: 0, ..s });
    assert!(shed.cancel.is_empty(), "nothing is cancelled for a task that is not made");
}

#[test]
fn into_a_pool_that_is_not_granted_nothing_is_made_and_for_it_nothing_cancelled() {
    let reckoner = minutely(None);
    let tasks = live(2);
    for overlap in Overlap::ALL {
        let s = Situation {
            misfire: Misfire::Skip,
            pool_granted: false,
            overlap,
            ..situation(&reckoner, &tasks, at(125))
        };
        let decision = decide(&s);
        use Outcome::{PoolUnavailable, SkippedMisfire};
        assert_eq!(
            outcomes(&decision),
            [SkippedMisfire, SkippedMisfire, PoolUnavailable],
            "{overlap}: what was not to fire has its own outcome"
        );
        assert!(decision.cancel.is_empty(), "{overlap}");
        assert_eq!((decision.fires, decision.next), (s.fires, Next::At(next(at(180)))));
    }
}

#[test]
fn a_fixed_delay_waits_for_the_end_of_its_task() {
    let every = Spec::Every {
        every: Duration::from_secs(60),
        anchor: None,
        counting: crate::schedule::Counting::FixedDelay,
    };
    let reckoner = Reckoner::new(&Timing::of(vec![every]), at(-60)).unwrap();
    let now = at(5);
    let fired = decide(&situation(&reckoner, &[], now));
    assert_eq!((outcomes(&fired), fired.next), (vec![Outcome::Late], Next::AfterEnd));
    let paused = decide(&Situation { paused: true, ..situation(&reckoner, &[], now) });
    assert_eq!((outcomes(&paused), paused.next), (vec![Outcome::Paused], Next::At(next(at(65)))));
    let early = decide(&situation(&reckoner, &[], at(-1)));
    assert_eq!((outcomes(&early), early.next), (vec![], Next::At(next(at(0)))));
}

#[test]
fn one_shots_end_with_their_last_due_time() {
    let reckoner = Reckoner::new(&Timing::of(vec![Spec::At(at(0))]), at(-60)).unwrap();
    let decision =
        decide(&Situation { misfire: Misfire::FireNow, ..situation(&reckoner, &[], at(0)) });
    assert_eq!((outcomes(&decision), decision.next), (vec![Outcome::Fired], Next::Over));
    let paused = decide(&Situation { paused: true, ..situation(&reckoner, &[], at(3)) });
    assert_eq!((outcomes(&paused), paused.next), (vec![Outcome::Paused], Next::Over));
}

#[test]
fn a_fire_waits_for_its_jitter_and_is_late_only_by_what_comes_after() {
    let every =
        Spec::Every { every: Duration::from_secs(60), anchor: None, counting: Default::default() };
    let window = Duration::from_secs(50);
    let timing = Timing { jitter: window, ..Timing::of(vec![every]) };
    let reckoner = Reckoner::new(&timing, at(-60)).unwrap();
    let waits = jitter(ScheduleId(Uuid::nil()), at(0), window);
    assert!(waits > Duration::from_secs(2), "the case needs one that waits: {waits:?}");
    let fire_at = at(0) + waits;
    let early = decide(&situation(&reckoner, &[], fire_at - TimeDelta::milliseconds(1)));
    assert_eq!((early.rows.len(), early.next), (0, Next::At(Coming { fire_at, due_at: at(0) })));
    let decision = decide(&situation(&reckoner, &[], fire_at));
    assert_eq!((outcomes(&decision), decision.rows[0].due_at), (vec![Outcome::Fired], at(0)));
}

#[test]
fn jitter_is_always_the_same_within_its_window_and_evenly_spread() {
    let window = Duration::from_secs(10);
    let schedules = (0..10_000_u128).map(|n| ScheduleId(Uuid::from_u128(n)));
    let drawn: Vec<_> = schedules.map(|id| jitter(id, at(0), window)).collect();
    assert!(drawn.iter().all(|wait| *wait <= window));
    for tenth in 0..10 {
        let part = Duration::from_secs(tenth)..Duration::from_secs(tenth + 1);
        let share = drawn.iter().filter(|wait| part.contains(wait)).count();
        assert!((850..1150).contains(&share), "{share} of 10 000 in the {tenth}th tenth");
    }
    let id = ScheduleId(Uuid::from_u128(7));
    // The same in every release: what has been told is kept.
    assert_eq!(jitter(id, at(0), window), jitter(id, at(0), window));
    assert_ne!(jitter(id, at(0), window), jitter(id, at(60), window));
    assert_eq!(jitter(id, at(0), Duration::ZERO), Duration::ZERO);
}

#[test]
fn policies_and_outcomes_read_back_as_written() {
    for overlap in Overlap::ALL {
        assert_eq!(overlap.as_str().parse(), Ok(overlap));
        assert_eq!(serde_json::to_string(&overlap).unwrap(), format!("\"{overlap}\""));
    }
    for &outcome in Outcome::ALL {
        assert_eq!(outcome.as_str().parse(), Ok(outcome));
        assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("\"{outcome}\""));
    }
    for text in [
        r#""fire_now""#,
        r#""fire_next_soon""#,
        r#""skip""#,
        r#"{"catch_up":{"count":10,"max_age":"1h","per_second":5}}"#,
        r#"{"catch_up":{"count":10,"max_age":"1h"}}"#,
    ] {
        let misfire: Misfire = serde_json::from_str(text).unwrap();
        assert!(misfire.is_valid());
        assert_eq!(serde_json::to_string(&misfire).unwrap(), text);
    }
    let usual = |spec| Misfire::usual(&Timing::of(vec![spec]));
    assert_eq!(usual(Spec::At(at(0))), Misfire::FireNow);
    assert_eq!(usual(Spec::Cron("* * * * *".to_owned())), Misfire::FireNextSoon);
    let none = Misfire::CatchUp { count: 0, max_age: Duration::ZERO, per_second: None };
    assert!(!none.is_valid());
}

#[test]
fn a_template_reads_back_as_written() {
    let text = r#"{"name":"a","pool":"default","tier":"basic","resources":{"cpu_millis":250,"memory_mib":512,"disk_mib":1024,"iops":1,"ports":1},"run":{"noop":{"sleep":"1s"}},"delay_tolerance":"5m","execution_cap":"1m","expire_if_late":false,"priority":3,"flexible":true,"concurrency_key":"k","max_attempts":3,"delivery":"at_least_once","unique_key":"u","labels":{"a":"b"}}"#;
    let template: TaskTemplate = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&template).unwrap(), text);
    assert!(serde_json::from_str::<TaskTemplate>(&text.replace("\"name\"", "\"named\"")).is_err());
}

#[test]
fn what_cannot_start_makes_nothing_and_is_no_matter_of_pool_or_quota() {
    let reckoner = minutely(None);
    let mut situation = situation(&reckoner, &[], at(125));
    (situation.misfire, situation.can_start) = (Misfire::FireNow, false);
    (situation.pool_granted, situation.room) = (false, 0);
    let decision = decide(&situation);
    assert_eq!(outcomes(&decision), [Outcome::WorkflowUnavailable; 3]);
    assert_eq!((decision.fires, decision.next), (5, Next::At(next(at(180)))));
    situation.paused = true;
    assert_eq!(outcomes(&decide(&situation)), [Outcome::Paused; 3]);
}

#[test]
fn decisions_that_make_few_at_once_give_the_same_rows_as_one() {
    let reckoner = minutely(None);
    let lives = [Made::Run(crate::id::WorkflowRunId(Uuid::nil()))];
    let catch_up =
        Misfire::CatchUp { count: 3, max_age: Duration::from_secs(240), per_second: None };
    for misfire in [Misfire::FireNow, Misfire::FireNextSoon, Misfire::Skip, catch_up] {
        for overlap in [Overlap::Allow, Overlap::Skip, Overlap::CancelOther] {
            let mut all = situation(&reckoner, &lives, at(425));
            (all.misfire, all.overlap, all.can_queue) = (misfire, overlap, false);
            let whole = decide(&all);
            let mut piece = Situation { at_once: 1, ..all };
            let mut rows = Vec::new();
            let end = loop {
                let decision = decide(&piece);
                assert!(decision.rows.iter().filter(|row| row.outcome.makes_task()).count() <= 1);
                rows.extend(decision.rows);
                piece.fires = decision.fires;
                match decision.next {
                    Next::At(coming) if coming.fire_at <= at(425) => piece.next = coming,
                    next => break next,
                }
            };
            assert_eq!((rows, piece.fires), (whole.rows, whole.fires), "{misfire:?} {overlap}");
            assert_eq!(end, whole.next, "{misfire:?} {overlap}");
        }
    }
}
