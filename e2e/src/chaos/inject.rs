//! Does what was planned, when it was planned, and writes down what was done.
//!
//! The rule: what a fault changed is undone when its time is over, whatever came of it, so that the next one is the only one.

use super::engine;
use super::fault::{Cut, Fault, Planned, Victim};
use super::rig::Rig;
use anyhow::Context;
use runtime::clock::{self, Instant};
use std::time::Duration;
use testkit::fake_time;
use testkit::proxy::Mode;

const LATE: Duration = Duration::from_millis(200);
/// The grace of an executor, the longest of all, and some.
const END_LIMIT: Duration = Duration::from_secs(40);
/// How far a skewed clock is ahead.
const AHEAD_S: i32 = 90;

/// A fault that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What.
    pub fault: Fault,
    /// When it began, ms since 1970.
    pub from_ms: i64,
    /// When it was over.
    pub to_ms: i64,
    /// Why it was not done, where it could not be.
    pub skipped: Option<String>,
}

/// Does all of it, in turn, from `began` on.
pub async fn inject(
    rig: &mut Rig,
    planned: &[Planned],
    began: Instant,
    mut tell: impl FnMut(&Done),
) -> anyhow::Result<Vec<Done>> {
    let mut all = Vec::new();
    for Planned { at, lasts, fault } in planned.iter().copied() {
        clock::sleep_until(began + at).await;
        rig.revive()?;
        let from_ms = now_ms();
        let skipped = inflict(rig, fault, lasts)
            .await
            .with_context(|| format!("{} {}", fault.kind().0, fault.whom()))?;
        let done = Done { fault, from_ms, to_ms: now_ms(), skipped };
        tell(&done);
        all.push(done);
    }
    rig.revive()?;
    Ok(all)
}

/// The time of ledgers and tables: all are on this machine.
pub fn now_ms() -> i64 {
    clock::wall().timestamp_millis()
}

/// Does it and undoes it; answers why it could not be done. What is done to engines is in `engine`.
async fn inflict(rig: &mut Rig, fault: Fault, lasts: Duration) -> anyhow::Result<Option<String>> {
    match fault {
        Fault::Kill(victim) => {
            let at = rig.place(victim)?;
            rig.cluster.kill9(at)?;
            rig.cluster.launch(at)?;
        }
        Fault::Stop(victim) => {
            let at = rig.place(victim)?;
            rig.cluster.process(at)?.stop()?;
            clock::sleep(lasts).await;
            rig.cluster.process(at)?.cont()?;
        }
        Fault::Term(victim) => end(rig, victim, &[]).await?,
        Fault::Network(link, cut) => {
            rig.set(link, mode(cut));
            clock::sleep(lasts).await;
            rig.set(link, Mode::Pass);
        }
        Fault::ClockSkew(victim) => {
            let Some(library) = fake_time::library() else {
                return Ok(Some("libfaketime is not installed".to_owned()));
            };
            let skewed = fake_time::environment(&library, AHEAD_S);
            end(rig, victim, &skewed).await?;
            clock::sleep(lasts).await;
            end(rig, victim, &[]).await?;
        }
        _ => engine::inflict(rig, fault, lasts).await?,
    }
    Ok(None)
}

/// Asks a process to end, waits, and starts it again with this in its environment.
async fn end(rig: &mut Rig, victim: Victim, next: &[(&str, String)]) -> anyhow::Result<()> {
    let at = rig.place(victim)?;
    let process = rig.cluster.process(at)?;
    process.term()?;
    match process.wait(END_LIMIT).await {
        Ok(status) if status.success() => {}
        Ok(status) => {
            rig.complaints.push(format!("{victim} was asked to end, and ended with {status}"))
        }
        Err(error) => {
            process.kill9()?;
            rig.complaints.push(format!("{victim} was asked to end: {error}"));
        }
    }
    rig.cluster.launch_with(at, next)
}

const fn mode(cut: Cut) -> Mode {
    match cut {
        Cut::Reset => Mode::Reset,
        Cut::Delay => Mode::Delay(LATE),
        Cut::BlackHole => Mode::Blackhole,
        Cut::HalfOpen => Mode::HalfOpen,
    }
}
