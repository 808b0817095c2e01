//! The order of turns, its limits, and that all goes where all may.

use super::*;
use crate::batch::candidate::tests::{at, task, tenant};
use crate::batch::{ConcurrencyKey, Priority};
use proptest::prelude::*;

fn turns(tasks: impl IntoIterator<Item = Candidate>) -> Turns {
    let mut turns = Turns::default();
    tasks.into_iter().for_each(|task| turns.offer(at(0), task));
    turns
}

fn pick(turns: &mut Turns, slots: u64) -> Vec<Candidate> {
    let picks = turns.pick(at(0), slots, &mut Running::default());
    picks.into_iter().map(|pick| pick.candidate).collect()
}

fn of(picked: &[Candidate], owner: u128) -> usize {
    picked.iter().filter(|c| c.tenant == tenant(owner)).count()
}

#[test]
fn a_flood_takes_no_more_than_its_turn() {
    let flood = (0..1000).map(|n| task(1, n, 5));
    let mut turns = turns(flood.chain((0..3).map(|n| task(2, n, 900))));
    let picked = pick(&mut turns, 8);
    assert_eq!((picked.len(), of(&picked, 2)), (8, 3));
    assert_eq!(turns.len(), 995);
}

#[test]
fn weights_divide_the_slots_of_what_waits_already() {
    let mut turns = turns((0..400).flat_map(|n| [task(1, n, 5), task(2, n, 5)]));
    turns.set_weights([(tenant(1), 3.0)]);
    let picked = pick(&mut turns, 400);
    assert!((298..=302).contains(&of(&picked, 1)), "{}", of(&picked, 1));
}

#[test]
fn a_large_task_is_not_overtaken_by_its_own_tenants_small_ones() {
    let large = Candidate { slots: 20, ..task(1, 1, 1) };
    let mut turns = turns([task(2, 9, 1), large.clone(), task(1, 2, 2)]);
    // The other has had a turn already, and so has the first.
    let picked = pick(&mut turns, 1);
    assert_eq!(picked, std::slice::from_ref(&large), "a first pick is always allowed");
    turns.offer(at(0), Candidate { start_deadline: at(0), ..large });
    let picked = pick(&mut turns, 5);
    assert_eq!((of(&picked, 1), of(&picked, 2)), (0, 1));
}

#[test]
fn slots_that_are_too_few_for_the_next_task_are_told_from_nothing_that_waits() {
    let sized = |n| Candidate { slots: 3, ..task(1, n, n as i64) };
    let mut turns = turns((1..=3).map(sized));
    assert_eq!(pick(&mut turns, 8).len(), 2);
    assert!(turns.was_short_of_slots(), "2 slots are left, and the third task needs 3");
    assert_eq!(pick(&mut turns, 8).len(), 1);
    assert!(!turns.was_short_of_slots(), "nothing waits");
    turns.offer(at(0), Candidate { spare_until: Some(at(9)), ..sized(4) });
    turns.offer(at(0), Candidate { spare_until: Some(at(9)), ..sized(5) });
    assert_eq!(pick(&mut turns, 4).len(), 1);
    assert!(turns.was_short_of_slots(), "flexible ones wait for room, too");
}

#[test]
fn who_waits_for_its_own_limit_is_known_until_it_may_go_on() {
    let mut running = Running::default();
    running.set_limits([(tenant(1), 1)]);
    let mut turns = turns([task(1, 1, 1), task(1, 2, 2), task(2, 1, 1)]);
    let held = |turns: &Turns| turns.held_back().collect::<Vec<_>>();
    assert_eq!(turns.pick(at(0), 9, &mut running).len(), 2);
    assert_eq!(held(&turns), [tenant(1)]);
    running.counted([]);
    assert_eq!(turns.pick(at(0), 9, &mut running).len(), 1);
    assert_eq!(held(&turns), []);
}

#[test]
fn no_room_means_no_pick() {
    assert!(pick(&mut turns([task(1, 1, 1)]), 0).is_empty());
}

#[test]
fn what_is_undone_costs_nothing_and_comes_again_if_offered() {
    let mut turns = turns([task(1, 1, 1), task(2, 1, 1), task(2, 2, 2)]);
    let picks = turns.pick(at(0), 1, &mut Running::default());
    turns.undo(&picks[0]);
    turns.offer(at(0), picks[0].candidate.clone());
    assert_eq!(of(&pick(&mut turns, 1), 1), 1);
}

#[test]
fn a_tenant_at_its_limit_hoards_no_credit() {
    let mut running = Running::default();
    running.set_limits([(tenant(1), 1)]);
    let mut turns = turns((0..300).flat_map(|n| [task(1, n, 5), task(2, n, 5)]));
    assert_eq!(turns.pick(at(0), 101, &mut running).len(), 101);
    running.set_limits([]);
    let picks = turns.pick(at(0), 100, &mut running);
    let first = picks.iter().filter(|pick| pick.candidate.tenant == tenant(1)).count();
    assert!((49..=51).contains(&first), "{first}");
}

#[test]
fn a_key_at_its_limit_holds_back_its_own_tasks_only() {
    let key = ConcurrencyKey("db".into());
    let keyed = |n| Candidate { concurrency_key: Some(key.clone()), ..task(1, n, n as i64) };
    let mut running = Running::default();
    running.set_key_limits([((tenant(1), key.clone()), 2)]);
    let mut turns = turns((1..=5).map(keyed).chain([task(1, 9, 900)]));
    let first = turns.pick(at(0), 9, &mut running);
    let numbers = |picks: &[Pick]| -> Vec<_> {
        picks.iter().map(|pick| pick.candidate.task.0.as_u128() % 1000).collect()
    };
    assert_eq!(numbers(&first), [1, 2, 9]);
    assert!(turns.pick(at(0), 9, &mut running).is_empty());
    running.undone(&first[0].candidate);
    assert_eq!(numbers(&turns.pick(at(0), 9, &mut running)), [3]);
    turns.remove(&keyed(4));
    assert_eq!(turns.len(), 1);
    running.set_key_limits([((tenant(1), key.clone()), 3)]);
    assert_eq!(numbers(&turns.pick(at(0), 9, &mut running)), [5]);
}

#[test]
fn flexible_tasks_take_what_is_left_until_their_time_is_nearly_over() {
    let flexible = |n| Candidate { spare_until: Some(at(5000)), ..task(1, n, 10) };
    let mut turns = turns((0..4).map(flexible).chain((0..4).map(|n| task(2, n, 900))));
    let picked = pick(&mut turns, 5);
    assert_eq!((of(&picked, 1), of(&picked, 2)), (1, 4));
    (4..8).for_each(|n| turns.offer(at(0), task(2, n, 900)));
    assert_eq!(of(&pick(&mut turns, 2), 1), 0);
    let picks = turns.pick(at(5000), 4, &mut Running::default());
    assert_eq!(picks.iter().filter(|p| p.candidate.tenant == tenant(1)).count(), 2);
}

#[test]
fn priority_goes_before_and_urgent_tasks_go_before_a_lax_backlog() {
    let lax = (0..1000).map(|n| task(1, n, 3600));
    let urgent = (1000..1100).map(|n| task(1, n, 10));
    let high = Candidate { priority: Priority::new(2).unwrap(), ..task(1, 2000, 120) };
    let picked = pick(&mut turns(lax.chain(urgent).chain([high.clone()])), 101);
    assert_eq!(picked[0], high);
    assert!(picked[1..].iter().all(|c| c.start_deadline == at(10_000)));
}

#[test]
fn what_runs_longer_than_expected_is_charged_while_it_runs() {
    let mut turns = turns((0..100).flat_map(|n| [task(1, n, 900), task(2, n, 900)]));
    let picks = turns.pick(at(0), 2, &mut Running::default());
    picks.iter().for_each(|pick| turns.dispatched(at(0), pick));
    turns.ended(picks[1].candidate.task, Duration::from_secs(1));
    let picks = turns.pick(at(11_000), 10, &mut Running::default());
    assert!(picks.iter().all(|pick| pick.candidate.tenant == tenant(2)));
}

fn window(owner: u128, numbers: std::ops::Range<u128>, more: bool) -> Window {
    let tasks: Vec<_> = numbers.map(|n| task(owner, n, 5)).collect();
    Window { tasks, more_on_time: more, ..Window::default() }
}

#[test]
fn weights_hold_where_only_the_first_of_each_tenant_are_seen() {
    for most in [1, 2, 5, 20] {
        let mut turns = Turns::default();
        turns.set_weights([(tenant(1), 3.0)]);
        let mut had = [0, 0];
        for _ in 0..400 / most {
            turns.forget_tasks();
            for owner in [0, 1] {
                let seen = window(owner as u128 + 1, had[owner]..had[owner] + most, true);
                turns.see(at(0), tenant(owner as u128 + 1), vec![seen], false);
            }
            let picked = pick(&mut turns, u64::try_from(most).unwrap());
            had[0] += of(&picked, 1) as u128;
            had[1] += of(&picked, 2) as u128;
        }
        assert!((298..=302).contains(&had[0]), "{had:?} of {most} at a time");
    }
}

#[test]
fn to_see_the_same_again_changes_nothing() {
    let all = || (0..50).flat_map(|n| [task(1, n, 5), task(2, n, 5)]);
    let mut kept = turns(all());
    let mut seen = kept.clone();
    for _ in 0..20 {
        let first = pick(&mut kept, 3);
        let waits = seen.clone().pick(at(0), 1000, &mut Running::default());
        let of = |owner| {
            let tasks = waits.iter().map(|pick| pick.candidate.clone());
            let tasks = tasks.filter(|task| task.tenant == tenant(owner)).collect();
            vec![Window { tasks, ..Window::default() }]
        };
        seen.forget_tasks();
        seen.see(at(0), tenant(1), of(1), false);
        seen.see(at(0), tenant(2), of(2), false);
        assert_eq!(pick(&mut seen, 3), first);
    }
    seen.forget_tasks();
    (1..=2).for_each(|n| seen.see(at(0), tenant(n), Vec::new(), false));
    assert!(seen.next().next().is_none());
}

#[test]
fn whose_window_is_used_up_is_passed_over_and_has_its_turn_the_next_time() {
    let mut turns = Turns::default();
    turns.set_weights([(tenant(1), 9.0)]);
    turns.see(at(0), tenant(1), vec![window(1, 0..2, true)], false);
    turns.see(at(0), tenant(2), vec![window(2, 0..20, true)], false);
    let picked = pick(&mut turns, 10);
    assert_eq!((of(&picked, 1), of(&picked, 2)), (2, 8));
    assert!(turns.was_passed_over());
    turns.forget_tasks();
    assert_eq!(turns.next().next(), Some(tenant(1)));
    turns.see(at(0), tenant(1), vec![window(1, 2..99, false)], false);
    turns.see(at(0), tenant(2), vec![window(2, 8..99, false)], false);
    let picked = pick(&mut turns, 60);
    assert_eq!(of(&picked, 2), 0, "it catches up with what it was passed over for");
    assert!(!turns.was_passed_over());
}

#[test]
fn nothing_goes_before_what_may_be_unseen() {
    let strand = |numbers: [u128; 2], deadline_s, more_on_time| Window {
        tasks: numbers.map(|n| task(1, n, deadline_s)).to_vec(),
        more_on_time,
        ..Window::default()
    };
    let mut turns = Turns::default();
    turns.see(at(0), tenant(1), vec![strand([1, 2], 10, true), strand([3, 4], 20, false)], false);
    assert_eq!(pick(&mut turns, 9).len(), 2);
    turns.see(at(0), tenant(1), vec![strand([5, 6], 15, false), strand([3, 4], 20, false)], false);
    assert_eq!(pick(&mut turns, 9).len(), 4);
}

#[test]
fn what_was_not_looked_at_of_a_tenant_keeps_its_place_and_holds_nobody_up() {
    let mut turns = turns((0..4).flat_map(|n| [task(1, n, 5), task(2, n, 5)]));
    turns.forget_tasks();
    turns.see(at(0), tenant(2), vec![window(2, 0..4, false)], false);
    assert_eq!(of(&pick(&mut turns, 9), 2), 4);
    assert!(turns.was_passed_over());
    turns.see(at(0), tenant(1), vec![window(1, 0..1, false)], true);
    assert_eq!(of(&pick(&mut turns, 9), 1), 1);
    assert!(turns.was_passed_over());
    turns.see(at(0), tenant(1), Vec::new(), false);
    assert!(pick(&mut turns, 9).is_empty() && !turns.was_passed_over());
}

#[test]
fn the_tasks_of_a_full_key_hide_nothing_however_many_there_are() {
    let key = ConcurrencyKey("db".into());
    let keyed = |n| Candidate { concurrency_key: Some(key.clone()), ..task(1, n, 1) };
    let full = Window {
        key: Some(key.clone()),
        tasks: (1..=2).map(keyed).collect(),
        more_late: false,
        more_on_time: true,
    };
    let mut running = Running::default();
    running.set_key_limits([((tenant(1), key.clone()), 1)]);
    let mut turns = Turns::default();
    turns.see(at(0), tenant(1), vec![full, window(1, 5..8, false)], false);
    let picks = turns.pick(at(0), 9, &mut running);
    assert_eq!(picks.len(), 4);
    assert!(!turns.was_passed_over());
}

/// One flexible task of the first tenant for each of nine slots.
fn flexible() -> Window {
    let flexible = |n| Candidate { spare_until: Some(at(900_000)), ..task(1, n, 1000) };
    Window { tasks: (0..9).map(flexible).collect(), ..Window::default() }
}

#[test]
fn flexible_tasks_leave_their_room_to_what_is_unseen_and_may_surely_start() {
    let mut turns = Turns::default();
    turns.see(at(0), tenant(1), vec![flexible()], false);
    for n in 0..50 {
        turns.see(at(n * 100), tenant(2), vec![window(2, 0..2, true)], false);
        let picks = turns.pick(at(n * 100), 9, &mut Running::default());
        let picks: Vec<_> = picks.into_iter().map(|pick| pick.candidate).collect();
        assert_eq!((of(&picks, 1), of(&picks, 2)), (0, 2), "after {n} looks");
    }
    turns.see(at(5000), tenant(2), vec![window(2, 0..2, false)], false);
    assert_eq!(turns.pick(at(5000), 9, &mut Running::default()).len(), 9);
}

#[test]
fn what_may_be_unseen_keeps_its_room_for_a_moment_and_not_for_ever() {
    let mut turns = Turns::default();
    let mut had = [0, 0];
    for n in 0..50 {
        turns.see(at(n * 100), tenant(1), vec![flexible()], false);
        // It always has strands that were not looked at, and hands something out all the time.
        turns.see(at(n * 100), tenant(2), vec![window(2, 0..2, false)], true);
        let picks = turns.pick(at(n * 100), 9, &mut Running::default());
        let picks: Vec<_> = picks.into_iter().map(|pick| pick.candidate).collect();
        assert_eq!(of(&picks, 2), 2);
        had[usize::from(n * 100 >= 250)] += of(&picks, 1);
    }
    assert_eq!(had, [0, 47 * 7]);
    // All that was left was wanted after all: it is kept again.
    turns.see(at(5000), tenant(2), vec![window(2, 0..9, false)], true);
    assert_eq!(turns.pick(at(5000), 9, &mut Running::default()).len(), 9);
    turns.see(at(5100), tenant(2), vec![window(2, 0..2, false)], true);
    assert_eq!(turns.pick(at(5100), 9, &mut Running::default()).len(), 2);
}

#[test]
fn a_window_of_flexible_tasks_is_split_where_they_are_due() {
    let flexible = |n: i64| Candidate {
        spare_until: Some(at(n * 1000)),
        ..task(1, n.unsigned_abs().into(), 100 + n)
    };
    let seen =
        Window { tasks: (1..=4).map(flexible).collect(), more_on_time: true, ..Window::default() };
    let mut turns = Turns::default();
    turns.see(at(2000), tenant(1), vec![seen], false);
    turns.see(at(2000), tenant(2), vec![window(2, 0..9, false)], false);
    let picks = turns.pick(at(2000), 20, &mut Running::default());
    assert_eq!(picks.iter().map(|pick| pick.spare).collect::<Vec<_>>()[11..], [true, true]);
    assert_eq!(picks.len(), 13);
    assert!(turns.was_passed_over());
}

proptest! {
    /// Batchers rely on it: what goes without a choice is picked when its turns are reckoned.
    #[test]
    fn what_is_wholly_seen_and_fits_and_meets_no_limit_is_all_picked(
        tenants in proptest::collection::vec(proptest::collection::vec((0i64..200, 1u32..9, any::<bool>()), 0..20), 1..6),
        past in 0u64..40,
    ) {
        let mut turns = Turns::default();
        // They have had more or less before.
        turns.see(at(0), tenant(1), vec![window(1, 0..50, false)], false);
        let before = turns.pick(at(0), past, &mut Running::default());
        before.iter().for_each(|pick| turns.dispatched(at(0), pick));
        turns.forget_tasks();
        let mut running = Running::default();
        // Each may run as many as all of them are.
        let limit = tenants.iter().map(|tasks| tasks.len() as u64).sum();
        running.set_limits((1..=6).map(|owner| (tenant(owner), limit)));
        let (mut all, mut slots) = (Vec::new(), 0);
        for (owner, tasks) in (1..).zip(tenants) {
            let candidate = |(n, (deadline, slots, prepaid))| Candidate { slots, prepaid, ..task(owner, n, 2 + deadline) };
            let mut tasks: Vec<_> = (100..).zip(tasks).map(candidate).collect();
            tasks.sort_by_key(|task| task.start_deadline);
            slots += tasks.iter().map(|task| u64::from(task.slots)).sum::<u64>();
            all.extend(tasks.iter().map(|task| task.task));
            let windows = tasks.chunks(7).map(|tasks| Window { tasks: tasks.to_vec(), ..Window::default() });
            turns.see(at(1000), tenant(owner), windows.collect(), false);
        }
        let picks = turns.pick(at(1000), slots, &mut running);
        let mut picked: Vec<_> = picks.iter().map(|pick| pick.candidate.task).collect();
        picked.sort_unstable();
        all.sort_unstable();
        prop_assert_eq!(picked, all);
    }
}
