//! The estimated start of a task and its basis.

use super::reason::{KeyUse, Reason, Turn};
use crate::time::Timestamp;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

/// Smallest and largest share of the late class within a tenant: see docs/fairness.md.
const LATE_PART: [f64; 2] = [0.2, 0.6];

/// Longest estimate from a rate.
const FAR: TimeDelta = TimeDelta::days(3650);

/// Estimated start of a task. Not a promise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Eta {
    /// Earliest start, as far as known.
    pub earliest: Option<Timestamp>,
    /// Estimated start.
    pub estimate: Option<Timestamp>,
    /// Basis of the times, or why there are none.
    pub basis: Basis,
}

/// Basis of an [`Eta`].
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Its due time; its wait after that is unknown.
    Time,
    /// No times: other tasks must end first.
    Parents,
    /// Execution caps along the path of its workflow run: the end of those that it waits for, if none waits for room or is retried.
    Path,
    /// No times: a signal must come, or a person must decide.
    Answer,
    /// Its position, and the recent dispatch rate of its tenant.
    Pace,
    /// Execution caps of tasks with its concurrency key: the latest end of one.
    Caps,
    /// Dispatched: it starts soon.
    Placing,
    /// No times: others with its concurrency key are ahead, or the task that holds the key has not started.
    Key,
    /// No times: its tenant, pool or concurrency key must be resumed, or its spend cap raised.
    People,
    /// No times: a spend cap must have room, when tasks end that cost less than they could, or in its next period.
    SpendCap,
    /// No times: a suitable executor must connect.
    Executors,
    /// Its target must recover first; at the estimate it is retried in any case.
    Target,
    /// No times: room must become free.
    Room,
    /// No times: spare room cannot be predicted.
    SpareRoom,
    /// No times: no task of its tenant was dispatched recently.
    NoPace,
    /// No times: no batcher is active, or its tenant has just begun to wait.
    NoFigures,
    /// No times: it has started or ended.
    Started,
}

impl Basis {
    /// All of them.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Eta {
    /// By when a node of a workflow run starts.
    #[must_use]
    pub const fn along_path(by: Timestamp) -> Self {
        Self { earliest: None, estimate: Some(by), basis: Basis::Path }
    }

    const fn unknown(basis: Basis) -> Self {
        Self { earliest: None, estimate: None, basis }
    }
}

/// The estimate from `reasons`, the decisive one first, at `at`.
pub(super) fn eta(at: Timestamp, reasons: &[Reason]) -> Eta {
    let turn = reasons.iter().find_map(|reason| {
        let Reason::Turn(turn) = reason else { return None };
        Some(turn)
    });
    match reasons.first() {
        Some(Reason::RetryBudget { .. }) => of_target(at, None, reasons),
        Some(Reason::BreakerOpen { next_probe_at, .. }) => {
            of_target(at, Some(*next_probe_at), reasons)
        }
        Some(Reason::Due { at: due } | Reason::Retry { at: due, .. }) => {
            Eta { earliest: Some(at.max(*due)), estimate: None, basis: Basis::Time }
        }
        Some(Reason::Parents(_) | Reason::Items { .. }) => Eta::unknown(Basis::Parents),
        Some(Reason::Signal { .. } | Reason::Approval { .. }) => Eta::unknown(Basis::Answer),
        Some(Reason::SpendCap(lack)) if !lack.is_for_good() => Eta::unknown(Basis::SpendCap),
        Some(Reason::SpendCap(_)) => Eta::unknown(Basis::People),
        Some(Reason::TenantSuspended { .. } | Reason::PoolPaused(_)) => Eta::unknown(Basis::People),
        Some(Reason::NoExecutor { .. } | Reason::NoDriver { .. } | Reason::TooLarge { .. }) => {
            Eta::unknown(Basis::Executors)
        }
        Some(Reason::ConcurrencyKey(key)) => of_key(at, key),
        Some(Reason::SpareRoom { .. }) => Eta::unknown(Basis::SpareRoom),
        Some(Reason::NoRoom { for_its_size: true, .. }) => Eta::unknown(Basis::Room),
        Some(Reason::NoRoom { .. }) if turn.is_none_or(|turn| turn.rate.is_none()) => {
            Eta::unknown(Basis::Room)
        }
        Some(Reason::Placing { .. }) => {
            Eta { earliest: None, estimate: Some(at), basis: Basis::Placing }
        }
        Some(
            Reason::Running { .. }
            | Reason::Completion { .. }
            | Reason::Stopping { .. }
            | Reason::Ended { .. },
        ) => Eta::unknown(Basis::Started),
        Some(Reason::RunningLimit(_) | Reason::NoRoom { .. } | Reason::Turn(_)) | None => {
            turn.map_or(Eta::unknown(Basis::NoFigures), |turn| of_turn(at, turn))
        }
    }
}

/// Between the next probe and the latest time of the retry.
fn of_target(at: Timestamp, next_probe: Option<Timestamp>, reasons: &[Reason]) -> Eta {
    let latest = reasons.iter().find_map(|reason| {
        let Reason::Retry { at, .. } = reason else { return None };
        Some(*at)
    });
    let [earliest, estimate] = [next_probe, latest].map(|time| time.map(|time| at.max(time)));
    Eta { earliest, estimate, basis: Basis::Target }
}

/// Latest time at which one more task with the key may start.
fn of_key(at: Timestamp, key: &KeyUse) -> Eta {
    if key.limit == 0 {
        return Eta::unknown(Basis::People);
    }
    // After a limit was lowered more than one must end.
    let must_end = usize::try_from(key.held.saturating_sub(key.limit)).unwrap_or(usize::MAX);
    let ends_by = key.holders.get(must_end).and_then(|holder| holder.ends_by);
    match ends_by.filter(|_| !key.others_before) {
        None => Eta::unknown(Basis::Key),
        Some(by) => Eta { earliest: None, estimate: Some(at.max(by)), basis: Basis::Caps },
    }
}

/// Its start at the recent rate of its tenant. If tasks of the other class wait too, the estimate uses the smallest
/// share of its class, and the earliest start the whole rate.
fn of_turn(at: Timestamp, turn: &Turn) -> Eta {
    let Some(rate) = turn.rate else { return Eta::unknown(Basis::NoFigures) };
    let turns = turn.tasks_before as f64 + 1.0;
    let after = |part: f64| later(at, turns / (rate * part));
    let [late_least, late_most] = LATE_PART;
    let least = match (turn.shared, turn.late) {
        (false, _) => 1.0,
        (true, true) => late_least,
        (true, false) => 1.0 - late_most,
    };
    let earliest = after(1.0);
    if earliest.is_none() {
        return Eta::unknown(Basis::NoPace);
    }
    Eta {
        earliest: earliest.filter(|_| turn.shared || turn.at_least),
        estimate: after(least).filter(|_| !turn.at_least),
        basis: Basis::Pace,
    }
}

/// `None` if too far in the future.
pub(super) fn later(at: Timestamp, seconds: f64) -> Option<Timestamp> {
    let near = (0.0..=FAR.as_seconds_f64()).contains(&seconds);
    near.then(|| at + TimeDelta::milliseconds((seconds * 1000.0) as i64))
}

#[cfg(test)]
mod tests {
    use super::super::reason::Holder;
    use super::*;
    use crate::id::TaskId;
    use crate::price::Micros;
    use crate::task::State;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn turn(tasks_before: u64, rate: Option<f64>) -> Turn {
        Turn {
            tasks_before,
            at_least: false,
            late: false,
            shared: false,
            tenants_before: Some(0),
            rate,
        }
    }

    fn of(reason: Reason) -> Eta {
        eta(at(100), &[reason])
    }

    fn known(earliest: Option<i64>, estimate: Option<i64>, basis: Basis) -> Eta {
        Eta { earliest: earliest.map(at), estimate: estimate.map(at), basis }
    }

    #[test]
    fn a_turn_comes_after_those_before_it_at_the_pace_of_late() {
        let pace = |turn| of(Reason::Turn(turn));
        let plain = turn(19, Some(2.0));
        assert_eq!(pace(plain), known(None, Some(110), Basis::Pace));
        let many = Turn { at_least: true, ..plain };
        assert_eq!(pace(many), known(Some(110), None, Basis::Pace));
        let late = Turn { late: true, shared: true, ..plain };
        assert_eq!(pace(late), known(Some(110), Some(150), Basis::Pace));
        let beside_late = Turn { shared: true, ..plain };
        assert_eq!(pace(beside_late), known(Some(110), Some(125), Basis::Pace));
    }

    #[test]
    fn without_a_pace_there_is_no_time_and_that_is_said() {
        let pace = |rate| of(Reason::Turn(turn(5, rate)));
        assert_eq!(pace(None), Eta::unknown(Basis::NoFigures));
        for rate in [0.0, 1e-12, f64::NAN, -1.0] {
            assert_eq!(pace(Some(rate)), Eta::unknown(Basis::NoPace), "{rate}");
        }
        let limit = Reason::RunningLimit(super::super::LimitUse { held: 5, limit: 5 });
        let both = [limit, Reason::Turn(turn(0, Some(1.0)))];
        assert_eq!(eta(at(100), &both), known(None, Some(101), Basis::Pace));
    }

    #[test]
    fn a_time_of_its_own_is_the_earliest_and_never_gone_by() {
        assert_eq!(of(Reason::Due { at: at(200) }), known(Some(200), None, Basis::Time));
        assert_eq!(of(Reason::Due { at: at(50) }), known(Some(100), None, Basis::Time));
    }

    #[test]
    fn a_spend_cap_may_have_room_later_or_must_be_raised() {
        let lack = |needed, billed_in: Option<&str>| {
            Reason::SpendCap(super::super::CapLack {
                cap: "all".parse().unwrap(),
                currency: "EUR".parse().unwrap(),
                amount: Micros(100),
                free: Micros(40),
                needed: Micros(needed),
                resets_at: at(500),
                billed_in: billed_in.map(|code| code.parse().unwrap()),
            })
        };
        assert_eq!(of(lack(100, None)), Eta::unknown(Basis::SpendCap));
        assert_eq!(of(lack(101, None)), Eta::unknown(Basis::People));
        assert_eq!(of(lack(1, Some("USD"))), Eta::unknown(Basis::People));
    }

    #[test]
    fn a_retry_that_is_held_goes_after_the_next_probe_and_at_the_latest_by_itself() {
        let retry = Reason::Retry {
            at: at(700),
            failures: 1,
            max_attempts: 3,
            last_outcome: None,
            last_reason: None,
        };
        let target = || "http://a:80".to_owned();
        let open = Reason::BreakerOpen { target: target(), next_probe_at: at(101) };
        assert_eq!(
            eta(at(100), &[open, retry.clone()]),
            known(Some(101), Some(700), Basis::Target)
        );
        let budget = Reason::RetryBudget { target: target() };
        assert_eq!(eta(at(100), &[budget, retry]), known(None, Some(700), Basis::Target));
    }

    #[test]
    fn a_key_is_free_at_the_latest_when_the_caps_of_enough_holders_are_over() {
        let holder = |ends_by: Option<i64>| Holder {
            id: TaskId::fresh(),
            state: State::Running,
            since: None,
            ends_by: ends_by.map(at),
        };
        let of_key = |limit, others_before, ends: &[Option<i64>]| {
            of(Reason::ConcurrencyKey(KeyUse {
                key: "db".to_owned(),
                limit,
                held: ends.len() as u64,
                holders: ends.iter().copied().map(holder).collect(),
                others_before,
            }))
        };
        let ends = [Some(150), Some(160), None];
        assert_eq!(of_key(3, false, &ends), known(None, Some(150), Basis::Caps));
        assert_eq!(of_key(2, false, &ends), known(None, Some(160), Basis::Caps));
        assert_eq!(of_key(1, false, &[Some(90)]), known(None, Some(100), Basis::Caps));
        for unknown in [of_key(1, false, &ends), of_key(3, true, &ends), of_key(1, false, &[None])]
        {
            assert_eq!(unknown, Eta::unknown(Basis::Key));
        }
        assert_eq!(of_key(0, false, &ends), Eta::unknown(Basis::People));
    }

    #[test]
    fn each_basis_is_written_as_it_is_called() {
        for basis in Basis::ALL {
            assert_eq!(serde_json::to_value(basis).unwrap(), basis.as_str());
        }
    }
}
