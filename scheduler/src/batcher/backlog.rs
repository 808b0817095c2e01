//! The known backlog of a pool by tenant, and what to read next.
//!
//! Each selection scans some of the tenants in rotation, and of each only its first few strands. It also reads the
//! tenants that are next in order, rotating over the strands of those with many. If there are few strands, each tick
//! reads all. So the cost of a tick is bounded, no tenant is hidden by the strands of others, and memory is bounded.

use domain::batch::{Running, Strand};
use domain::id::TenantId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use store::task::{ReadyStrand, Selection, SelectionQuery};

/// Strands that one selection scans.
const SCANNED: u64 = 256;
/// Strands that one selection scans where there are more than [`SCANNED`].
const SCANNED_OF_MANY: u64 = 64;
/// Strands of each tenant that one selection scans, at most.
const STRANDS_PER_TENANT: u64 = 4;
/// Tenants that are requested at a time, at most, and their strands.
const REQUESTED: usize = 256;
/// Tenants held in memory. The scan finds the others again in the next round, from their first strand.
const MAX_TENANTS: usize = 100_000;
/// Rows that a selection reads, at most, about.
const MAX_ROWS: u64 = 4096;
/// Rows that a selection reads, at least: a dozen strands then show enough to plan with.
const MIN_ROWS: u64 = 512;
/// Rows per four slots: a quarter more is read than is picked.
const ROWS_PER_FOUR_SLOTS: u64 = 5;
/// Selections after which the strands of nearly all tenants were read.
const SELECTIONS_TO_READ_ALL_STRANDS: u64 = 16;

/// The tenants of a pool that had a ready task when they were last read.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// For tenants with unread strands: the last strand read.
    tenants: BTreeMap<TenantId, Option<Strand>>,
    /// Last tenant scanned in this round; `None`: start of a round.
    after: Option<TenantId>,
    /// Selections of this round, and of the one before.
    selections: (u64, u64),
    /// A scan of [`SCANNED`] strands did not reach the end.
    many: bool,
    /// Consecutive selections without a pick.
    without_pick: u64,
    /// How often the number of rows was doubled.
    doubled: u32,
}

/// What to read.
#[derive(Debug, Default)]
pub(super) struct SelectionPlan {
    after: Option<TenantId>,
    scanned_strands: u64,
    requested: Vec<(TenantId, Option<Strand>)>,
    tenant_limits: Vec<(TenantId, u64)>,
    slots: u64,
    rows: u64,
}

/// The selection of one tenant.
#[derive(Debug)]
pub(super) struct TenantSelection {
    pub tenant: TenantId,
    /// Its read strands; empty without a ready task.
    pub strands: Vec<ReadyStrand>,
    /// It may have strands that were not read.
    pub is_partial: bool,
}

impl Backlog {
    /// What to read for a pick of `slots`, with `next` the tenants next in order.
    pub(super) fn plan(
        &self,
        next: impl Iterator<Item = TenantId>,
        slots: u64,
        running: &Running,
    ) -> SelectionPlan {
        let scanned_strands = if self.many { SCANNED_OF_MANY } else { SCANNED };
        let scan: Vec<_> = self.beyond(self.after).take(scanned_strands as usize).collect();
        // The scan reaches these in any case, and perhaps the others.
        let sure = scan.iter().take((scanned_strands / STRANDS_PER_TENANT) as usize);
        let whole: BTreeSet<_> =
            sure.filter(|(_, inside)| inside.is_none()).map(|(tenant, _)| *tenant).collect();
        let (mut requested, mut left) = (Vec::new(), slots);
        for tenant in next.take(REQUESTED) {
            let inside = self.tenants.get(&tenant).copied().flatten();
            if !whole.contains(&tenant) {
                requested.push((tenant, inside));
            }
            // A tenant with many strands of which none can start stays next; it must not displace another.
            left -= u64::from(inside.is_none());
            if left == 0 {
                break;
            }
        }
        let read: BTreeSet<_> = scan.iter().chain(&requested).map(|(tenant, _)| *tenant).collect();
        let limits = read.into_iter().map(|tenant| (tenant, running.worth_reading(tenant)));
        let tenant_limits = limits.filter(|(_, limit)| *limit < slots).collect();
        let enough =
            slots.saturating_mul(ROWS_PER_FOUR_SLOTS).div_ceil(4).clamp(MIN_ROWS, MAX_ROWS);
        let rows = (enough << self.doubled).min(MAX_ROWS);
        SelectionPlan { after: self.after, scanned_strands, requested, tenant_limits, slots, rows }
    }

    /// `too_few`: less than half of the slots were filled, and unread tasks might be ahead of the rest. Then the next
    /// selections read more.
    pub(super) fn adjust_rows(&mut self, too_few: bool) {
        self.doubled = if too_few {
            (self.doubled + 1).min((MAX_ROWS / MIN_ROWS).ilog2())
        } else {
            self.doubled.saturating_sub(1)
        };
    }

    /// Records what was read; returns it by tenant.
    pub(super) fn record(
        &mut self,
        plan: &SelectionPlan,
        selection: Selection,
    ) -> Vec<TenantSelection> {
        let last = selection.resume_after.map_or(Bound::Unbounded, Bound::Included);
        let scan = self.tenants.range((after(plan.after), last)).map(|(tenant, _)| *tenant);
        let requested = plan.requested.iter().map(|(tenant, _)| *tenant);
        let mut tenants: BTreeMap<TenantId, Vec<ReadyStrand>> =
            scan.chain(requested.clone()).map(|tenant| (tenant, Vec::new())).collect();
        for strand in selection.strands {
            tenants.entry(strand.tenant).or_default().push(strand);
        }
        let requested: BTreeSet<_> = requested.collect();
        for (tenant, strands) in &tenants {
            let before = self.tenants.remove(tenant).flatten();
            let after = selection.partial.get(tenant).copied();
            // The scan reads only the first strands; the rotation inside the tenant continues where it stopped.
            let went_on = requested.contains(tenant) || before.is_none() || after.is_none();
            if !strands.is_empty() && self.tenants.len() < MAX_TENANTS {
                self.tenants.insert(*tenant, if went_on { after } else { before });
            }
        }
        self.scanned_to(selection.resume_after);
        let by_tenant = tenants.into_iter().map(|(tenant, strands)| TenantSelection {
            tenant,
            strands,
            is_partial: selection.partial.contains_key(&tenant),
        });
        by_tenant.collect()
    }

    /// Whether the last recorded selection, of `plan`, scanned all tenants.
    pub(super) fn is_all(&self, plan: &SelectionPlan) -> bool {
        plan.after.is_none() && self.after.is_none()
    }

    /// Records the number of `picks`. Returns whether to read on at once if not all was read: no, after a full round
    /// without a pick.
    pub(super) fn reads_on(&mut self, picks: usize) -> bool {
        self.without_pick = if picks == 0 { self.without_pick + 1 } else { 0 };
        let parts = || self.tenants.values().any(Option::is_some);
        let all = self.without_pick > self.selections.1
            && (self.without_pick > SELECTIONS_TO_READ_ALL_STRANDS || !parts());
        if all {
            self.without_pick = 0;
        }
        !all
    }

    fn scanned_to(&mut self, resume_after: Option<TenantId>) {
        self.after = resume_after;
        self.selections.0 += 1;
        self.many |= resume_after.is_some();
        if resume_after.is_none() {
            self.many = self.selections.0 * SCANNED_OF_MANY > SCANNED;
            self.selections = (0, self.selections.0);
        }
    }

    fn beyond(&self, tenant: Option<TenantId>) -> impl Iterator<Item = (TenantId, Option<Strand>)> {
        self.tenants.range((after(tenant), Bound::Unbounded)).map(|(t, inside)| (*t, *inside))
    }
}

impl SelectionPlan {
    pub(super) fn query<'a>(&'a self, view: &'a super::load::PoolView) -> SelectionQuery<'a> {
        SelectionQuery {
            after: self.after,
            strands_per_tenant: STRANDS_PER_TENANT,
            scanned_strands: self.scanned_strands,
            requested: &self.requested,
            requested_strands: REQUESTED as u64,
            rows: self.rows,
            rows_per_strand: self.slots,
            tenant_limits: &self.tenant_limits,
            largest: view.largest,
            lacks: &view.lacks,
            drivers: &view.drivers,
        }
    }
}

fn after(tenant: Option<TenantId>) -> Bound<TenantId> {
    tenant.map_or(Bound::Unbounded, Bound::Excluded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;
    use std::collections::HashMap;
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

    fn ready((tenant, strand): Place) -> ReadyStrand {
        ReadyStrand {
            tenant,
            strand,
            key: None,
            driver: None,
            lacks_room: false,
            tasks: Vec::new(),
            more_late: false,
            more_on_time: false,
        }
    }

    /// What the selection of `plan` reads where `there` have a ready task.
    fn select(plan: &SelectionPlan, there: &BTreeSet<Place>) -> Selection {
        let (mut scanned, mut at) = (Vec::new(), plan.after);
        while let Some((tenant, _)) = there.range((beyond(at), Bound::Unbounded)).next() {
            at = Some(*tenant);
            let first = strands(there, *tenant).into_iter().take(STRANDS_PER_TENANT as usize);
            scanned.extend(first.map(|strand| (*tenant, strand)));
            if scanned.len() as u64 >= plan.scanned_strands {
                break;
            }
        }
        let cut = scanned.len() as u64 >= plan.scanned_strands;
        scanned.truncate(plan.scanned_strands as usize);
        let mut requested = Vec::new();
        let range = |(tenant, after): &(TenantId, Option<Strand>), later: bool| {
            let mut all = strands(there, *tenant);
            all.retain(|strand| (Some(*strand) > *after) == later);
            (*tenant, all)
        };
        let ranges = plan.requested.iter().map(|named| range(named, true));
        let ranges: Vec<_> =
            ranges.chain(plan.requested.iter().map(|named| range(named, false))).collect();
        for place in 0..REQUESTED {
            let of = |(tenant, all): &(TenantId, Vec<Strand>)| Some((*tenant, *all.get(place)?));
            requested.extend(ranges.iter().filter_map(of));
            if requested.len() >= REQUESTED {
                break;
            }
        }
        requested.truncate(REQUESTED.max(ranges.len()));
        let all: BTreeSet<Place> = scanned.iter().chain(&requested).copied().collect();
        let mut partial = HashMap::new();
        for tenant in all.iter().map(|(tenant, _)| *tenant) {
            if strands(&all, tenant).len() < strands(there, tenant).len() {
                let after = plan.requested.iter().find(|named| named.0 == tenant);
                let own = |places: &[Place], after| {
                    let own = places.iter().filter(|place| place.0 == tenant);
                    own.map(|place| place.1).filter(|strand| Some(*strand) > after).max()
                };
                let last =
                    after.map_or_else(|| own(&scanned, None), |named| own(&requested, named.1));
                partial.insert(tenant, last.unwrap_or(Strand(i64::MIN)));
            }
        }
        let resume_after = at.filter(|_| cut);
        let strands = all.into_iter().map(ready).collect();
        Selection { now: Timestamp::default(), strands, resume_after, partial }
    }

    fn beyond(tenant: Option<TenantId>) -> Bound<Place> {
        tenant.map_or(Bound::Unbounded, |tenant| Bound::Excluded((tenant, Strand(i64::MAX))))
    }

    fn tick(
        backlog: &mut Backlog,
        slots: u64,
        next: impl IntoIterator<Item = TenantId>,
        there: &BTreeSet<Place>,
    ) -> (SelectionPlan, Vec<TenantSelection>) {
        let plan = backlog.plan(next.into_iter(), slots, &Running::default());
        let selection = select(&plan, there);
        let by_tenant = backlog.record(&plan, selection);
        (plan, by_tenant)
    }

    fn of(read: &[TenantSelection], tenant: TenantId) -> Option<&TenantSelection> {
        read.iter().find(|read| read.tenant == tenant)
    }

    #[test]
    fn where_few_wait_each_selection_reads_all_and_returns_those_without_tasks_too() {
        let mut backlog = Backlog::default();
        let mut there: BTreeSet<_> = (1..=20).flat_map(|n| places(n, 2)).collect();
        let (plan, read) = tick(&mut backlog, 32, [], &there);
        assert_eq!(read.len(), 20);
        assert!(read.iter().all(|of| of.strands.len() == 2 && !of.is_partial));
        assert!(backlog.is_all(&plan));
        there.retain(|place| place.0 != tenant(3));
        let (plan, read) = tick(&mut backlog, 32, (1..=5).map(tenant), &there);
        assert!(plan.requested.is_empty());
        let third = of(&read, tenant(3)).unwrap();
        assert!(third.strands.is_empty() && !third.is_partial);
        let (_, read) = tick(&mut backlog, 32, [tenant(3)], &there);
        assert!(
            of(&read, tenant(3)).unwrap().strands.is_empty(),
            "a tenant that was to be next is returned without tasks"
        );
    }

    #[test]
    fn where_many_wait_the_next_are_read_and_all_others_in_rotation() {
        let mut backlog = Backlog::default();
        let there: BTreeSet<_> = (1..=10_000).flat_map(|n| places(n, 1)).collect();
        let mut found = BTreeSet::new();
        for _ in 0..160 {
            let (plan, read) = tick(&mut backlog, 32, [], &there);
            assert!(!backlog.is_all(&plan));
            found.extend(read.into_iter().map(|of| of.tenant));
        }
        assert_eq!(found.len(), 10_000);
        let next = [9_000, 77, 5_000].map(tenant);
        let (_, read) = tick(&mut backlog, 32, next, &there);
        assert!(next.iter().all(|tenant| of(&read, *tenant).is_some()));
        assert!(read.len() <= SCANNED_OF_MANY as usize + next.len());
    }

    #[test]
    fn very_many_strands_of_one_tenant_hide_no_other_and_each_of_them_is_read() {
        let mut backlog = Backlog::default();
        let mut there: BTreeSet<_> = places(1, 5000).chain(places(3, 1)).collect();
        let mut found = BTreeSet::new();
        for n in 0..40 {
            if n == 20 {
                there.extend(places(2, 1));
            }
            let (plan, read) = tick(&mut backlog, 1, [tenant(1)], &there);
            assert!(of(&read, tenant(3)).is_some(), "selection {n}");
            assert_eq!(of(&read, tenant(2)).is_some(), n >= 20, "selection {n}");
            let own = of(&read, tenant(1)).unwrap();
            assert!(plan.requested.len() == 1 || n == 0);
            assert!(own.is_partial && own.strands.len() <= REQUESTED + STRANDS_PER_TENANT as usize);
            found.extend(own.strands.iter().map(|strand| strand.strand));
        }
        assert_eq!(found.len(), 5000);
    }

    #[test]
    fn who_has_many_strands_takes_no_place_of_the_next_and_reads_on_where_it_stopped() {
        let mut backlog = Backlog::default();
        let wide = || (1..=40).flat_map(|n| places(n, 400));
        let there: BTreeSet<_> = wide().chain((41..=9000).flat_map(|n| places(n, 1))).collect();
        for _ in 0..200 {
            tick(&mut backlog, 1, [], &there);
        }
        let mut found = BTreeSet::new();
        for n in 0..200 {
            let first = (0..3).map(|k| tenant((n * 3 + k) % 40 + 1));
            let (_, read) = tick(&mut backlog, 1, first.chain([tenant(8000)]), &there);
            assert!(of(&read, tenant(8000)).is_some());
            for TenantSelection { tenant, strands, .. } in read {
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
            backlog.adjust_rows(true);
            assert_eq!(rows(&backlog, 256), expected);
        }
        for expected in [2048, 1024, 512, 512] {
            backlog.adjust_rows(false);
            assert_eq!(rows(&backlog, 256), expected);
        }
    }

    #[test]
    fn after_all_was_read_and_nothing_could_start_there_is_a_pause() {
        for (there, whole) in [(300, 2), (9000, 150)] {
            let there: BTreeSet<_> = (1..=there).flat_map(|n| places(n, 1)).collect();
            let mut backlog = Backlog::default();
            for _ in 0..2 * whole {
                tick(&mut backlog, 1, [], &there);
                backlog.reads_on(1);
            }
            let pauses = |backlog: &mut Backlog| {
                let selections = (0..10 * whole).filter(|_| {
                    tick(backlog, 1, [], &there);
                    !backlog.reads_on(0)
                });
                selections.count()
            };
            assert!((5..=10).contains(&pauses(&mut backlog)), "{whole}");
            assert!(backlog.reads_on(1));
        }
    }
}
