//! An explanation in words, the same for whoever shows it to people: the command line, the dashboard.
//!
//! Times are relative to the time of the response by the server's clock, which may differ from this machine's. Texts of customers
//! are in the sentences as they are: whoever shows them escapes them.

use crate::{Explanation, Extensible};
use chrono::TimeDelta;
use domain::dependency::Condition;
use domain::explain::{Basis, CapLack, KeyUse, OpenParent, OpenParents, Reason, Turn};
use domain::id::ExecutorId;
use domain::price::Micros;
use domain::task::State;
use domain::time::Timestamp;

/// The name of an executor, if it has one.
fn named(executor: Option<&ExecutorId>) -> &str {
    executor.map_or("an executor", ExecutorId::as_str)
}

/// A reason as a sentence for people.
#[must_use]
pub fn because(reason: &Extensible<Reason>, explanation: &Explanation) -> String {
    match reason {
        Extensible::Known(reason) => known(reason, explanation),
        Extensible::Other(other) => {
            let name = other["reason"].as_str().unwrap_or("unknown");
            format!("It waits for a reason that this version does not know: {name}.")
        }
    }
}

fn known(reason: &Reason, explanation: &Explanation) -> String {
    let now = explanation.at;
    let when = |at: &Timestamp| ago(*at, now);
    match reason {
        Reason::Due { at } => format!("It is due {}.", ahead(*at, now)),
        Reason::Parents(parents) => waits_for(parents),
        Reason::Items { .. } | Reason::Signal { .. } | Reason::Approval { .. } => gate(reason, now),
        Reason::SpendCap(lack) => of_cap(lack, now),
        Reason::Retry { at, failures, max_attempts, last_outcome, last_reason } => {
            let outcome = last_outcome.map(|outcome| format!(", the last ended {outcome}"));
            let why = last_reason.as_ref().map(|reason| format!(" ({reason})"));
            let last = format!("{}{}", outcome.unwrap_or_default(), why.unwrap_or_default());
            format!(
                "It is retried {}: {failures} of {max_attempts} attempts failed{last}.",
                ahead(*at, now)
            )
        }
        Reason::RetryBudget { target } => {
            format!("Its retry waits because the retry budget of `{target}` is used up.")
        }
        Reason::BreakerOpen { target, next_probe_at } => format!(
            "Its retry waits because the circuit breaker of `{target}` is open after many consecutive failures; the next probe is {}.",
            ahead(*next_probe_at, now)
        ),
        Reason::TenantSuspended { since } => {
            let since = since.as_ref().map(|at| format!(" ({})", when(at)));
            format!("Your account is suspended{}: no task starts.", since.unwrap_or_default())
        }
        Reason::PoolPaused(pause) => {
            let because = pause.because.as_ref().map(|text| format!(": {text}"));
            format!("Its pool was paused {}{}.", when(&pause.since), because.unwrap_or_default())
        }
        Reason::NoExecutor { pool } => format!("The pool `{pool}` has no executor."),
        Reason::NoDriver { driver } => {
            format!("No executor of its pool has the driver `{driver}`.")
        }
        Reason::TooLarge { dimension, asked, largest } => format!(
            "No executor of its pool is large enough: it requests {} {asked}, the largest has {largest}.",
            dimension.as_str()
        ),
        Reason::ConcurrencyKey(key) => of_key(key),
        Reason::SpareRoom { until } => format!(
            "It is flexible and starts in spare room; {} it is treated like other tasks.",
            ahead(*until, now)
        ),
        Reason::RunningLimit(limit) => {
            format!("Your plan allows {} running tasks, and {} run.", limit.limit, limit.held)
        }
        Reason::NoRoom { dimension, asked, slots, free_slots, for_its_size, .. } => {
            let name = dimension.as_str();
            if *for_its_size {
                format!(
                    "No executor has enough free room for it; it requests {name} {asked}, among others."
                )
            } else {
                format!(
                    "Its pool is full: {free_slots} slots are free and it needs {slots}; the scarcest resource is {name}, of which it requests {asked}."
                )
            }
        }
        Reason::Turn(turn) => of_turn(turn),
        Reason::Placing { until } => format!(
            "A resource manager is placing it; if there is no room within {}, it is queued again.",
            short(*until - now)
        ),
        Reason::Running { attempt, executor, since } => {
            let on = named(executor.as_ref());
            format!("It runs: attempt {attempt} began {} on {on}.", when(since))
        }
        Reason::Completion { attempt, since, until } => format!(
            "It runs: attempt {attempt} began {}, its call was answered, and it waits to be completed, for {} at most.",
            when(since),
            short(*until - now)
        ),
        Reason::Stopping { executor, .. } => stopping(executor.as_ref()),
        Reason::Ended { at, exit_code, because } => {
            let how = how(&explanation.state, *exit_code, because.as_deref());
            format!("It {how} ({}).", when(at))
        }
    }
}

fn of_key(key: &KeyUse) -> String {
    if key.limit == 0 {
        return format!("No task with its concurrency key `{}` starts: the limit is 0.", key.key);
    }
    let others = if key.others_before { ", and others with it are ahead" } else { "" };
    format!(
        "Its concurrency key `{}` is at its limit: {} of {} tasks run{others}.",
        key.key, key.held, key.limit
    )
}

fn of_turn(turn: &Turn) -> String {
    let counted = |n: u64, of: &str| format!("{n} {of}{}", if n == 1 { "" } else { "s" });
    let more = if turn.at_least { "at least " } else { "" };
    let kind = if turn.late { "late task" } else { "task" };
    let own = counted(turn.tasks_before, kind);
    let own = (turn.tasks_before > 0).then(|| format!("{more}{own} of yours"));
    let tenants = turn.tenants_before.filter(|tenants| *tenants > 0);
    let tenants = tenants.map(|tenants| counted(tenants.into(), "other customer"));
    let before: Vec<_> = [own, tenants].into_iter().flatten().collect();
    if before.is_empty() {
        return "It is next.".to_owned();
    }
    format!("Ahead of it: {}.", before.join(" and "))
}

/// What a node of a workflow waits for after its parents.
fn stopping(executor: Option<&ExecutorId>) -> String {
    format!("A stop was requested; {} must confirm.", named(executor))
}

fn of_cap(lack: &CapLack, now: Timestamp) -> String {
    let CapLack { cap, currency, amount, free, needed, resets_at, billed_in } = lack;
    if let Some(billed_in) = billed_in {
        return format!(
            "The spend cap `{cap}` is in {currency}, and you are billed in {billed_in}."
        );
    }
    let units = |amount: &Micros| amount.in_units(currency.digits());
    format!(
        "The spend cap `{cap}` has no room for it: it can cost up to {} {currency}, and {} of {} are free. The next period begins {}.",
        units(needed),
        units(free),
        units(amount),
        ahead(*resets_at, now)
    )
}

fn gate(reason: &Reason, now: Timestamp) -> String {
    match reason {
        Reason::Items { items, open } => {
            format!("It has become {items} tasks, of which {open} have not ended.")
        }
        Reason::Signal { key, until } => {
            format!("It waits for the signal `{key}`{}.", until_when(until.as_ref(), now))
        }
        Reason::Approval { until } => {
            let until = until_when(until.as_ref(), now);
            format!("It waits for a person to approve or reject it{until}.")
        }
        _ => String::new(),
    }
}

/// When a wait expires.
fn until_when(until: Option<&Timestamp>, now: Timestamp) -> String {
    until.map(|until| format!("; it expires {}", ahead(*until, now))).unwrap_or_default()
}

/// `It waits for 2 of 3 tasks: task_… (running), task_… (ready, to fail).`
fn waits_for(parents: &OpenParents) -> String {
    let OpenParents { needs, undecided, waits_for } = parents;
    if undecided < needs {
        return "It is about to be skipped: too few of its parents ended as asked.".to_owned();
    }
    let name = |parent: &OpenParent| {
        let on = match parent.on {
            Condition::Succeeded => "",
            Condition::Failed => ", to fail",
            Condition::Expired => ", to expire",
            Condition::Finished => ", to finish",
            Condition::SkippedOk => ", to succeed or be skipped",
        };
        format!("{} ({}{on})", parent.id, parent.state)
    };
    let named: Vec<String> = waits_for.iter().map(name).collect();
    let more = if waits_for.len() as u64 == *undecided { "" } else { ", and others" };
    format!("It waits for {needs} of {undecided} tasks: {}{more}.", named.join(", "))
}

/// When it will start, or why that is not known; `None` for one that has started.
#[must_use]
pub fn starts(explanation: &Explanation) -> Option<String> {
    let (eta, now) = (&explanation.eta, explanation.at);
    let basis = eta.basis.known().copied();
    let known = match (basis, eta.estimate, eta.earliest) {
        (Some(Basis::Placing), Some(_), _) => Some("It starts soon.".to_owned()),
        (Some(Basis::Caps), Some(at), _) => {
            Some(format!("It starts {} at the latest.", ahead(at, now)))
        }
        (Some(Basis::Path), Some(at), _) => Some(format!(
            "It starts about {} if the nodes before it need their execution caps.",
            ahead(at, now)
        )),
        (Some(Basis::Target), Some(at), _) => {
            Some(format!("It is retried {} at the latest.", ahead(at, now)))
        }
        (_, Some(at), None) => Some(format!("Estimated start: {}.", ahead(at, now))),
        (_, Some(at), Some(earliest)) => Some(format!(
            "Estimated start: {}, {} at the earliest.",
            ahead(at, now),
            ahead(earliest, now)
        )),
        (_, None, Some(at)) => Some(format!("It starts {} at the earliest.", ahead(at, now))),
        (_, None, None) => None,
    };
    known.or_else(|| unknown(basis?).map(str::to_owned))
}

const fn unknown(basis: Basis) -> Option<&'static str> {
    Some(match basis {
        Basis::Parents => "The start is not known: other tasks must end first.",
        Basis::SpendCap => {
            "The start is not known: it depends on what tasks of the cap cost, and it is tried every 10 s."
        }
        Basis::Answer => "It goes on when that comes.",
        Basis::People => "It does not start until this is resolved.",
        Basis::Executors => "It does not start until a suitable executor connects.",
        Basis::Key => {
            "The start is not known: others with the key are ahead, or the task that holds the key has not started."
        }
        Basis::Target => "The time of the retry is not known.",
        Basis::Room => "The start is not known: it depends on room for its size.",
        Basis::SpareRoom => "The start is not known: it depends on spare room.",
        Basis::NoPace => "The start is not known: none of your tasks was dispatched recently.",
        Basis::NoFigures => {
            "The start is not known: no batcher is active, or your tasks were queued just now."
        }
        Basis::Time | Basis::Path | Basis::Pace | Basis::Caps | Basis::Placing | Basis::Started => {
            return None;
        }
    })
}

/// `in 5m`; `now` where that is not ahead.
#[must_use]
pub fn ahead(at: Timestamp, now: Timestamp) -> String {
    if at > now { ago(at, now) } else { "now".to_owned() }
}

/// A length of time in its largest unit: `5s`, `3m`, `2h`, `4d`. Less than nothing is `0s`.
#[must_use]
pub fn short(age: TimeDelta) -> String {
    let seconds = age.num_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `3m ago`, or `in 3m`.
#[must_use]
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    if at > now { format!("in {}", short(at - now)) } else { format!("{} ago", short(now - at)) }
}

/// How a task ended, as in "failed with exit code 3".
#[must_use]
pub fn how(state: &Extensible<State>, exit_code: Option<i32>, reason: Option<&str>) -> String {
    let mut text = match state {
        Extensible::Known(state) => verb(*state).to_owned(),
        Extensible::Other(_) => format!("ended {state}"),
    };
    if let Some(code) = exit_code {
        text.push_str(&format!(" with exit code {code}"));
    }
    // The reason of an ordinary end is its exit code, which is said already.
    let said = |reason: &&str| {
        exit_code.is_some_and(|code| *reason == format!("ended with exit code {code}"))
    };
    if let Some(reason) = reason.filter(|reason| !said(reason)) {
        text.push_str(&format!(": {}", reason));
    }
    text
}

/// What a terminal state says of a task, as a verb.
const fn verb(state: State) -> &'static str {
    match state {
        State::Succeeded => "succeeded",
        State::Failed => "failed",
        State::Aborted => "was aborted",
        State::Killed => "was killed",
        State::Cancelled => "was cancelled",
        State::Expired => "expired",
        State::Skipped => "was skipped",
        _ => "has not finished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The sentences for a reason and an eta.
    fn said(reason: Value, eta: Value) -> String {
        let explanation = json!({
            "id": domain::id::TaskId::fresh(), "state": "ready", "at": "2030-01-31T12:00:00Z",
            "reasons": [reason], "eta": eta, "expires_at": null
        });
        let explanation: Explanation = serde_json::from_value(explanation).unwrap();
        let why = because(&explanation.reasons[0], &explanation);
        [Some(why), starts(&explanation)].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn eta(earliest: Option<&str>, estimate: Option<&str>, basis: &str) -> Value {
        let at = |time: Option<&str>| time.map(|time| format!("2030-01-31T{time}Z"));
        json!({"earliest": at(earliest), "estimate": at(estimate), "basis": basis})
    }

    fn turn(tasks_before: u64, tenants_before: Option<u32>) -> Value {
        json!({"reason": "turn", "tasks_before": tasks_before, "at_least": tasks_before == 10_000, "late": tasks_before == 7,
            "shared": false, "tenants_before": tenants_before, "rate": 1.0})
    }

    #[test]
    fn a_spend_cap_is_told_with_what_is_free_and_needed_and_when_it_resets() {
        let lack = |amount: i64, billed_in: Option<&str>| {
            json!({"reason": "spend_cap", "cap": "all", "currency": "EUR", "amount": amount, "free": -250_000, "needed": 6_000_000,
                "resets_at": "2030-02-01T00:00:00Z", "billed_in": billed_in})
        };
        assert_eq!(
            said(lack(10_000_000, None), eta(None, None, "spend_cap")),
            "The spend cap `all` has no room for it: it can cost up to 6.00 EUR, and -0.25 of 10.00 are free. The next period begins in 12h. \
             The start is not known: it depends on what tasks of the cap cost, and it is tried every 10 s."
        );
        assert_eq!(
            said(lack(10_000_000, Some("USD")), eta(None, None, "people")),
            "The spend cap `all` is in EUR, and you are billed in USD. It does not start until this is resolved."
        );
    }

    #[test]
    fn what_its_target_holds_up_is_told_with_the_next_probe_and_the_latest_time() {
        let latest = |earliest| eta(earliest, Some("12:10:00"), "target");
        let open = json!({"reason": "breaker_open", "target": "http://a:80", "next_probe_at": "2030-01-31T12:00:02Z"});
        assert_eq!(
            said(open, latest(Some("12:00:02"))),
            "Its retry waits because the circuit breaker of `http://a:80` is open after many consecutive failures; the next probe is in 2s. \
             It is retried in 10m at the latest."
        );
        assert_eq!(
            said(json!({"reason": "retry_budget", "target": "http://a:80"}), latest(None)),
            "Its retry waits because the retry budget of `http://a:80` is used up. \
             It is retried in 10m at the latest."
        );
    }

    #[test]
    fn a_turn_is_told_by_who_goes_before_and_when_it_comes() {
        let soon = eta(None, Some("12:04:00"), "pace");
        assert_eq!(
            said(turn(12, Some(3)), soon.clone()),
            "Ahead of it: 12 tasks of yours and 3 other customers. Estimated start: in 4m."
        );
        assert_eq!(said(turn(0, Some(0)), soon), "It is next. Estimated start: in 4m.");
        assert_eq!(
            said(turn(1, None), eta(None, None, "no_figures")),
            "Ahead of it: 1 task of yours. The start is not known: no batcher is active, or your tasks \
             were queued just now."
        );
        assert_eq!(
            said(turn(10_000, None), eta(Some("12:30:00"), None, "pace")),
            "Ahead of it: at least 10000 tasks of yours. It starts in 30m at the earliest."
        );
        assert_eq!(
            said(turn(7, None), eta(Some("12:01:00"), Some("12:05:00"), "pace")),
            "Ahead of it: 7 late tasks of yours. Estimated start: in 5m, in 1m at the earliest."
        );
    }

    #[test]
    fn what_stops_a_task_is_told_with_what_would_let_it_go() {
        let none = |basis| eta(None, None, basis);
        let paused = json!({"reason": "pool_paused", "since": "2030-01-31T11:00:00Z", "because": "new racks"});
        assert_eq!(
            said(paused, none("people")),
            "Its pool was paused 1h ago: new racks. It does not start until this is resolved."
        );
        let large = json!({"reason": "too_large", "dimension": "memory_mib", "asked": 9000, "largest": 8192});
        assert_eq!(
            said(large, none("executors")),
            "No executor of its pool is large enough: it requests memory_mib 9000, the largest has 8192. \
             It does not start until a suitable executor connects."
        );
        let key = |limit: u64| json!({"reason": "concurrency_key", "key": "db", "limit": limit, "held": 2, "holders": [], "others_before": false});
        assert_eq!(
            said(key(2), eta(None, Some("12:00:30"), "caps")),
            "Its concurrency key `db` is at its limit: 2 of 2 tasks run. It starts in 30s at the latest."
        );
        assert_eq!(
            said(key(0), none("people")),
            "No task with its concurrency key `db` starts: the limit is 0. It does not start until this is resolved."
        );
        let retry = json!({"reason": "retry", "at": "2030-01-31T12:00:20Z", "failures": 1, "max_attempts": 3,
            "last_outcome": "failed", "last_reason": "exit code 2"});
        assert_eq!(
            said(retry, eta(Some("12:00:20"), None, "time")),
            "It is retried in 20s: 1 of 3 attempts failed, the last ended failed (exit code 2). \
             It starts in 20s at the earliest."
        );
    }

    #[test]
    fn what_has_started_has_no_start_ahead() {
        let running = json!({"reason": "running", "attempt": 2, "executor": "e-1", "since": "2030-01-31T11:59:00Z"});
        assert_eq!(
            said(running, eta(None, None, "started")),
            "It runs: attempt 2 began 1m ago on e-1."
        );
    }
}
