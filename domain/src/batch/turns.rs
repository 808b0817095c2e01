//! Whose turn it is: the order in which tasks of all tenants of a pool are dispatched.
//!
//! Used by the batcher and by the simulator alike; pure, so the same calls give the same picks. It holds what it is given and
//! nothing else: the batcher shows it the first tasks of those tenants whose turn it is ([`Window`]), so its memory is the
//! batcher's choice. Flexible tasks stand in a lane of their own, which has what the other leaves, until their time for that is
//! over; what they consume there does not count against their tenant's share.

use super::lane::{Lane, Round};
use super::unseen::Unknown;
use super::{Candidate, Pick, Running, Window};
use crate::fairness::{Charges, Estimates};
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::time::Duration;

/// Room that others leave is kept so long for those of them that may be unseen, before flexible tasks have it.
const KEPT: TimeDelta = TimeDelta::milliseconds(250);

/// The tasks that wait in one pool, and the accounts of their tenants.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    due: Lane,
    spare: Lane,
    /// When the tasks in `spare` are due.
    ripe: BTreeMap<(Timestamp, TaskId), Candidate>,
    estimates: Estimates,
    passed_over: bool,
    /// Since when the tasks that are due leave room at every pick.
    room_since: Option<Timestamp>,
}

impl Turns {
    /// For a pool in which starts come up to `lag` after the turns, or ends are told so late: see [`Charges::lagging`].
    #[must_use]
    pub fn lagging(lag: Duration) -> Self {
        let mut turns = Self::default();
        for lane in [&mut turns.due, &mut turns.spare] {
            lane.charges = Charges::lagging(lag);
        }
        turns
    }

    /// Replaces all weights: what is not named here has weight 1. Acts on everything that waits.
    pub fn set_weights(&mut self, weights: impl IntoIterator<Item = (TenantId, f64)>) {
        let weights: Vec<_> = weights.into_iter().collect();
        self.due.accounts.set_weights(weights.iter().copied());
        self.spare.accounts.set_weights(weights);
    }

    /// A task waits for its turn, as of `now`.
    pub fn offer(&mut self, now: Timestamp, candidate: Candidate) {
        match candidate.spare_until.filter(|until| *until > now) {
            Some(until) => {
                self.ripe.insert((until, candidate.task), candidate.clone());
                self.spare.put(now, candidate);
            }
            None => self.due.put(now, candidate),
        }
    }

    /// Who waits goes on waiting, and what of theirs waits is to be seen anew.
    pub fn forget_tasks(&mut self) {
        self.ripe.clear();
        self.due.forget_tasks();
        self.spare.forget_tasks();
    }

    /// The first tasks of `tenant` are those of `windows`, as of `now`: without any, and without `others`, which are strands
    /// that were not looked at, it waits for nothing more.
    pub fn see(&mut self, now: Timestamp, tenant: TenantId, windows: Vec<Window>, others: bool) {
        let (mut due, mut spare) = (Vec::new(), Vec::new());
        for window in windows {
            let is_spare = |c: &Candidate| c.spare_until.is_some_and(|until| until > now);
            let last_is_spare = window.tasks.last().is_some_and(is_spare);
            let (own, rest): (Vec<_>, Vec<_>) = window.tasks.into_iter().partition(is_spare);
            let ripe = |c: &Candidate| Some(((c.spare_until?, c.task), c.clone()));
            self.ripe.extend(own.iter().filter_map(ripe));
            spare.push(Window {
                key: window.key.clone(),
                tasks: own,
                more_late: false,
                more_on_time: window.more_on_time && last_is_spare,
            });
            due.push(Window {
                tasks: rest,
                more_on_time: window.more_on_time && !last_is_spare,
                ..window
            });
        }
        self.due.see(now, tenant, due, others);
        self.spare.see(now, tenant, spare, false);
    }

    /// Those who wait, in the order of their turns; who waits for spare room only comes last.
    pub fn next(&self) -> impl Iterator<Item = TenantId> {
        self.due.turns().chain(self.spare.turns())
    }

    /// A task waits no more, though it had no turn.
    pub fn remove(&mut self, candidate: &Candidate) {
        if !self.due.remove(candidate) {
            self.spare.remove(candidate);
        }
    }

    /// Brings accounts and classes up to `now`. A pick does it too; do it before offers where none has been for long.
    pub fn advance(&mut self, now: Timestamp) {
        self.due.advance(now);
        self.spare.advance(now);
        while let Some(ripe) = self.ripe.first_entry().filter(|entry| entry.key().0 <= now) {
            let candidate = ripe.remove();
            if self.spare.remove(&candidate) {
                self.due.put(now, candidate);
            }
        }
    }

    /// Picks what fits into `slots` and may start, in the order of the turns. Each is charged, and counted as `running`.
    /// Where the turn belongs to a task that was not seen, its tenant is passed over, and has its turn the next time: see
    /// [`Self::was_passed_over`].
    #[must_use]
    pub fn pick(&mut self, now: Timestamp, slots: u64, running: &mut Running) -> Vec<Pick> {
        self.advance(now);
        let mut picked = Vec::new();
        let estimates = &self.estimates;
        let unknown = self.due.pick(Round { now, slots, running, estimates }, &mut picked);
        let (due, mut unknown_spare) = (picked.len(), Unknown::Not);
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        if self.is_spare(now, used < slots, unknown) {
            let estimates = &self.estimates;
            unknown_spare = self.spare.pick(Round { now, slots, running, estimates }, &mut picked);
            picked[due..].iter_mut().for_each(|pick| pick.spare = true);
        }
        self.passed_over = unknown.max(unknown_spare) > Unknown::Not;
        picked
    }

    /// Whether the room that tasks which are due have left is for flexible ones: not where more of them may surely start, and where
    /// that is not known, once they have left some for a moment. Something may always be unseen.
    fn is_spare(&mut self, now: Timestamp, room: bool, unknown: Unknown) -> bool {
        if !room || unknown == Unknown::Surely {
            self.room_since = None;
            return false;
        }
        let since = *self.room_since.get_or_insert(now);
        unknown == Unknown::Not || now - since >= KEPT
    }

    /// In the last pick somebody whose turn it was had nothing to show for it but what is unseen.
    #[must_use]
    pub const fn was_passed_over(&self) -> bool {
        self.passed_over
    }

    /// What was picked did not go: gives the charge back. It waits again only if it is offered again.
    pub fn undo(&mut self, pick: &Pick) {
        self.lane_of(pick).accounts.refund(pick.charge);
    }

    /// What was picked has gone, at `now`: from here on its charge follows what it takes, until it has [`Self::ended`].
    /// Without this the estimate stays.
    pub fn dispatched(&mut self, now: Timestamp, pick: &Pick) {
        let Candidate { task, name, .. } = pick.candidate;
        let lane = self.lane_of(pick);
        lane.charges.open(&mut lane.accounts, (task, name), pick.charge, now);
    }

    /// An attempt ended after `used`, 0 where it never ran: what is expected of its name follows.
    pub fn ended(&mut self, task: TaskId, used: Duration) {
        for lane in [&mut self.due, &mut self.spare] {
            let closed = lane.charges.close(&mut lane.accounts, task, used);
            if let Some((tenant, name)) = closed.filter(|_| used > Duration::ZERO) {
                self.estimates.ended(tenant, name, used);
            }
        }
    }

    /// Who waits or owes, for whoever takes over: how far each is ahead. Those that wait come first, in the order of their turns.
    pub fn ahead(&self) -> impl Iterator<Item = (TenantId, f64)> {
        self.due.accounts.ahead()
    }

    /// Goes on from what [`Self::ahead`] gave elsewhere.
    pub fn restore(&mut self, ahead: impl IntoIterator<Item = (TenantId, f64)>) {
        self.due.accounts.restore(ahead);
    }

    /// This runs since `since`, and was dispatched elsewhere: from `now` on its charge follows what it takes. What it was charged
    /// there is not known: at least what has passed.
    pub fn runs(&mut self, now: Timestamp, task: &Candidate, since: Timestamp) {
        let passed = (now - since).to_std().unwrap_or_default();
        let Lane { accounts, charges, .. } = &mut self.due;
        let charge = accounts.charged(task.tenant, task.share, passed);
        charges.open(accounts, (task.task, task.name), charge, since);
    }

    /// Up to `most` attempts, and since when they run, of which to ask whether they do: those that do not have
    /// [ended](Self::ended), and nobody told.
    pub fn doubtful(&mut self, now: Timestamp, most: usize) -> Vec<(TenantId, TaskId, Timestamp)> {
        let mut doubtful = self.due.charges.doubtful(now, most);
        doubtful.extend(self.spare.charges.doubtful(now, most - doubtful.len()));
        doubtful
    }

    /// Forgets tenants that are idle and owe nothing.
    pub fn forget_idle(&mut self) {
        self.due.accounts.forget_idle();
        self.spare.accounts.forget_idle();
    }

    /// Tasks that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.due.len() + self.spare.len()
    }

    /// True where nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    const fn lane_of(&mut self, pick: &Pick) -> &mut Lane {
        if pick.spare { &mut self.spare } else { &mut self.due }
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::{at, task, tenant};
    use super::super::{ConcurrencyKey, Priority};
    use super::*;
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
        turns.see(
            at(0),
            tenant(1),
            vec![strand([1, 2], 10, true), strand([3, 4], 20, false)],
            false,
        );
        assert_eq!(pick(&mut turns, 9).len(), 2);
        turns.see(
            at(0),
            tenant(1),
            vec![strand([5, 6], 15, false), strand([3, 4], 20, false)],
            false,
        );
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
        let seen = Window {
            tasks: (1..=4).map(flexible).collect(),
            more_on_time: true,
            ..Window::default()
        };
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
}
