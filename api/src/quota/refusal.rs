//! Says which quota is used up, by how much, and which plan allows more.
//!
//! The plans are read at most every ten seconds, whoever is refused how often.

use super::size::TaskSize;
use crate::problem::{Code, Problem};
use crate::request::SentSize;
use domain::id::PlanName;
use domain::plan::{PlanLimits, Quota, next_plan};
use identity::Caller;
use runtime::clock::{Instant, monotonic};
use std::sync::Arc;
use std::time::Duration;
use store::connect::SubmitDb;
use tokio::sync::Mutex;

const TTL: Duration = Duration::from_secs(10);

type Plans = Arc<[(PlanName, PlanLimits)]>;

/// Makes refusals.
#[derive(Debug)]
pub(crate) struct Refusals {
    db: SubmitDb,
    plans: Mutex<Option<(Instant, Plans)>>,
}

impl Refusals {
    pub(crate) fn new(db: SubmitDb) -> Self {
        Self { db, plans: Mutex::new(None) }
    }

    /// `quota` is used up: `used` of what the plan allows.
    pub(crate) async fn used_up(&self, caller: &Caller, quota: Quota, used: u64) -> Problem {
        let limit = caller.limits().of(quota);
        let lift = self.lift(quota, limit).await;
        let room = match quota {
            Quota::Schedules => "Delete one first.",
            Quota::Workflows => "Delete workflows that you no longer need.",
            Quota::WorkflowRuns => "Wait until workflow runs have finished, or cancel some.",
            Quota::WorkflowTasks => "Use fewer nodes and items.",
            Quota::Signals => "Wait until signals have expired; send them with a shorter `keep`.",
            Quota::RunningTasks
            | Quota::Backlog
            | Quota::PayloadBytes
            | Quota::StoredOutputBytes => "Wait until tasks have finished.",
        };
        let detail =
            format!("The quota `{quota}` of your plan is used up: {used} of {limit}. {room}{lift}");
        Problem::new(Code::QuotaExceeded, detail)
    }

    /// A task is larger than `size`; `seen` is how large, where that is known.
    pub(crate) async fn too_large(&self, size: TaskSize, seen: Option<usize>) -> Problem {
        let lift = match size.is_plans {
            true => self.lift(Quota::PayloadBytes, size.bytes as u64).await,
            false => String::new(),
        };
        let detail =
            format!("The limit of a task is {size}; this one has {}.{lift}", SentSize(seen));
        Problem::new(Code::PayloadTooLarge, detail)
    }

    async fn lift(&self, quota: Quota, limit: u64) -> String {
        let plans = self.plans().await;
        next_plan(&plans, quota, limit).map_or_else(String::new, |(name, limits)| {
            format!(" The plan `{name}` allows {}.", limits.of(quota))
        })
    }

    /// The last known ones, where the database gives no answer.
    async fn plans(&self) -> Plans {
        let mut kept = self.plans.lock().await;
        if let Some((_, plans)) = kept.as_ref().filter(|(at, _)| at.elapsed() < TTL) {
            return Arc::clone(plans);
        }
        let plans: Plans = match (store::plan::list_for_customers(&self.db).await, &*kept) {
            (Ok(plans), _) => plans.into(),
            (Err(_), Some((_, plans))) => Arc::clone(plans),
            (Err(_), None) => Arc::from([]),
        };
        *kept = Some((monotonic(), Arc::clone(&plans)));
        plans
    }
}
