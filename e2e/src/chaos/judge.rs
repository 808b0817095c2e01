//! Judges a run by every promise that exists so far, once all is over.

use super::flow::Flow;
use super::inject::Done;
use super::load::Answers;
use super::probe::{Foreign, Limited};
use super::rig::Rig;
use super::scenario::{LIMIT_PER_SECOND, OURS};
use super::watch::EventsSeen;
use crate::promise::{Promise, Violation};
use crate::{Customer, Oracle, PortsSeen, Schedules, usage_faults};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use testkit::ledger::{Ledger, Runs};

/// Executors' room, all together, in basic tasks.
const SLOTS: i64 = 3 * 64;
const FREE_WITHIN: Duration = Duration::from_secs(30);
/// The longest that due times may wait because a scheduler has died.
const HOLE: Duration = Duration::from_secs(5);
/// The lease term and 2 s.
const AFTER_A_PROCESS_MS: i64 = 7_000;
const AFTER_AN_ENGINE_MS: i64 = 10_000;

/// All that was seen while it ran.
pub struct Seen {
    /// What customers were answered, in peace and under faults.
    pub answers: Answers,
    /// Of foreign ids.
    pub foreign: Foreign,
    /// Of a limit.
    pub limited: Limited,
    /// Of ports.
    pub ports: PortsSeen,
    /// Of events.
    pub events: EventsSeen,
    /// What was done.
    pub done: Vec<Done>,
}

/// What is wrong, and what was put to the test at all.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Every finding.
    pub violations: Vec<Violation>,
    /// Promises that were exercised.
    pub exercised: BTreeSet<Promise>,
    /// Of each fault that was done: how long after it, or after its end, work went on, ms; and how long it may take.
    pub resumed_ms: Vec<(usize, i64, i64)>,
    /// Runs of commands that came to their end in an attempt that was lost: at-least-once delivery does them again.
    pub ran_again: usize,
}

impl Verdict {
    fn add(&mut self, found: impl IntoIterator<Item = Violation>) {
        self.violations.extend(found);
    }

    fn each(&mut self, promise: Promise, sentences: Vec<String>) {
        self.exercised.insert(promise);
        self.violations.extend(Violation::each(promise, sentences));
    }
}

/// Judges. All tasks of the customers have ended, and schedules make none any more.
pub async fn judge(
    rig: &mut Rig,
    seen: &mut Seen,
    customers: &[&Customer],
    (ledger, schedules, flow): (&Ledger, Option<&Schedules>, &Flow),
) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::default();
    let oracle = Oracle::of(&rig.cluster).only(OURS);
    verdict.exercised.extend([
        Promise::Durable,
        Promise::EndsOnce,
        Promise::Leases,
        Promise::Attempts,
        Promise::Capacity,
        Promise::Workflows,
        Promise::Bills,
    ]);
    verdict.add(oracle.broken(&seen.answers.submitted, ledger).await?);
    verdict.add(seen.answers.violations.iter().cloned());
    admitted_are_there(&oracle, &seen.limited, &mut verdict).await?;
    of_the_ledger(&oracle, &ledger.runs()?, &mut verdict).await?;

    of_the_events(&oracle, &mut seen.events, &mut verdict).await?;
    let shared = seen.ports.faults.clone();
    verdict.each(Promise::Capacity, shared);
    if let Err(error) = oracle.free_again(SLOTS, FREE_WITHIN).await {
        verdict.each(Promise::Capacity, vec![format!("executors are not free again: {error}")]);
    }
    for customer in customers {
        match usage_faults(&oracle, customer).await {
            Ok((faults, _)) => verdict.each(Promise::Bills, faults),
            Err(error) => {
                verdict.each(
                    Promise::Resumes,
                    vec![format!("customer cannot ask for usage: {error}")],
                );
            }
        }
    }
    if let Some(schedules) = schedules {
        verdict.each(Promise::Fires, schedules.faults(HOLE).await?);
    }
    if seen.foreign.compared > 0 {
        verdict.exercised.insert(Promise::Isolation);
    }
    verdict.add(seen.foreign.violations.iter().cloned());
    of_the_limit(seen, &mut verdict);
    resumption(seen, flow, &mut verdict);
    let complaints = std::mem::take(&mut rig.complaints);
    verdict.add(Violation::each(Promise::Resumes, complaints));
    let panicked = rig.cluster.panicked().into_iter().map(|log| format!("process panicked: {log}"));
    verdict.add(Violation::each(Promise::Resumes, panicked));
    Ok(verdict)
}

/// Reads the rest of the event log: each end of a task is in it, and was read, once.
async fn of_the_events(
    oracle: &Oracle<'_>,
    seen: &mut EventsSeen,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let mut session = oracle.session()?;
    seen.read_all(&mut session, FREE_WITHIN).await?;
    let ended = oracle.rows(&format!("select h.id from task_history h where {OURS}")).await?;
    let wrong = ended.iter().filter_map(|row| {
        let task = row.first()?;
        match seen.ends.get(task).copied().unwrap_or(0) {
            1 => None,
            reads => Some(format!("the end of {task} was read {reads} times from the event log")),
        }
    });
    verdict.each(Promise::Events, wrong.collect());
    Ok(())
}

/// Those of the tenant above its limit: some may have been admitted without an answer, none that was may be missing.
async fn admitted_are_there(
    oracle: &Oracle<'_>,
    limited: &Limited,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    if limited.admitted.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = limited
        .admitted
        .iter()
        .map(|id| format!("('{}'::uuid)", id.trim_start_matches("task_")))
        .collect();
    let missing = oracle
        .number(&format!(
            "select count(*) from (values {}) i(id) where not exists (select from task_history h where h.id = i.id and h.state = 'succeeded')",
            ids.join(",")
        ))
        .await?;
    let what = "admitted task(s) of the limited tenant are lost";
    verdict.add(Violation::counted(Promise::Durable, missing, what));
    Ok(())
}

/// What really ran, against what the tables say.
async fn of_the_ledger(
    oracle: &Oracle<'_>,
    runs: &Runs,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    verdict.add(Violation::each(Promise::Leases, runs.overlaps(None)));
    let reported: BTreeMap<(String, String), String> = oracle
        .rows("select 'task_' || replace(a.task_id::text, '-', ''), a.attempt, a.outcome from attempt a")
        .await?
        .into_iter()
        .filter_map(|row| <[String; 3]>::try_from(row).ok())
        .map(|[task, attempt, outcome]| ((task, attempt), outcome))
        .collect();
    let mut without = 0;
    for task in runs.tasks() {
        for run in runs.of(task) {
            let key = (task.replace('-', ""), run.attempt.to_string());
            match reported.get(&key).map(String::as_str) {
                None => without += 1,
                Some("succeeded" | "failed") => {}
                // It was done, and is done again: nobody could know.
                Some(_) => verdict.ran_again += usize::from(run.ended_ns.is_some()),
            }
        }
    }
    let what = "run(s) of commands without a usage record";
    verdict.add(Violation::counted(Promise::Bills, without, what));
    Ok(())
}

fn of_the_limit(seen: &Seen, verdict: &mut Verdict) {
    let limited = &seen.limited;
    if limited.refused > 0 && !limited.admitted.is_empty() {
        verdict.exercised.insert(Promise::Limits);
    }
    let losses =
        seen.done.iter().filter(|d| d.skipped.is_none() && d.fault.touches_redis()).count();
    let losses = u32::try_from(losses).unwrap_or(u32::MAX);
    verdict.add(limited.over(LIMIT_PER_SECOND, losses));
    verdict.add(limited.violations.iter().cloned());
}

/// When work must be going on after a fault at the latest, counted from where.
fn deadline(done: &Done) -> (i64, i64) {
    if done.fault.of_one_process() {
        (done.from_ms, AFTER_A_PROCESS_MS)
    } else {
        (done.to_ms, AFTER_AN_ENGINE_MS)
    }
}

/// A fault that comes before the time of this one is up gives time of its own, where it may stop work once more.
fn with_those_after(done: &[Done], at: usize) -> (i64, i64) {
    let (from, limit) = deadline(&done[at]);
    let mut until = from + limit;
    for next in done.iter().skip(at + 1).filter(|next| next.skipped.is_none()) {
        let again = next.fault.may_stop_all() || done[at].fault.hits_its_heir(next.fault);
        if again && next.from_ms < from + limit {
            let (from, limit) = deadline(next);
            until = until.max(from + limit);
        }
    }
    (from, until - from)
}

/// For how long a fault that may stop all work did so, and might have.
#[derive(Debug, Clone, Copy)]
struct Stopped {
    until: i64,
    allowed: i64,
}

/// A fault that finds all work stopped by those before it, whose time is not up, has until then, too.
fn with_those_before(stopped: &[Stopped], blow: i64, (from, limit): (i64, i64)) -> (i64, i64) {
    let open = stopped.iter().filter(|before| before.until > blow).map(|before| before.allowed);
    (from, open.fold(limit, |limit, allowed| limit.max(allowed - from)))
}

fn resumption(seen: &Seen, flow: &Flow, verdict: &mut Verdict) {
    let mut stopped = Vec::new();
    for (at, done) in seen.done.iter().enumerate().filter(|(_, done)| done.skipped.is_none()) {
        verdict.exercised.insert(Promise::Resumes);
        let own = with_those_after(&seen.done, at);
        let (from, limit) = with_those_before(&stopped, done.from_ms, own);
        let took = flow.resumed_after(from);
        if done.fault.may_stop_all() {
            let until = took.map_or(i64::MAX, |took| from + took);
            stopped.push(Stopped { until, allowed: own.0 + own.1 });
        }
        verdict.resumed_ms.push((at, took.unwrap_or(i64::MAX), limit));
        if took.is_none_or(|took| took > limit) {
            let took = took.map_or("never".to_owned(), |took| format!("only {took} ms later"));
            let what = format!(
                "resumption(s) too late: after {} {} work went on {took}, not within {limit} ms",
                done.fault.kind().0,
                done.fault.whom()
            );
            verdict.add(Violation::counted(Promise::Resumes, 1, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fault::{Fault, Victim};
    use super::*;
    use crate::Role;

    fn kill(role: Role, at_ms: i64) -> Done {
        let fault = Fault::Kill(Victim { role, number: 0 });
        Done { fault, from_ms: at_ms, to_ms: at_ms, skipped: None }
    }

    fn crash(from_ms: i64, to_ms: i64) -> Done {
        Done { fault: Fault::PostgresCrash, from_ms, to_ms, skipped: None }
    }

    #[test]
    fn a_process_has_a_lease_term_and_an_engine_ten_seconds_from_its_return() {
        assert_eq!(with_those_after(&[kill(Role::Api, 500)], 0), (500, 7_000));
        assert_eq!(with_those_after(&[crash(500, 4_000)], 0), (4_000, 10_000));
    }

    #[test]
    fn what_finds_work_stopped_has_the_time_of_what_stopped_it() {
        let own = (1_000, 7_000);
        let before = |until| [Stopped { until, allowed: 9_500 }];
        assert_eq!(with_those_before(&before(1_200), 1_000, own), (1_000, 8_500));
        assert_eq!(with_those_before(&before(900), 1_000, own), own, "work had gone on");
        let long_ago = [Stopped { until: 1_200, allowed: 3_000 }];
        assert_eq!(with_those_before(&long_ago, 1_000, own), own);
    }

    #[test]
    fn what_comes_meanwhile_gives_time_of_its_own() {
        let done = [kill(Role::Api, 0), crash(3_000, 5_000), kill(Role::Api, 30_000)];
        assert_eq!(with_those_after(&done, 0), (0, 15_000));
        // Another kill is an excuse where it hits whoever has just taken over, and no kill after that is.
        let of = [Role::Scheduler, Role::Executor, Role::Scheduler, Role::Scheduler];
        let done: Vec<Done> =
            of.into_iter().zip([0, 2_000, 6_000, 12_000]).map(|(r, at)| kill(r, at)).collect();
        assert_eq!(with_those_after(&done, 0), (0, 13_000));
        assert_eq!(with_those_after(&done, 1), (2_000, 7_000));
        let done = [kill(Role::Api, 0), kill(Role::Api, 1_000)];
        assert_eq!(with_those_after(&done, 0), (0, 7_000));
    }
}
