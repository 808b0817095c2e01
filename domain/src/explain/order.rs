//! The order of reasons.
//!
//! First held retries and its own row, then what stops it at any position: people, executors, limits. Its position is
//! last, because it matters only if nothing else holds it up.

use super::facts::{Facts, Ready, Waits};
use super::reason::Reason;
use crate::resources::{Dimension, Resources};
use crate::time::Timestamp;

/// The reasons, the decisive one first; at least one.
pub(super) fn reasons(facts: &Facts) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = facts.held.iter().chain(&facts.own).cloned().collect();
    if let Some(waits) = &facts.waits {
        reasons.extend(stopped(waits));
        reasons.extend(waits.ready.iter().flat_map(|ready| its_turn(facts.at, waits, ready)));
    }
    reasons
}

/// Reasons that apply before and after its due time.
fn stopped(waits: &Waits) -> impl Iterator<Item = Reason> {
    let suspended = Reason::TenantSuspended { since: waits.suspended_at };
    let suspended = (!waits.standing.may_run()).then_some(suspended);
    let paused = waits.paused.clone().map(Reason::PoolPaused);
    [suspended, paused, no_executor(waits)].into_iter().flatten()
}

/// No executor could ever run it.
fn no_executor(waits: &Waits) -> Option<Reason> {
    let largest = waits.rooms.largest();
    if largest == Resources::default() {
        return Some(Reason::NoExecutor { pool: waits.pool.clone() });
    }
    if let Some(driver) = waits.driver
        && !waits.rooms.offers(Some(driver))
    {
        return Some(Reason::NoDriver { driver: driver.to_string() });
    }
    let lacks = |d: &Dimension| d.of(waits.resources) > d.of(largest);
    let dimension = Dimension::ALL.into_iter().find(lacks)?;
    let (asked, largest) = (dimension.of(waits.resources), dimension.of(largest));
    Some(Reason::TooLarge { dimension, asked, largest })
}

fn its_turn(at: Timestamp, waits: &Waits, ready: &Ready) -> Vec<Reason> {
    let key = ready.key.clone().filter(|key| key.is_full()).map(Reason::ConcurrencyKey);
    let spare = ready.spare_until.filter(|until| *until > at);
    let spare = spare.map(|until| Reason::SpareRoom { until });
    let limit = ready.limit.map(Reason::RunningLimit);
    // A task held by its key, by flexibility or by its size has no position among the others.
    let aside =
        key.is_some() || spare.is_some() || waits.rooms.passes_over(waits.driver, waits.resources);
    let turn = (!aside).then_some(Reason::Turn(ready.turn));
    let last = if is_next(ready) { [no_room(waits), turn] } else { [turn, no_room(waits)] };
    [key, spare, limit].into_iter().chain(last).flatten().collect()
}

/// No task is known to be ahead of it. Of a full pool the batcher reads no waiting tasks, so the positions of other
/// tenants may be unknown.
fn is_next(ready: &Ready) -> bool {
    ready.turn.tasks_before == 0 && ready.turn.tenants_before.is_none_or(|before| before == 0)
}

/// The pool is full, or has no room for its size.
fn no_room(waits: &Waits) -> Option<Reason> {
    let (size, largest) = (waits.resources, waits.rooms.largest());
    let for_its_size = waits.rooms.passes_over(waits.driver, size);
    if no_executor(waits).is_some() || !(for_its_size || waits.rooms.is_full_for(size)) {
        return None;
    }
    let dimension = shortest(size, waits.rooms.free().unwrap_or(largest), largest)?;
    Some(Reason::NoRoom {
        dimension,
        asked: dimension.of(size),
        largest: dimension.of(largest),
        slots: size.slots(),
        free_slots: waits.rooms.free_slots(),
        for_its_size,
    })
}

/// The dimension of which a task of this `size` needs the largest part of `free`; if it exceeds several, the one with
/// the largest part of the largest executor.
fn shortest(size: Resources, free: Resources, largest: Resources) -> Option<Dimension> {
    let share = |d: &Dimension, of: Resources| match (d.of(size), d.of(of)) {
        (0, _) => 0.0,
        (asked, have) => f64::from(asked) / f64::from(have),
    };
    let wants = |d: &Dimension| (share(d, free).min(f64::MAX), share(d, largest));
    let asked = Dimension::ALL.into_iter().filter(|d| d.of(size) > 0);
    asked.max_by(|a, b| {
        let ((free_a, all_a), (free_b, all_b)) = (wants(a), wants(b));
        free_a.total_cmp(&free_b).then(all_a.total_cmp(&all_b))
    })
}

#[cfg(test)]
mod tests {
    use super::super::reason::{KeyUse, LimitUse, Pause, Turn};
    use super::super::room::{Room, Rooms};
    use super::super::{Basis, Eta, Explanation, explain};
    use super::*;
    use crate::id::TaskId;
    use crate::resources::Tier;
    use crate::task::{DriverSet, State};
    use crate::tenant::TenantState;
    use chrono::TimeDelta;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn room(free_slots: u64, lacks: &[Tier]) -> Room {
        Room {
            free_slots,
            largest: Tier::Premium.resources(),
            free: None,
            lacks: lacks.iter().map(|tier| tier.resources()).collect(),
            drivers: DriverSet::default(),
        }
    }

    /// Nothing but its turn stands before it: 3 tasks, and 2 tenants.
    fn ready() -> Ready {
        let turn = Turn {
            tasks_before: 3,
            at_least: false,
            late: false,
            shared: false,
            tenants_before: Some(2),
            rate: Some(1.0),
        };
        Ready { key: None, limit: None, spare_until: None, turn }
    }

    fn waits(ready: Option<Ready>) -> Waits {
        Waits {
            resources: Tier::Regular.resources(),
            driver: "command".parse().ok(),
            standing: TenantState::Active,
            suspended_at: None,
            pool: "default".parse().unwrap(),
            paused: None,
            rooms: Rooms(vec![room(100, &[])]),
            ready,
        }
    }

    fn explained(own: Option<Reason>, waits: Option<Waits>) -> Explanation {
        let (id, state) = (TaskId::fresh(), State::Ready);
        explain(Facts { id, state, at: at(0), expires_at: None, own, held: None, waits })
    }

    /// The names of the reasons, and what the start rests on.
    fn reasons_and_basis(explanation: &Explanation) -> (Vec<String>, Basis) {
        let name = |reason: &Reason| {
            serde_json::to_value(reason).unwrap()["reason"].as_str().unwrap().to_owned()
        };
        (explanation.reasons.iter().map(name).collect(), explanation.eta.basis)
    }

    fn ready_and(change: impl FnOnce(&mut Waits, &mut Ready)) -> (Vec<String>, Basis) {
        let (mut waits, mut ready) = (waits(None), ready());
        change(&mut waits, &mut ready);
        reasons_and_basis(&explained(None, Some(Waits { ready: Some(ready), ..waits })))
    }

    fn names(names: &[&str], basis: Basis) -> (Vec<String>, Basis) {
        (names.iter().map(ToString::to_string).collect(), basis)
    }

    #[test]
    fn a_task_that_nothing_holds_up_waits_for_its_turn() {
        let explanation = explained(None, Some(waits(Some(ready()))));
        assert_eq!(reasons_and_basis(&explanation), names(&["turn"], Basis::Pace));
        let eta = Eta { earliest: None, estimate: Some(at(4)), basis: Basis::Pace };
        assert_eq!(explanation.eta, eta);
    }

    #[test]
    fn people_and_executors_hold_a_task_up_whatever_its_turn() {
        let suspended = ready_and(|waits, _| {
            waits.standing = TenantState::Suspended;
            waits.paused = Some(Pause { since: at(0), because: None });
        });
        let both = ["tenant_suspended", "pool_paused", "turn"];
        assert_eq!(suspended, names(&both, Basis::People));
        let nobody = ready_and(|waits, _| waits.rooms = Rooms::default());
        assert_eq!(nobody, names(&["no_executor"], Basis::Executors));
        let large = |waits: &mut Waits, _: &mut Ready| waits.resources.memory_mib = 8193;
        assert_eq!(ready_and(large), names(&["too_large"], Basis::Executors));
        let noop = |waits: &mut Waits, _: &mut Ready| {
            let drivers = DriverSet::of(["noop".parse().unwrap()]);
            waits.rooms = Rooms(vec![Room { drivers, ..room(100, &[]) }]);
        };
        assert_eq!(ready_and(noop), names(&["no_driver"], Basis::Executors));
        let unknown = ready_and(|waits, ready| {
            noop(waits, ready);
            waits.driver = None;
        });
        assert_eq!(unknown, names(&["turn"], Basis::Pace));
        let mut waits = waits(None);
        waits.resources.memory_mib = 8193;
        let largest = Tier::Premium.resources().memory_mib;
        let dimension = Dimension::MemoryMib;
        assert_eq!(no_executor(&waits), Some(Reason::TooLarge { dimension, asked: 8193, largest }));
    }

    #[test]
    fn a_task_before_its_time_waits_for_that_first_and_tells_what_else_stands_in_its_way() {
        let due = Reason::Due { at: at(60) };
        let explanation = explained(Some(due.clone()), Some(waits(None)));
        assert_eq!(explanation.reasons, std::slice::from_ref(&due));
        let paused = Some(Pause { since: at(0), because: None });
        let paused = explained(Some(due), Some(Waits { paused, ..waits(None) }));
        assert_eq!(reasons_and_basis(&paused), names(&["due", "pool_paused"], Basis::Time));
        assert_eq!(paused.eta.earliest, Some(at(60)));
    }

    #[test]
    fn limits_come_before_the_turn_and_a_full_key_stands_aside() {
        let key = |held| {
            let (key, holders) = ("db".to_owned(), Vec::new());
            Some(KeyUse { key, limit: 2, held, holders, others_before: false })
        };
        let full = ready_and(|_, ready| ready.key = key(2));
        assert_eq!(full, names(&["concurrency_key"], Basis::Key));
        let free = ready_and(|_, ready| ready.key = key(1));
        assert_eq!(free, names(&["turn"], Basis::Pace));
        let limited = ready_and(|_, ready| ready.limit = Some(LimitUse { held: 5, limit: 5 }));
        assert_eq!(limited, names(&["running_limit", "turn"], Basis::Pace));
    }

    #[test]
    fn a_flexible_task_waits_for_spare_room_until_its_time_is_nearly_over() {
        let before = ready_and(|_, ready| ready.spare_until = Some(at(1)));
        assert_eq!(before, names(&["spare_room"], Basis::SpareRoom));
        let after = ready_and(|_, ready| ready.spare_until = Some(at(0)));
        assert_eq!(after, names(&["turn"], Basis::Pace));
    }

    #[test]
    fn room_is_what_the_next_waits_for_and_what_others_find_too_small() {
        let full = |waits: &mut Waits, _: &mut Ready| waits.rooms = Rooms(vec![room(3, &[])]);
        assert_eq!(ready_and(full), names(&["turn", "no_room"], Basis::Pace));
        let next = ready_and(|waits, ready| {
            full(waits, ready);
            (ready.turn.tasks_before, ready.turn.tenants_before) = (0, Some(0));
        });
        assert_eq!(next, names(&["no_room", "turn"], Basis::Pace));
        let first_of_a_full_pool = ready_and(|waits, ready| {
            full(waits, ready);
            ready.turn = Turn { tasks_before: 0, tenants_before: None, rate: None, ..ready.turn };
        });
        assert_eq!(first_of_a_full_pool, names(&["no_room", "turn"], Basis::Room));
        let lacking = |waits: &mut Waits, _: &mut Ready| {
            waits.rooms = Rooms(vec![room(50, &[Tier::Regular])]);
        };
        assert_eq!(ready_and(lacking), names(&["no_room"], Basis::Room));
        let mut waits = waits(None);
        lacking(&mut waits, &mut ready());
        let no_room = Reason::NoRoom {
            dimension: Dimension::Ports,
            asked: 2,
            largest: 4,
            slots: 5,
            free_slots: 50,
            for_its_size: true,
        };
        assert_eq!(super::no_room(&waits), Some(no_room));
    }

    #[test]
    fn what_is_short_is_named_by_what_is_free_and_never_by_what_is_not_asked_for() {
        let blamed = |free: Resources, size: Resources| {
            let mut waits = waits(None);
            waits.resources = size;
            waits.rooms = Rooms(vec![Room { free: Some(free), ..room(0, &[]) }]);
            let Some(Reason::NoRoom { dimension, .. }) = super::no_room(&waits) else {
                panic!("there is no room")
            };
            dimension
        };
        let (all, basic) = (Tier::Premium.resources(), Tier::Basic.resources());
        let used_up = |dimension: Dimension| {
            let mut left = all.dimensions();
            left[dimension as usize] = 0;
            Resources::from_dimensions(left)
        };
        for dimension in Dimension::ALL {
            assert_eq!(blamed(used_up(dimension), basic), dimension);
        }
        let without_ports = Resources { ports: 0, ..basic };
        let half = Resources { iops: 25, ports: 0, ..all };
        assert_eq!(blamed(half, without_ports), Dimension::Iops);
    }

    #[test]
    fn what_was_handed_out_says_so_and_no_more() {
        let running = Reason::Running { attempt: 1, executor: None, since: at(0) };
        let ended = Reason::Ended { at: at(0), exit_code: Some(0), because: None };
        for (own, basis) in [
            (Reason::Placing { until: at(5) }, Basis::Placing),
            (running, Basis::Started),
            (ended, Basis::Started),
        ] {
            let explanation = explained(Some(own.clone()), None);
            assert_eq!((explanation.reasons, explanation.eta.basis), (vec![own], basis));
        }
    }

    #[test]
    fn the_names_are_those_of_all_reasons() {
        let unknown = serde_json::from_value::<Reason>(serde_json::json!({"reason": "?"}));
        let unknown = unknown.unwrap_err().to_string();
        let names = Reason::NAMES.map(|name| format!("`{name}`")).join(", ");
        assert!(unknown.contains(&format!("expected one of {names}")), "{unknown}");
    }
}
