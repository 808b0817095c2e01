//! The tasks that are shown.

use client::request::Retry;
use client::{ApiResponse, Client, ClientError, IdempotencyKey, NewTask, Task};
use domain::task::Backoff;
use serde_json::json;
use std::time::Duration;

/// Submits them, in the order in which they are shown.
pub async fn submit(client: &Client, url: &str) -> Result<Vec<ApiResponse<Task>>, ClientError> {
    let mut submitted = vec![client.submit(&hello()).await?];
    submitted.extend(calls_itself(client, url).await?);
    submitted.push(client.submit(&fails_once()).await?);
    submitted.push(client.submit(&waits()).await?);
    Ok(submitted)
}

fn hello() -> NewTask {
    named("hello", shell(r#"echo "hello, run as $(id -un)""#))
}

/// None where this server has no such driver.
async fn calls_itself(
    client: &Client,
    url: &str,
) -> Result<Option<ApiResponse<Task>>, ClientError> {
    let task = json!({
        "name": "calls-itself",
        "run": {"http": {"method": "GET", "url": format!("{url}/healthz")}},
        "execution_cap": "30s",
    });
    match client.submit_json(task.to_string(), IdempotencyKey::fresh()).await {
        Ok(task) => Ok(Some(task)),
        Err(ClientError::Api(problem)) if matches!(problem.status, 400 | 422) => Ok(None),
        Err(error) => Err(error),
    }
}

fn fails_once() -> NewTask {
    let script = "if [ $BERTH_ATTEMPT = 1 ]; then echo 'the first try fails'; exit 1; fi; echo 'the second one works'";
    NewTask {
        max_attempts: Some(3),
        retry: Some(Retry {
            backoff: Some(Backoff::Constant),
            initial: Some(Duration::from_secs(2).into()),
            jitter: Some(false),
            ..Retry::default()
        }),
        ..named("fails-once", shell(script))
    }
}

fn waits() -> NewTask {
    NewTask {
        delay: Some(Duration::from_secs(10).into()),
        ..named("in-ten-seconds", shell("echo 'right on time'"))
    }
}

fn named(name: &str, task: NewTask) -> NewTask {
    let execution_cap = Some(Duration::from_secs(30).into());
    NewTask { name: Some(name.to_owned()), execution_cap, ..task }
}

fn shell(script: &str) -> NewTask {
    NewTask::command(["sh", "-c", script])
}
