//! Where in a pool something waits, as far as it was seen, and where to look next.
//!
//! Strands are found by going round all of them, so many a tick; those of the tenants whose turn it is are looked at besides. Where
//! there are few, each tick sees them all. So a tick costs the same whatever waits, and what is kept here is bounded.

use domain::batch::{ConcurrencyKey, Running, Strand};
use domain::id::TenantId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use store::task::{Look, Seen, StrandRows};

/// Strands that one look goes round, ...
const A_LOOK: usize = 256;
/// ... and where there are more than that.
const A_LOOK_OF_MANY: usize = 64;
/// Strands looked at by name, at most.
const NAMED: usize = 256;
/// Strands that are kept. What is beyond is found again on the next round.
const MOST: usize = 100_000;
/// Rows that a look reads, about; of each strand [`LEAST_ROWS`] are.
const ROWS: u64 = 4096;
const LEAST_ROWS: u64 = 4;
/// Strands that are expected where none is known.
const UNKNOWN: usize = 16;

type Place = (TenantId, Strand);

/// The strands of a pool that had something ready when they were last seen.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    strands: BTreeMap<Place, Option<ConcurrencyKey>>,
    /// The round goes on after this one; `None`: it begins.
    after: Option<Place>,
}

/// What to look at.
#[derive(Debug)]
pub(super) struct Plan {
    after: Option<Place>,
    strands: u64,
    named: Vec<Place>,
    fewer: Vec<(TenantId, Strand, u64)>,
    per_strand: u64,
    /// Tenants that wait though nothing is known to: they are to be seen without anything.
    pub unknown: Vec<TenantId>,
}

/// What became known of a tenant: the strands that were looked at, and whether it has others.
pub(super) type SeenOfTenant = (TenantId, Vec<StrandRows>, bool);

impl Backlog {
    /// What to look at for a pick of `slots`, where `next` have the next turns.
    pub(super) fn plan(
        &self,
        next: impl Iterator<Item = TenantId>,
        slots: u64,
        running: &Running,
    ) -> Plan {
        let most = if self.strands.len() <= A_LOOK { A_LOOK } else { A_LOOK_OF_MANY };
        let round: BTreeSet<Place> = self.beyond(self.after).take(most).collect();
        // All that comes after is in the round where less is left of it than that.
        let until = round.last().filter(|_| round.len() == most).copied();
        let in_round =
            |place: &Place| Some(*place) > self.after && until.is_none_or(|until| *place <= until);
        let (mut named, mut unknown) = (Vec::new(), Vec::new());
        for tenant in next.take(usize::try_from(slots).unwrap_or(NAMED).min(NAMED)) {
            let before = named.len();
            let mut own = self.of_tenant(tenant).peekable();
            if own.peek().is_none() {
                unknown.push(tenant);
            }
            named.extend(own.filter(|place| !in_round(place)).take(NAMED - before));
            if named.len() == NAMED {
                break;
            }
        }
        let round_of = if self.strands.is_empty() { UNKNOWN } else { round.len() };
        let looks = round_of + named.len();
        let even = ROWS / u64::try_from(looks).unwrap_or(ROWS).max(1);
        let per_strand = even.max(LEAST_ROWS).min(slots);
        let fewer = round.iter().chain(&named).filter_map(|place| {
            let key = self.strands.get(place).and_then(Option::as_ref);
            let worth = running.worth_a_look(place.0, key);
            (worth < per_strand).then_some((place.0, place.1, worth))
        });
        let fewer = fewer.collect();
        Plan { after: self.after, strands: most as u64, named, fewer, per_strand, unknown }
    }

    /// Takes up what was seen: by tenant, those of which something was looked at.
    pub(super) fn seen(&mut self, plan: &Plan, seen: Seen) -> Vec<SeenOfTenant> {
        let last = seen.next.map_or(Bound::Unbounded, Bound::Included);
        let round = self.strands.range((after(plan.after), last));
        let looked: BTreeSet<Place> =
            round.map(|(place, _)| *place).chain(plan.named.iter().copied()).collect();
        looked.iter().for_each(|place| drop(self.strands.remove(place)));
        self.after = seen.next;
        let mut tenants: BTreeMap<TenantId, Vec<StrandRows>> =
            looked.into_iter().map(|(tenant, _)| (tenant, Vec::new())).collect();
        for strand in seen.strands {
            if self.strands.len() < MOST {
                self.strands.insert((strand.tenant, strand.strand), strand.key.clone());
            }
            tenants.entry(strand.tenant).or_default().push(strand);
        }
        let of_tenant = |(tenant, strands): (TenantId, Vec<StrandRows>)| {
            let others = self.of_tenant(tenant).nth(strands.len()).is_some();
            (tenant, strands, others)
        };
        tenants.into_iter().map(of_tenant).collect()
    }

    /// All that waits was looked at.
    pub(super) fn is_all(&self, plan: &Plan) -> bool {
        plan.after.is_none() && self.after.is_none()
    }

    fn beyond(&self, place: Option<Place>) -> impl Iterator<Item = Place> {
        self.strands.range((after(place), Bound::Unbounded)).map(|(place, _)| *place)
    }

    fn of_tenant(&self, tenant: TenantId) -> impl Iterator<Item = Place> {
        let (first, last) = ((tenant, Strand(i64::MIN)), (tenant, Strand(i64::MAX)));
        self.strands.range(first..=last).map(|(place, _)| *place)
    }
}

impl Plan {
    pub(super) fn look<'a>(&'a self, view: &'a super::load::PoolView) -> Look<'a> {
        Look {
            after: self.after,
            strands: self.strands,
            named: &self.named,
            per_strand: self.per_strand,
            fewer: &self.fewer,
            largest: view.largest,
            lacks: &view.lacks,
        }
    }
}

fn after(place: Option<Place>) -> Bound<Place> {
    place.map_or(Bound::Unbounded, Bound::Excluded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;
    use uuid::Uuid;

    fn place(tenant: u128, strand: i64) -> Place {
        (TenantId(Uuid::from_u128(tenant)), Strand(strand))
    }

    /// What a look that was planned so gives where `there` have something ready.
    fn look(plan: &Plan, there: &BTreeSet<Place>) -> Seen {
        let beyond = there.range((after(plan.after), Bound::Unbounded));
        let found: Vec<Place> = beyond.take(plan.strands as usize).copied().collect();
        let next = found.last().filter(|_| found.len() as u64 == plan.strands).copied();
        let named = plan.named.iter().filter(|p| there.contains(p) && !found.contains(p));
        let rows = |(tenant, strand): &Place| StrandRows {
            tenant: *tenant,
            strand: *strand,
            key: None,
            lacks_room: false,
            rows: Vec::new(),
            more_late: false,
            more_on_time: false,
        };
        let strands = found.iter().chain(named).map(rows).collect();
        Seen { now: Timestamp::default(), strands, next }
    }

    fn tick(
        backlog: &mut Backlog,
        next: impl Iterator<Item = TenantId>,
        there: &BTreeSet<Place>,
    ) -> (Plan, Vec<SeenOfTenant>) {
        let plan = backlog.plan(next, 32, &Running::default());
        let seen = look(&plan, there);
        let seen = backlog.seen(&plan, seen);
        (plan, seen)
    }

    #[test]
    fn where_few_wait_each_look_sees_all_and_what_is_gone_is_told() {
        let mut backlog = Backlog::default();
        let mut there: BTreeSet<_> = (1..=20).flat_map(|n| [place(n, 1), place(n, 2)]).collect();
        let (plan, seen) = tick(&mut backlog, std::iter::empty(), &there);
        assert_eq!(seen.len(), 20);
        assert!(seen.iter().all(|(_, strands, others)| strands.len() == 2 && !others));
        assert!(backlog.is_all(&plan));
        assert_eq!(plan.per_strand, 32);
        there.remove(&place(3, 1));
        there.remove(&place(3, 2));
        let first = (1..=5).map(|n| place(n, 0).0);
        let (plan, seen) = tick(&mut backlog, first, &there);
        assert!(plan.named.is_empty());
        let third = seen.iter().find(|(tenant, ..)| *tenant == place(3, 0).0).unwrap();
        assert!(third.1.is_empty() && !third.2);
        let (plan, seen) = tick(&mut backlog, [place(3, 0).0].into_iter(), &there);
        assert_eq!((plan.unknown, seen.len()), (vec![place(3, 0).0], 19));
    }

    #[test]
    fn where_many_wait_the_next_are_looked_at_and_all_others_in_turn() {
        let mut backlog = Backlog::default();
        let there: BTreeSet<_> = (1..=10_000).map(|n| place(n, 1)).collect();
        let mut found = BTreeSet::new();
        for _ in 0..160 {
            let (plan, seen) = tick(&mut backlog, std::iter::empty(), &there);
            assert!(!backlog.is_all(&plan));
            found.extend(seen.into_iter().map(|(tenant, ..)| tenant));
        }
        assert_eq!(found.len(), 10_000);
        let next = [9_000, 77, 5_000].map(|n| place(n, 1).0);
        let (_, seen) = tick(&mut backlog, next.into_iter(), &there);
        let tenants: Vec<_> = seen.iter().map(|(tenant, ..)| *tenant).collect();
        assert!(next.iter().all(|tenant| tenants.contains(tenant)));
        assert!(tenants.len() <= A_LOOK_OF_MANY + next.len());
    }

    #[test]
    fn a_tenant_of_very_many_strands_is_seen_in_parts_and_known_to_have_others() {
        let mut backlog = Backlog::default();
        let there: BTreeSet<_> = (0..1000).map(|n| place(1, n)).chain([place(2, 1)]).collect();
        let mut found = BTreeSet::new();
        for _ in 0..20 {
            let first = [place(1, 0).0];
            let (plan, seen) = tick(&mut backlog, first.into_iter(), &there);
            assert!(plan.named.len() <= NAMED);
            let own = seen.iter().find(|(tenant, ..)| *tenant == place(1, 0).0).unwrap();
            found.extend(own.1.iter().map(|strand| strand.strand));
        }
        assert_eq!(found.len(), 1000);
    }
}
