//! Looks each minute whether all that must hold does, and shows it in `/metrics`.
//!
//! The batcher's process looks, on a connection of its own and for a few seconds at most: never in the batcher's tick. Of what
//! another finds after a takeover this one shows nothing.

use crate::leader::Leader;
use crate::metrics::{DOCTOR_FINDINGS, DOCTOR_LAST_RUN, DOCTOR_NOT_SEEN, UNPLACEABLE};
use bus::{Bus, QueuesSeen};
use domain::doctor::{Check, Line, Seen};
use runtime::clock::{timeout, wall};
use runtime::tick::TickOutcome;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::doctor::{DoctorDb, Look, Unplaceable, look, pools, unplaceable};
use tracing::{info, warn};

/// How soon a new batcher's doctor looks for the first time.
const LEADING: Duration = Duration::from_secs(5);
/// The longest that the broker is asked.
const BROKER: Duration = Duration::from_secs(5);

pub(crate) struct DoctorTick {
    db: DoctorDb,
    bus: Bus,
    leader: Arc<Leader>,
    how: Look,
    /// What was found the last time: each finding is told once, when it appears.
    found: HashSet<Check>,
    /// Pools with tasks that fit no executor, as shown.
    unplaceable: HashSet<String>,
    shown: bool,
}

impl DoctorTick {
    pub(crate) fn new(db: DoctorDb, bus: Bus, leader: Arc<Leader>, how: Look) -> Self {
        Self {
            db,
            bus,
            leader,
            how,
            found: HashSet::new(),
            unplaceable: HashSet::new(),
            shown: false,
        }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if self.leader.epoch().is_none() {
            if std::mem::take(&mut self.shown) {
                Check::ALL.iter().for_each(|check| show(*check, 0, false));
                self.found.clear();
                self.show_unplaceable(Vec::new());
            }
            return Ok(TickOutcome::after(LEADING, 0));
        }
        let mut lines = look(&self.db, &self.how).await?;
        lines.push(Line { check: Check::QueueArguments, seen: self.queues().await? });
        match unplaceable(&self.db, &self.how).await {
            Ok(found) => self.show_unplaceable(found),
            // What was found before may still be so, as the line of that check says.
            Err(StoreError::Timeout) => {}
            Err(error) => return Err(error),
        }
        self.shown = true;
        for line in &lines {
            self.told(line);
        }
        DOCTOR_LAST_RUN.set(wall().timestamp_millis() as f64 / 1000.0);
        Ok(TickOutcome::idle(lines.len() as u64))
    }

    fn told(&mut self, line: &Line) {
        let check = line.check;
        match &line.seen {
            Seen::Found { count, example } => {
                show(check, *count, false);
                if self.found.insert(check) {
                    let what_to_do = check.what_to_do();
                    warn!(%check, count, example, "The doctor finds `{check}`: {count}, such as {example}; {what_to_do}");
                }
            }
            Seen::Sound | Seen::NotHere(_) => {
                show(check, 0, false);
                if self.found.remove(&check) {
                    info!(%check, "The doctor does not find `{check}` any more");
                }
            }
            // What was found before may still be so.
            Seen::NotSeen(_) => DOCTOR_NOT_SEEN.with(&[check.as_str()]).set(1.0),
        }
    }

    fn show_unplaceable(&mut self, found: Vec<Unplaceable>) {
        for pool in std::mem::take(&mut self.unplaceable) {
            UNPLACEABLE.with(&[&pool]).set(0.0);
        }
        for Unplaceable { pool, tasks, .. } in found {
            UNPLACEABLE.with(&[&pool]).set(tasks as f64);
            self.unplaceable.insert(pool);
        }
    }

    async fn queues(&self) -> Result<Seen, StoreError> {
        let pools = pools(&self.db).await?;
        let seen = timeout(BROKER, self.bus.queues(&pools)).await;
        Ok(match seen {
            Err(_) => Seen::NotSeen("the broker did not answer in time".to_owned()),
            Ok(QueuesSeen::NoBroker) => Seen::NotHere("the bus is in this process".to_owned()),
            Ok(QueuesSeen::Unreachable(why)) => Seen::NotSeen(why),
            Ok(QueuesSeen::Checked(faults)) => match faults.first() {
                None => Seen::Sound,
                Some(first) => {
                    Seen::Found { count: faults.len() as u64, example: first.to_string() }
                }
            },
        })
    }
}

fn show(check: Check, findings: u64, not_seen: bool) {
    DOCTOR_FINDINGS.with(&[check.as_str()]).set(findings as f64);
    DOCTOR_NOT_SEEN.with(&[check.as_str()]).set(if not_seen { 1.0 } else { 0.0 });
}
