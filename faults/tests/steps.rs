//! Each step of each operation fails once, is run twice, and is killed once, and every promise holds.
//!
//! A point is attacked in a running Berth of real processes: the fault is put into the file they read, something is done that
//! reaches it, and once it was met it is taken away. Then all must end as if nothing had been, with no task lost or doubled.

mod support;

use faults::Operation;
use support::attack;

#[tokio::test(flavor = "multi_thread")]
async fn a_submit_is_one_task_wherever_it_breaks() -> anyhow::Result<()> {
    attack(Operation::Submit).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_handed_out_wherever_its_dispatch_breaks() -> anyhow::Result<()> {
    attack(Operation::Dispatch).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_due_time_is_fired_once_wherever_its_fire_breaks() -> anyhow::Result<()> {
    attack(Operation::Fire).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_due_time_starts_one_run_wherever_its_fire_breaks() -> anyhow::Result<()> {
    attack(Operation::Start).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_gets_its_place_wherever_its_placement_breaks() -> anyhow::Result<()> {
    attack(Operation::Place).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_runs_to_its_end_wherever_its_executor_dies() -> anyhow::Result<()> {
    attack(Operation::Execute).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_counts_once_wherever_its_settlement_breaks() -> anyhow::Result<()> {
    attack(Operation::Settle).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_work_of_a_dead_executor_goes_on_wherever_its_reaping_breaks() -> anyhow::Result<()> {
    attack(Operation::Reap).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_retry_goes_wherever_its_release_breaks() -> anyhow::Result<()> {
    attack(Operation::LetGo).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_completes_ends_once_wherever_its_end_breaks() -> anyhow::Result<()> {
    attack(Operation::Complete).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_run_ends_as_it_should_wherever_its_steps_break() -> anyhow::Result<()> {
    attack(Operation::Workflow).await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_child_is_released_once_wherever_its_release_breaks() -> anyhow::Result<()> {
    attack(Operation::Release).await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_attempt_is_counted_once_wherever_the_count_breaks() -> anyhow::Result<()> {
    attack(Operation::Count).await
}
