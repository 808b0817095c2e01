//! Checks in the database that all submitted tasks have ended.

use anyhow::{Context, ensure};
use runtime::clock;
use std::time::Duration;
use testkit::psql;

/// Longest time from the end of the last task to that of its workflow run.
const RUN_END: Duration = Duration::from_secs(10);

/// Waits until all tasks have ended. Polls four times a second, because each query costs a process and a backend.
pub async fn drained(url: &str, limit: Duration) -> anyhow::Result<()> {
    let began = clock::monotonic();
    while psql::run(url, "select exists (select from task)").await? == "t" {
        if began.elapsed() > limit {
            let left = psql::run(url, "select state, count(*) from task group by 1").await?;
            anyhow::bail!("tasks still live after {limit:?}: {}", left.replace('\n', ", "));
        }
        clock::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

/// Fails unless exactly `expected` tasks succeeded, each once, with attempts 1 to n of which only the last succeeded.
///
/// One pass over each table, for hundreds of thousands of tasks; the checks of the end-to-end tests read each task.
pub async fn ended_well(url: &str, expected: u64) -> anyhow::Result<()> {
    let counts = numbers(
        url,
        "with tried as (
            select tenant_id, task_id as id, count(*) as attempts, count(distinct attempt) as numbers, max(attempt) as last,
                max(attempt) filter (where outcome = 'succeeded') as good,
                count(*) filter (where outcome = 'succeeded') as successes
            from attempt group by tenant_id, task_id
        )
        select (select count(*) from task), count(h.id), count(distinct h.id), count(*) filter (where h.state = 'succeeded'
            and h.attempt = a.attempts and a.attempts = a.numbers and a.attempts = a.last and a.last = a.good and a.successes = 1)
        from task_history h full join tried a using (tenant_id, id)",
    )
    .await?;
    let wanted = expected as f64;
    ensure!(
        counts == [0.0, wanted, wanted, wanted],
        "of {expected} tasks: live, ended, different ones, without fault are {counts:?}"
    );
    Ok(())
}

/// Waits until no workflow run is left: they end a moment after the last of their tasks. Fails unless exactly `expected` succeeded, with
/// `nodes` ended tasks each.
pub async fn runs_ended_well(url: &str, expected: u64, nodes: u64) -> anyhow::Result<()> {
    let counts = format!(
        "select count(*) filter (where finished_at is null), count(*),
            count(*) filter (where state = 'succeeded' and total = {nodes} and ended = {nodes} and failed = 0) from workflow_run"
    );
    let began = clock::monotonic();
    let counts = loop {
        let counts = numbers(url, &counts).await?;
        if counts[0] == 0.0 || began.elapsed() > RUN_END {
            break counts;
        }
        clock::sleep(Duration::from_millis(100)).await;
    };
    let wanted = expected as f64;
    ensure!(
        counts == [0.0, wanted, wanted],
        "of {expected} workflow runs: live, all, without fault are {counts:?}"
    );
    Ok(())
}

/// Some numbers of one row.
pub async fn numbers(url: &str, sql: &str) -> anyhow::Result<Vec<f64>> {
    let row = psql::run(url, sql).await?;
    row.split('|')
        .map(|field| field.trim().parse().with_context(|| format!("`{sql}` answered `{row}`")))
        .collect()
}
