//! What was charged for dispatches of the last moments, so that it can be given back.
//!
//! A task that comes back to `ready` with the attempts it had was never placed: nobody had room, or its hint
//! died. It keeps its place and its tenant pays nothing for it.

use domain::batch::Candidate;
use domain::fairness::Accounts;
use domain::id::{TaskId, TenantId};
use runtime::clock::Instant;
use std::collections::HashMap;
use store::task::CandidateRow;

#[derive(Debug, Clone, Copy)]
struct Charge {
    tenant: TenantId,
    cost: f64,
    attempt: u32,
    at: Instant,
}

/// Charges by task.
#[derive(Debug, Default)]
pub(super) struct Charges {
    by_task: HashMap<TaskId, Charge>,
}

impl Charges {
    pub(super) fn remember(&mut self, picked: &Candidate, attempt: u32, at: Instant) {
        let charge = Charge { tenant: picked.tenant, cost: picked.cost, attempt, at };
        self.by_task.insert(picked.task, charge);
    }

    /// Gives back what was charged for those of `rows` that were dispatched and never placed.
    pub(super) fn refund_what_came_back(&mut self, rows: &[CandidateRow], accounts: &mut Accounts) {
        for row in rows {
            if let Some(charge) = self.by_task.remove(&row.task)
                && charge.attempt == row.attempt
            {
                accounts.refund(charge.tenant, charge.cost);
            }
        }
    }

    /// A dispatch older than the sweep has long been placed or taken back.
    pub(super) fn forget_before(&mut self, limit: Instant) {
        self.by_task.retain(|_, charge| charge.at >= limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::resources::Tier;
    use domain::time::Timestamp;
    use runtime::clock;
    use std::time::Duration;

    fn row(tenant: TenantId, attempt: u32) -> CandidateRow {
        CandidateRow {
            tenant,
            task: TaskId::fresh(),
            start_deadline: Timestamp::UNIX_EPOCH,
            resources: Tier::Basic.resources(),
            slots: 1,
            cap: Duration::from_secs(1),
            attempt,
        }
    }

    fn dispatch(charges: &mut Charges, accounts: &mut Accounts, row: &CandidateRow) {
        let (tenant, task, start_deadline) = (row.tenant, row.task, row.start_deadline);
        accounts.charge(tenant, 5.0);
        charges.remember(
            &Candidate { tenant, task, start_deadline, slots: 1, cost: 5.0 },
            row.attempt,
            clock::monotonic(),
        );
    }

    #[test]
    fn a_task_that_was_never_placed_costs_its_tenant_nothing() {
        let (first, second) = (TenantId::fresh(), TenantId::fresh());
        let (mut charges, mut accounts) = (Charges::default(), Accounts::default());
        let (theirs, others) = (row(first, 0), row(second, 0));
        dispatch(&mut charges, &mut accounts, &theirs);
        dispatch(&mut charges, &mut accounts, &others);
        charges.refund_what_came_back(std::slice::from_ref(&others), &mut accounts);
        assert_eq!(accounts.next_of([first, second].into_iter()), Some(second));
    }

    #[test]
    fn a_task_that_ran_and_comes_again_has_been_paid_for() {
        let (first, second) = (TenantId::fresh(), TenantId::fresh());
        let (mut charges, mut accounts) = (Charges::default(), Accounts::default());
        let task = row(second, 0);
        dispatch(&mut charges, &mut accounts, &task);
        charges.refund_what_came_back(&[CandidateRow { attempt: 1, ..task }], &mut accounts);
        assert_eq!(
            accounts.next_of([first, second].into_iter()),
            Some(first.min(second)),
            "both stand at the virtual time"
        );
        accounts.charge(first, 1.0);
        assert_eq!(
            accounts.next_of([first, second].into_iter()),
            Some(first),
            "one has paid 5, the other 1"
        );
    }
}
