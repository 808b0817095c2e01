//! When a task would start that is not submitted yet: a range, and why it is that or unknown.

use super::eta::{Basis, Eta, later};
use super::facts::{Facts, Waits};
use super::reason::{Reason, Turn};
use super::{Explanation, explain};
use crate::time::Timestamp;
use chrono::TimeDelta;

/// The figures are up to a second old, and a free slot is found within a second.
const AT_ONCE: TimeDelta = TimeDelta::seconds(1);

/// When a task would start. Not a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedStart {
    /// Not before; `None`: unknown.
    pub from: Option<Timestamp>,
    /// Expected by then; `None`: unknown.
    pub to: Option<Timestamp>,
    /// Why it is so, or unknown: a sentence.
    pub reason: &'static str,
}

impl ExpectedStart {
    /// Unknown, for this reason.
    #[must_use]
    pub const fn unknown(reason: &'static str) -> Self {
        Self { from: None, to: None, reason }
    }
}

/// When a task with these facts would start, in whose pool so many slots come free a second; `None`: unknown.
#[must_use]
pub fn expected_start(facts: Facts, pool_rate: Option<f64>) -> ExpectedStart {
    let waits = facts.waits.clone();
    let Explanation { at, reasons, eta, .. } = explain(facts);
    let Eta { earliest, estimate, basis } = eta;
    let by_pool = waits.and_then(|waits| {
        let turn = waits.ready.as_ref()?.turn;
        let room = Room { at, waits: &waits, pool_rate };
        match (basis, reasons.first()?) {
            (Basis::NoFigures, Reason::Turn(_)) => room.without_a_turn(&turn),
            (Basis::Room, Reason::NoRoom { for_its_size: false, .. }) => room.of_a_full_pool(&turn),
            _ => None,
        }
    });
    by_pool.unwrap_or_else(|| {
        let known = earliest.is_some() || estimate.is_some();
        let is_pace = matches!(basis, Basis::Pace | Basis::Caps);
        let from = earliest.or_else(|| (known && is_pace).then_some(at));
        ExpectedStart { from, to: estimate, reason: sentence(basis) }
    })
}

/// What a pool has for a task whose tenant has no turn there yet.
struct Room<'a> {
    at: Timestamp,
    waits: &'a Waits,
    pool_rate: Option<f64>,
}

impl Room<'_> {
    fn without_a_turn(&self, turn: &Turn) -> Option<ExpectedStart> {
        if turn.tasks_before == 0 && !self.waits.rooms.is_full_for(self.waits.resources) {
            return Some(ExpectedStart {
                from: Some(self.at),
                to: Some(self.at + AT_ONCE),
                reason: "The pool has room, and none of your tasks waits for it.",
            });
        }
        self.at_the_pools_rate(turn)
    }

    fn of_a_full_pool(&self, turn: &Turn) -> Option<ExpectedStart> {
        self.at_the_pools_rate(turn)
    }

    /// From when enough slots have come free, to when those before it have had as many each; that is not known where others wait.
    fn at_the_pools_rate(&self, turn: &Turn) -> Option<ExpectedStart> {
        let rate = self.pool_rate?;
        let slots = f64::from(self.waits.resources.slots());
        let free = self.waits.rooms.free_slots() as f64;
        let from = later(self.at, (slots - free).max(0.0) / rate)?;
        let turns = turn.tasks_before as f64 + 1.0;
        let tenants = turn.tenants_before.map(|before| f64::from(before) + 1.0);
        let to = tenants.filter(|_| !turn.at_least);
        let to = to.and_then(|tenants| later(self.at, slots * turns * tenants / rate));
        let reason = if to.is_some() {
            "The pool is full: slots come free at its recent rate, and each tenant that waits has its turn."
        } else {
            "The pool is full: slots come free at its recent rate. How many of other tenants go first is not known."
        };
        Some(ExpectedStart { from: Some(from), to, reason })
    }
}

/// Why a time is what it is, or unknown.
const fn sentence(basis: Basis) -> &'static str {
    match basis {
        Basis::Time => "It is due then. What it has to wait for after that is not known.",
        Basis::Parents => "Other tasks must end first.",
        Basis::Path => "By the execution caps along the path of its run.",
        Basis::Answer => "A signal must come, or a person must decide.",
        Basis::Pace => {
            "By its place among your waiting tasks, and how fast these have been started lately."
        }
        Basis::Caps => "By the execution caps of the tasks with its concurrency key.",
        Basis::Placing | Basis::Started => "It would start at once.",
        Basis::Key => "Tasks with its concurrency key are ahead of it.",
        Basis::People => "Its tenant, its pool or its concurrency key must be resumed first.",
        Basis::SpendCap => "A spend cap has no room for it.",
        Basis::Executors => "No executor that is connected can run it.",
        Basis::Target => "Its target must recover first.",
        Basis::Room => "The pool has no room for it, and when there is room is not known.",
        Basis::SpareRoom => "Flexible tasks start in spare room, which cannot be predicted.",
        Basis::NoPace => "None of your tasks has been started lately.",
        Basis::NoFigures => "No scheduler has told yet how fast the pool goes.",
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::Ready;
    use super::super::reason::LimitUse;
    use super::super::room::{Room as PoolRoom, Rooms};
    use super::*;
    use crate::id::TaskId;
    use crate::resources::Tier;
    use crate::task::{DriverSet, State};
    use crate::tenant::TenantState;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    /// A regular task needs 5 slots.
    fn facts(free_slots: u64, turn: Turn) -> Facts {
        let largest = Tier::Premium.resources();
        let lacks = std::iter::empty::<crate::resources::Resources>().collect();
        let room =
            PoolRoom { free_slots, largest, free: None, lacks, drivers: DriverSet::default() };
        let ready = Ready { key: None, limit: None, spare_until: None, turn };
        let waits = Waits {
            resources: Tier::Regular.resources(),
            driver: "command".parse().ok(),
            standing: TenantState::Active,
            suspended_at: None,
            pool: "default".parse().unwrap(),
            paused: None,
            rooms: Rooms(vec![room]),
            ready: Some(ready),
        };
        let (id, state, own, held) = (TaskId::fresh(), State::Ready, None, None);
        Facts { id, state, at: at(100), expires_at: None, own, held, waits: Some(waits) }
    }

    fn turn(tasks_before: u64, tenants_before: Option<u32>, rate: Option<f64>) -> Turn {
        Turn { tasks_before, at_least: false, late: false, shared: false, tenants_before, rate }
    }

    fn range(facts: Facts, pace: Option<f64>) -> (Option<i64>, Option<i64>, &'static str) {
        let ExpectedStart { from, to, reason } = expected_start(facts, pace);
        let seconds = |time: Option<Timestamp>| time.map(|time| (time - at(0)).num_seconds());
        (seconds(from), seconds(to), reason)
    }

    #[test]
    fn with_room_and_nothing_before_it_a_task_starts_at_once() {
        let (from, to, reason) = range(facts(5, turn(0, None, None)), None);
        assert_eq!((from, to), (Some(100), Some(101)));
        assert!(reason.contains("has room"), "{reason}");
    }

    #[test]
    fn behind_tasks_of_its_tenant_it_goes_at_their_pace() {
        let (from, to, reason) = range(facts(5, turn(19, Some(0), Some(2.0))), None);
        assert_eq!((from, to), (Some(100), Some(110)));
        assert!(reason.contains("your waiting tasks"), "{reason}");
        // Of tasks that are on time and late, it goes from their whole pace to its class's part.
        let shared = Turn { shared: true, ..turn(19, Some(0), Some(2.0)) };
        assert_eq!(range(facts(5, shared), None).0, Some(110));
    }

    #[test]
    fn a_full_pool_has_room_at_the_rate_at_which_slots_come_free() {
        // One slot is free, 4 are missing, and half a slot comes free a second.
        let (from, to, _) = range(facts(1, turn(0, None, None)), Some(0.5));
        assert_eq!((from, to), (Some(108), None));
        let (from, to, _) = range(facts(1, turn(1, Some(2), None)), Some(0.5));
        assert_eq!((from, to), (Some(108), Some(100 + 5 * 2 * 3 * 2)));
        for pace in [None, Some(0.0)] {
            let (from, to, reason) = range(facts(1, turn(0, None, None)), pace);
            assert_eq!((from, to), (None, None));
            assert!(reason.contains("no room"), "{reason}");
        }
    }

    #[test]
    fn what_cannot_be_known_says_why() {
        let mut paused = facts(5, turn(0, None, None));
        paused.waits.as_mut().unwrap().rooms = Rooms::default();
        let (from, to, reason) = range(paused, Some(1.0));
        assert_eq!((from, to), (None, None));
        assert!(reason.contains("No executor"), "{reason}");
        let mut due = facts(5, turn(0, None, None));
        due.own = Some(Reason::Due { at: at(500) });
        due.waits.as_mut().unwrap().ready = None;
        let (from, to, _) = range(due, None);
        assert_eq!((from, to), (Some(500), None));
        let mut limited = facts(5, turn(3, None, None));
        limited.waits.as_mut().unwrap().ready.as_mut().unwrap().limit =
            Some(LimitUse { held: 5, limit: 5 });
        let (from, to, reason) = range(limited, None);
        assert_eq!((from, to), (None, None), "{reason}");
    }
}
