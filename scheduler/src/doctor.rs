//! Runs the doctor's checks once a minute and publishes the results as metrics.
//!
//! Runs in the batcher's process on its own connection, for a few seconds at most, outside of the batcher's tick. After
//! a failover the metrics of the earlier batcher are reset.

use crate::leader::Leader;
use crate::metrics::{DOCTOR_FINDINGS, DOCTOR_LAST_RUN, DOCTOR_NOT_SEEN, UNPLACEABLE};
use bus::{Bus, QueueReport};
use runtime::clock::{timeout, wall};
use runtime::tick::TickOutcome;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::doctor::{
    Check, CheckOutcome, CheckResult, DoctorDb, DoctorOptions, Unplaceable, pools, run_checks,
    unplaceable,
};
use tracing::{info, warn};

/// Delay of the first run after becoming the batcher.
const LEADING: Duration = Duration::from_secs(5);
/// Time limit of the broker's check.
const BROKER: Duration = Duration::from_secs(5);

pub(crate) struct DoctorTick {
    db: DoctorDb,
    bus: Bus,
    leader: Arc<Leader>,
    options: DoctorOptions,
    /// Checks that failed in the last run: each failure is logged once.
    failing: HashSet<Check>,
    /// Pools with tasks that fit no executor, as shown.
    unplaceable: HashSet<String>,
    shown: bool,
}

impl DoctorTick {
    pub(crate) fn new(db: DoctorDb, bus: Bus, leader: Arc<Leader>, options: DoctorOptions) -> Self {
        Self {
            db,
            bus,
            leader,
            options,
            failing: HashSet::new(),
            unplaceable: HashSet::new(),
            shown: false,
        }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if self.leader.epoch().is_none() {
            if std::mem::take(&mut self.shown) {
                Check::ALL.iter().for_each(|check| show(*check, 0, false));
                self.failing.clear();
                self.show_unplaceable(Vec::new());
            }
            return Ok(TickOutcome::after(LEADING, 0));
        }
        let mut results = run_checks(&self.db, &self.options).await?;
        results.push(CheckResult { check: Check::QueueArguments, outcome: self.queues().await? });
        match unplaceable(&self.db, &self.options).await {
            Ok(found) => self.show_unplaceable(found),
            // The last values may still be true; that check is reported as not checked.
            Err(StoreError::Timeout) => {}
            Err(error) => return Err(error),
        }
        self.shown = true;
        for result in &results {
            self.report(result);
        }
        DOCTOR_LAST_RUN.set(wall().timestamp_millis() as f64 / 1000.0);
        Ok(TickOutcome::idle(results.len() as u64))
    }

    fn report(&mut self, result: &CheckResult) {
        let check = result.check;
        match &result.outcome {
            CheckOutcome::Failed { count, example } => {
                show(check, *count, false);
                if self.failing.insert(check) {
                    let what_to_do = check.what_to_do();
                    warn!(%check, count, example, "Check `{check}` failed: {count}, for example {example}; {what_to_do}");
                }
            }
            CheckOutcome::Passed | CheckOutcome::NotApplicable(_) => {
                show(check, 0, false);
                if self.failing.remove(&check) {
                    info!(%check, "Check `{check}` passes again");
                }
            }
            // An earlier failure may still be there.
            CheckOutcome::NotChecked(_) => DOCTOR_NOT_SEEN.with(&[check.as_str()]).set(1.0),
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

    async fn queues(&self) -> Result<CheckOutcome, StoreError> {
        let pools = pools(&self.db).await?;
        let checked = timeout(BROKER, self.bus.queues(&pools)).await;
        Ok(match checked {
            Err(_) => CheckOutcome::NotChecked("the broker did not answer in time".to_owned()),
            Ok(QueueReport::NoBroker) => {
                CheckOutcome::NotApplicable("the bus is in this process".to_owned())
            }
            Ok(QueueReport::Unreachable(why)) => CheckOutcome::NotChecked(why),
            Ok(QueueReport::Checked(faults)) => match faults.first() {
                None => CheckOutcome::Passed,
                Some(first) => {
                    CheckOutcome::Failed { count: faults.len() as u64, example: first.to_string() }
                }
            },
        })
    }
}

fn show(check: Check, findings: u64, not_seen: bool) {
    DOCTOR_FINDINGS.with(&[check.as_str()]).set(findings as f64);
    DOCTOR_NOT_SEEN.with(&[check.as_str()]).set(if not_seen { 1.0 } else { 0.0 });
}
