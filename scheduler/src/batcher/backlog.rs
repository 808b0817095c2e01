//! Who in a pool has something that waits, as far as it was seen, and where to look next.
//!
//! Tenants are found by going round all of them, past those of their strands that are beyond the first few; those whose turn it is
//! are looked at besides, and inside those that have more strands than a look shows the looks go round as well. Where there are few,
//! each tick sees all. So a tick costs the same whatever waits, nobody is hidden by the strands of others, and what is kept here is
//! bounded.

use domain::batch::{Running, Strand};
use domain::id::TenantId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use store::task::{Look, Seen, StrandRows};

/// Strands that one look goes round, ...
const A_LOOK: u64 = 256;
/// ... and where there are more than that.
const A_LOOK_OF_MANY: u64 = 64;
/// Of each tenant at most.
const OF_TENANT: u64 = 4;
/// Tenants looked at by name, at most, and their strands.
const NAMED: usize = 256;
/// Tenants that are kept. What is beyond is found again on the next round, and inside it looks begin anew.
const MOST: usize = 100_000;
/// Rows that a look reads, about, ...
const ROWS: u64 = 4096;
/// ... and no fewer: so many that a dozen strands show enough to plan with, ...
const FEW_ROWS: u64 = 512;
/// ... while so many for four slots do: where strands go on evenly, a quarter more are seen than are picked.
const ROWS_PER_FOUR_SLOTS: u64 = 5;
/// Where no more than as many wait all of it may be read in one walk. What comes within the batcher's longest rest at some 20 000 a second.
const FEW: u64 = 256;
/// Looks that go round the strands of nearly every tenant.
const INSIDE: u64 = 16;

/// The tenants of a pool that had something ready when they were last seen.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Of those that have more strands than were seen, after which one to go on.
    tenants: BTreeMap<TenantId, Option<Strand>>,
    /// The round goes on after this one; `None`: it begins.
    after: Option<TenantId>,
    /// Looks of this round, and of the one before.
    looks: (u64, u64),
    /// A look that goes round few did not see all.
    many: bool,
    /// Looks since one found something that could start.
    barren: u64,
    /// So often are twice as many rows read as usual, because fewer were too few.
    doubled: u32,
    /// How many tasks the last look showed where that was all that waits.
    shown: Option<usize>,
    /// All of it was picked: what waits now has come since.
    cleared: bool,
}

/// What to look at.
#[derive(Debug, Default)]
pub(super) struct Plan {
    after: Option<TenantId>,
    strands: u64,
    named: Vec<(TenantId, Option<Strand>)>,
    fewer: Vec<(TenantId, u64)>,
    slots: u64,
    rows: u64,
}

/// What became known of a tenant: the strands that were looked at, and whether it may have others.
pub(super) type SeenOfTenant = (TenantId, Vec<StrandRows>, bool);

impl Backlog {
    /// What to look at for a pick of `slots`, where `next` have the next turns.
    pub(super) fn plan(
        &self,
        next: impl Iterator<Item = TenantId>,
        slots: u64,
        running: &Running,
    ) -> Plan {
        let strands = if self.many { A_LOOK_OF_MANY } else { A_LOOK };
        let round: Vec<_> = self.beyond(self.after).take(strands as usize).collect();
        // However many strands they have, these are in the round; and the others may be.
        let sure = round.iter().take((strands / OF_TENANT) as usize);
        let whole: BTreeSet<_> =
            sure.filter(|(_, inside)| inside.is_none()).map(|(tenant, _)| *tenant).collect();
        let (mut named, mut left) = (Vec::new(), slots);
        for tenant in next.take(NAMED) {
            let inside = self.tenants.get(&tenant).copied().flatten();
            if !whole.contains(&tenant) {
                named.push((tenant, inside));
            }
            // Of many strands none may be able to start: such a tenant, who stays the next, takes nobody's place.
            left -= u64::from(inside.is_none());
            if left == 0 {
                break;
            }
        }
        let looked: BTreeSet<_> = round.iter().chain(&named).map(|(tenant, _)| *tenant).collect();
        let worth = looked.into_iter().map(|tenant| (tenant, running.worth_a_look(tenant)));
        let fewer = worth.filter(|(_, worth)| *worth < slots).collect();
        let enough = slots.saturating_mul(ROWS_PER_FOUR_SLOTS).div_ceil(4).clamp(FEW_ROWS, ROWS);
        let rows = (enough << self.doubled).min(ROWS);
        Plan { after: self.after, strands, named, fewer, slots, rows }
    }

    /// How many tasks, at most, may be read in one walk where that shows all that waits; `None`: more wait, likely.
    pub(super) fn few(&self) -> Option<u64> {
        self.cleared.then_some(FEW)
    }

    /// Something unseen might have gone before what was left of the last look, and less than half of its slots could be filled; or not.
    pub(super) fn saw_too_little(&mut self, too_little: bool) {
        self.doubled = if too_little {
            (self.doubled + 1).min((ROWS / FEW_ROWS).ilog2())
        } else {
            self.doubled.saturating_sub(1)
        };
    }

    /// Takes up what was seen: by tenant, those that were looked at.
    pub(super) fn seen(&mut self, plan: &Plan, seen: Seen) -> Vec<SeenOfTenant> {
        let last = seen.next.map_or(Bound::Unbounded, Bound::Included);
        let round = self.tenants.range((after(plan.after), last)).map(|(tenant, _)| *tenant);
        let named = plan.named.iter().map(|(tenant, _)| *tenant);
        let mut tenants: BTreeMap<TenantId, Vec<StrandRows>> =
            round.chain(named.clone()).map(|tenant| (tenant, Vec::new())).collect();
        for strand in seen.strands {
            tenants.entry(strand.tenant).or_default().push(strand);
        }
        let named: BTreeSet<_> = named.collect();
        for (tenant, strands) in &tenants {
            let before = self.tenants.remove(tenant).flatten();
            let after = seen.partly.get(tenant).copied();
            // Going round the tenants shows the first strands only: inside it is gone on where that had stopped.
            let went_on = named.contains(tenant) || before.is_none() || after.is_none();
            if !strands.is_empty() && self.tenants.len() < MOST {
                self.tenants.insert(*tenant, if went_on { after } else { before });
            }
        }
        self.went(seen.next);
        // Of a strand that finds no room no rows are read.
        let is_whole = |s: &StrandRows| !(s.rows.is_empty() || s.more_late || s.more_on_time);
        let strands = || tenants.values().flatten();
        let all = self.is_all(plan) && seen.partly.is_empty() && strands().all(is_whole);
        self.shown = all.then(|| strands().map(|strand| strand.rows.len()).sum());
        let others = |tenant: &TenantId| seen.partly.contains_key(tenant);
        tenants.into_iter().map(|(t, strands)| (t, strands, others(&t))).collect()
    }

    /// All tenants with something that waits were looked at.
    pub(super) fn is_all(&self, plan: &Plan) -> bool {
        plan.after.is_none() && self.after.is_none()
    }

    /// The last look gave `picks`; says whether to go on at once where not all was seen: not after all was, and nothing could start.
    pub(super) fn goes_on(&mut self, picks: usize) -> bool {
        self.cleared = self.shown == Some(picks);
        self.barren = if picks == 0 { self.barren + 1 } else { 0 };
        let parts = || self.tenants.values().any(Option::is_some);
        let all = self.barren > self.looks.1 && (self.barren > INSIDE || !parts());
        if all {
            self.barren = 0;
        }
        !all
    }

    fn went(&mut self, next: Option<TenantId>) {
        self.after = next;
        self.looks.0 += 1;
        self.many |= next.is_some();
        if next.is_none() {
            self.many = self.looks.0 * A_LOOK_OF_MANY > A_LOOK;
            self.looks = (0, self.looks.0);
        }
    }

    fn beyond(&self, tenant: Option<TenantId>) -> impl Iterator<Item = (TenantId, Option<Strand>)> {
        self.tenants.range((after(tenant), Bound::Unbounded)).map(|(t, inside)| (*t, *inside))
    }
}

impl Plan {
    /// Of what shows all that waits: nothing is left to choose.
    pub(super) fn of_all() -> Self {
        Self::default()
    }

    pub(super) fn look<'a>(&'a self, view: &'a super::load::PoolView) -> Look<'a> {
        Look {
            after: self.after,
            of_tenant: OF_TENANT,
            strands: self.strands,
            named: &self.named,
            named_strands: NAMED as u64,
            rows: self.rows,
            per_strand: self.slots,
            fewer: &self.fewer,
            largest: view.largest,
            lacks: &view.lacks,
        }
    }
}

fn after(tenant: Option<TenantId>) -> Bound<TenantId> {
    tenant.map_or(Bound::Unbounded, Bound::Excluded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::batch::Priority;
    use domain::fairness::NameKey;
    use domain::id::TaskId;
    use domain::resources::Resources;
    use domain::time::Timestamp;
    use std::collections::HashMap;
    use std::time::Duration;
    use store::task::CandidateRow;
    use uuid::Uuid;

    type Place = (TenantId, Strand);

    fn tenant(number: u128) -> TenantId {
        TenantId(Uuid::from_u128(number))
    }

    fn places(number: u128, strands: i64) -> impl Iterator<Item = Place> {
        (1..=strands).map(move |strand| (tenant(number), Strand(strand)))
    }

    fn strands(there: &BTreeSet<Place>, tenant: TenantId) -> Vec<Strand> {
        let all = (tenant, Strand(i64::MIN))..=(tenant, Strand(i64::MAX));
        there.range(all).map(|(_, strand)| *strand).collect()
    }

    fn rows((tenant, strand): Place) -> StrandRows {
        StrandRows {
            tenant,
            strand,
            key: None,
            lacks_room: false,
            rows: Vec::new(),
            more_late: false,
            more_on_time: false,
        }
    }

    /// What a look that was planned so gives where `there` have something ready.
    fn look(plan: &Plan, there: &BTreeSet<Place>) -> Seen {
        let (mut found, mut at) = (Vec::new(), plan.after);
        while let Some((tenant, _)) = there.range((beyond(at), Bound::Unbounded)).next() {
            at = Some(*tenant);
            let first = strands(there, *tenant).into_iter().take(OF_TENANT as usize);
            found.extend(first.map(|strand| (*tenant, strand)));
            if found.len() as u64 >= plan.strands {
                break;
            }
        }
        let cut = found.len() as u64 >= plan.strands;
        found.truncate(plan.strands as usize);
        let mut asked = Vec::new();
        let stretch = |(tenant, after): &(TenantId, Option<Strand>), later: bool| {
            let mut all = strands(there, *tenant);
            all.retain(|strand| (Some(*strand) > *after) == later);
            (*tenant, all)
        };
        let stretches = plan.named.iter().map(|named| stretch(named, true));
        let stretches: Vec<_> =
            stretches.chain(plan.named.iter().map(|named| stretch(named, false))).collect();
        for place in 0..NAMED {
            let of = |(tenant, all): &(TenantId, Vec<Strand>)| Some((*tenant, *all.get(place)?));
            asked.extend(stretches.iter().filter_map(of));
            if asked.len() >= NAMED {
                break;
            }
        }
        asked.truncate(NAMED.max(stretches.len()));
        let all: BTreeSet<Place> = found.iter().chain(&asked).copied().collect();
        let mut partly = HashMap::new();
        for tenant in all.iter().map(|(tenant, _)| *tenant) {
            if strands(&all, tenant).len() < strands(there, tenant).len() {
                let after = plan.named.iter().find(|named| named.0 == tenant);
                let own = |places: &[Place], after| {
                    let own = places.iter().filter(|place| place.0 == tenant);
                    own.map(|place| place.1).filter(|strand| Some(*strand) > after).max()
                };
                let last = after.map_or_else(|| own(&found, None), |named| own(&asked, named.1));
                partly.insert(tenant, last.unwrap_or(Strand(i64::MIN)));
            }
        }
        let next = at.filter(|_| cut);
        let strands = all.into_iter().map(rows).collect();
        Seen { now: Timestamp::default(), strands, next, partly }
    }

    fn beyond(tenant: Option<TenantId>) -> Bound<Place> {
        tenant.map_or(Bound::Unbounded, |tenant| Bound::Excluded((tenant, Strand(i64::MAX))))
    }

    fn tick(
        backlog: &mut Backlog,
        slots: u64,
        next: impl IntoIterator<Item = TenantId>,
        there: &BTreeSet<Place>,
    ) -> (Plan, Vec<SeenOfTenant>) {
        let plan = backlog.plan(next.into_iter(), slots, &Running::default());
        let seen = look(&plan, there);
        let seen = backlog.seen(&plan, seen);
        (plan, seen)
    }

    fn of(seen: &[SeenOfTenant], tenant: TenantId) -> Option<&SeenOfTenant> {
        seen.iter().find(|seen| seen.0 == tenant)
    }

    #[test]
    fn where_few_wait_each_look_sees_all_and_what_is_gone_is_told() {
        let mut backlog = Backlog::default();
        let mut there: BTreeSet<_> = (1..=20).flat_map(|n| places(n, 2)).collect();
        let (plan, seen) = tick(&mut backlog, 32, [], &there);
        assert_eq!(seen.len(), 20);
        assert!(seen.iter().all(|(_, strands, others)| strands.len() == 2 && !others));
        assert!(backlog.is_all(&plan));
        there.retain(|place| place.0 != tenant(3));
        let (plan, seen) = tick(&mut backlog, 32, (1..=5).map(tenant), &there);
        assert!(plan.named.is_empty());
        let third = of(&seen, tenant(3)).unwrap();
        assert!(third.1.is_empty() && !third.2);
        let (_, seen) = tick(&mut backlog, 32, [tenant(3)], &there);
        assert!(of(&seen, tenant(3)).unwrap().1.is_empty(), "who waits is told that nothing does");
    }

    /// What a look shows of a strand with as many tasks.
    fn shown(tasks: usize) -> StrandRows {
        let row = CandidateRow {
            task: TaskId::fresh(),
            due: Timestamp::default(),
            start_deadline: Timestamp::default(),
            resources: Resources::default(),
            slots: 1,
            cap: Duration::ZERO,
            prepaid: false,
            priority: Priority::default(),
            name: NameKey(0),
            flexible: false,
            key: None,
        };
        StrandRows { rows: vec![row; tasks], ..rows((tenant(1), Strand(1))) }
    }

    #[test]
    fn after_all_that_waited_was_picked_what_waits_may_be_read_in_one_walk_until_something_is_left()
    {
        let mut backlog = Backlog::default();
        let mut tick = |strands: Vec<StrandRows>, next, partly: &[(TenantId, Strand)], picks| {
            let plan = match backlog.few() {
                Some(_) => Plan::of_all(),
                None => backlog.plan(std::iter::empty(), 32, &Running::default()),
            };
            let partly = partly.iter().copied().collect();
            backlog.seen(&plan, Seen { now: Timestamp::default(), strands, next, partly });
            backlog.goes_on(picks);
            backlog.few().is_some()
        };
        let whole = || vec![shown(3), shown(2)];
        assert!(!tick(whole(), None, &[], 4), "one is left");
        assert!(tick(whole(), None, &[], 5), "all were picked");
        assert!(tick(whole(), None, &[], 5), "and again");
        assert!(tick(vec![], None, &[], 0), "nothing waits");
        assert!(!tick(whole(), None, &[], 0));
        // What is not shown may wait.
        assert!(!tick(whole(), Some(tenant(1)), &[], 5), "the round goes on");
        assert!(!tick(whole(), None, &[], 5), "that was the rest of a round");
        assert!(tick(whole(), None, &[], 5));
        assert!(!tick(whole(), None, &[(tenant(1), Strand(1))], 5));
        for hidden in [
            StrandRows { more_late: true, ..shown(5) },
            StrandRows { more_on_time: true, ..shown(5) },
            StrandRows { lacks_room: true, ..shown(0) },
            shown(0),
        ] {
            let picks = hidden.rows.len();
            assert!(!tick(vec![hidden], None, &[], picks));
        }
    }

    #[test]
    fn where_many_wait_the_next_are_looked_at_and_all_others_in_turn() {
        let mut backlog = Backlog::default();
        let there: BTreeSet<_> = (1..=10_000).flat_map(|n| places(n, 1)).collect();
        let mut found = BTreeSet::new();
        for _ in 0..160 {
            let (plan, seen) = tick(&mut backlog, 32, [], &there);
            assert!(!backlog.is_all(&plan));
            found.extend(seen.into_iter().map(|(tenant, ..)| tenant));
        }
        assert_eq!(found.len(), 10_000);
        let next = [9_000, 77, 5_000].map(tenant);
        let (_, seen) = tick(&mut backlog, 32, next, &there);
        assert!(next.iter().all(|tenant| of(&seen, *tenant).is_some()));
        assert!(seen.len() <= A_LOOK_OF_MANY as usize + next.len());
    }

    #[test]
    fn very_many_strands_of_one_tenant_hide_no_other_and_each_of_them_is_seen() {
        let mut backlog = Backlog::default();
        let mut there: BTreeSet<_> = places(1, 5000).chain(places(3, 1)).collect();
        let mut found = BTreeSet::new();
        for n in 0..40 {
            if n == 20 {
                there.extend(places(2, 1));
            }
            let (plan, seen) = tick(&mut backlog, 1, [tenant(1)], &there);
            assert!(of(&seen, tenant(3)).is_some(), "look {n}");
            assert_eq!(of(&seen, tenant(2)).is_some(), n >= 20, "look {n}");
            let own = of(&seen, tenant(1)).unwrap();
            assert!(plan.named.len() == 1 || n == 0);
            assert!(own.2 && own.1.len() <= NAMED + OF_TENANT as usize);
            found.extend(own.1.iter().map(|strand| strand.strand));
        }
        assert_eq!(found.len(), 5000);
    }

    #[test]
    fn who_has_many_strands_takes_no_place_of_the_next_and_goes_on_where_it_stopped() {
        let mut backlog = Backlog::default();
        let wide = || (1..=40).flat_map(|n| places(n, 400));
        let there: BTreeSet<_> = wide().chain((41..=9000).flat_map(|n| places(n, 1))).collect();
        for _ in 0..200 {
            tick(&mut backlog, 1, [], &there);
        }
        let mut found = BTreeSet::new();
        for n in 0..200 {
            let first = (0..3).map(|k| tenant((n * 3 + k) % 40 + 1));
            let (_, seen) = tick(&mut backlog, 1, first.chain([tenant(8000)]), &there);
            assert!(of(&seen, tenant(8000)).is_some());
            for (tenant, strands, _) in seen {
                found.extend(strands.into_iter().map(|strand| (tenant, strand.strand)));
            }
        }
        assert!(wide().all(|place| found.contains(&place)));
    }

    #[test]
    fn as_much_is_read_as_is_picked_and_more_where_that_was_too_little() {
        let mut backlog = Backlog::default();
        let rows = |backlog: &Backlog, slots| {
            backlog.plan(std::iter::empty(), slots, &Running::default()).rows
        };
        assert_eq!([1, 256, 500, 10_000].map(|n| rows(&backlog, n)), [512, 512, 625, 4096]);
        for expected in [1024, 2048, 4096, 4096] {
            backlog.saw_too_little(true);
            assert_eq!(rows(&backlog, 256), expected);
        }
        for expected in [2048, 1024, 512, 512] {
            backlog.saw_too_little(false);
            assert_eq!(rows(&backlog, 256), expected);
        }
    }

    #[test]
    fn after_all_was_seen_and_nothing_could_start_there_is_a_pause() {
        for (there, whole) in [(300, 2), (9000, 150)] {
            let there: BTreeSet<_> = (1..=there).flat_map(|n| places(n, 1)).collect();
            let mut backlog = Backlog::default();
            for _ in 0..2 * whole {
                tick(&mut backlog, 1, [], &there);
                backlog.goes_on(1);
            }
            let pauses = |backlog: &mut Backlog| {
                let looks = (0..10 * whole).filter(|_| {
                    tick(backlog, 1, [], &there);
                    !backlog.goes_on(0)
                });
                looks.count()
            };
            assert!((5..=10).contains(&pauses(&mut backlog)), "{whole}");
            assert!(backlog.goes_on(1));
        }
    }
}
