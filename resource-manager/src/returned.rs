//! Ends attempts that were returned without a report; the task is ready again at once or after a back-off.

use crate::fleet::{HeldLease, Released};
use crate::lease_store::LeaseStore;
use domain::task::AttemptOutcome;
use runtime::random::unit;
use std::time::Duration;
use store::StoreError;
use store::task::transition::{EndedAttempt, LapsedLease};

const NEVER: &str = "the executor did not take it up";
const LOST: &str = "the executor does not have it any more";

/// Ends all: confirmed ones (`taken_up`) as lost, the rest as never started.
///
/// # Errors
/// When the database fails; some may then be ended, each once.
pub(crate) async fn end_returned(
    db: &impl LeaseStore,
    gone: &[Released],
    taken_up: impl Fn(&HeldLease) -> bool,
) -> Result<(), StoreError> {
    let (mut never, mut lost): (Vec<EndedAttempt>, Vec<LapsedLease>) = Default::default();
    let (mut again, mut waits): (Vec<EndedAttempt>, Vec<Duration>) = Default::default();
    for Released { key, lease } in gone {
        let taken_up = taken_up(lease);
        let wait = lease.wait_after_return(key.attempt, unit());
        if taken_up && (lease.at_most_once || wait.is_zero()) {
            lost.push(LapsedLease { key: *key, at_most_once: lease.at_most_once });
            continue;
        }
        let (outcome, reason) = if taken_up {
            (AttemptOutcome::Lost, LOST)
        } else {
            (AttemptOutcome::NotStarted, NEVER)
        };
        let ended = EndedAttempt::bare(*key, outcome, reason);
        if wait.is_zero() {
            never.push(ended);
        } else {
            again.push(ended);
            waits.push(wait);
        }
    }
    if !never.is_empty() {
        db.not_started(&never).await?;
    }
    if !again.is_empty() {
        db.returned_again(&again, &waits).await?;
    }
    if !lost.is_empty() {
        db.lease_lapsed(&lost).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease_store::LeaseStore;
    use crate::testing::{FakeExecutor, FakeTask, World};
    use domain::id::NodeId;
    use domain::resources::Tier;
    use domain::task::State;

    /// A task after its executor did not list its lease when it connected anew.
    async fn after(task: FakeTask, taken_up: bool) -> FakeTask {
        let world = World::new();
        let _executor = FakeExecutor::connect(&world, "one", Tier::Premium.resources());
        let hint = world.store.add(task);
        let placement = world.fleet.place(&"default".parse().unwrap(), &[hint])[0];
        let sessions = world.fleet.sessions();
        let granted = world
            .store
            .placed(NodeId::fresh(), &sessions, &[placement.claim()], Duration::ZERO)
            .await
            .unwrap();
        let lease = HeldLease::of_placed(&granted[0], hint.resources, placement.port_first);
        let gone = [Released { key: granted[0].lease, lease }];
        end_returned(&world.store, &gone, |_| taken_up).await.unwrap();
        world.store.task(&hint)
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_arrived_runs_again_and_what_had_begun_counts_as_lost() {
        let once_only = || FakeTask { at_most_once: true, ..FakeTask::queued() };
        let again = || FakeTask { attempt: 1, ..FakeTask::queued() };
        let cases = [
            (FakeTask::queued(), false, State::Ready, AttemptOutcome::NotStarted),
            (once_only(), false, State::Ready, AttemptOutcome::NotStarted),
            (FakeTask::queued(), true, State::Retrying, AttemptOutcome::Lost),
            (once_only(), true, State::Failed, AttemptOutcome::Lost),
            (again(), false, State::Retrying, AttemptOutcome::NotStarted),
            (again(), true, State::Retrying, AttemptOutcome::Lost),
        ];
        for (task, taken_up, state, outcome) in cases {
            let what = format!("taken up: {taken_up}, {task:?}");
            let waits = task.attempt > 0;
            let task = after(task, taken_up).await;
            assert_eq!((task.state, task.ends[0].1), (state, outcome), "{what}");
            assert_eq!(!task.wait.is_zero(), waits, "{what}");
        }
    }
}
