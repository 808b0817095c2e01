//! `berth complete`: how a task ended whose call was taken on.

use super::connection::ConnectionArguments;
use super::failure::of_a_guest;
use super::profile::Kept;
use super::secret_line;
use super::sign_in::guest;
use super::submit::parsed_json;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::CompletedTask;
use client::request::{CompletionOutcome, TaskCompletion};
use domain::id::TaskId;
use domain::time::parse_duration;
use runtime::config::SecretString;
use serde_json::Value;
use std::time::Duration;

/// Which task, and how it ended.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth complete task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --result '{\"rows\": 12}' < token.txt\n  \
                  berth complete task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --failed 'the disk is full' --retry-after 10m < token.txt\n\n\
                  For HTTP tasks with --complete callback. The token is the header Berth-Completion-Token of the task's call: prompted for, or\n\
                  read from standard input. No API key is needed."
)]
pub struct CompleteArguments {
    /// Id of the task; the call carried it as Berth-Task-Id.
    #[arg(value_name = "TASK")]
    pub id: TaskId,
    /// Completion token. Prefer standard input: other users can see arguments.
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// What the task returns, as JSON.
    #[arg(long, value_name = "JSON", value_parser = parsed_json, conflicts_with_all = ["failed", "aborted"])]
    pub result: Option<Value>,
    /// It failed, for this reason; it is retried as the task says.
    #[arg(long, value_name = "REASON", conflicts_with = "aborted")]
    pub failed: Option<String>,
    /// It failed, for this reason, and is not to be retried.
    #[arg(long, value_name = "REASON")]
    pub aborted: Option<String>,
    /// No other attempt before that time, up to 1h.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "failed")]
    pub retry_after: Option<Duration>,
}

/// Completes the task.
pub async fn run(
    connection: &ConnectionArguments,
    format: Format,
    arguments: CompleteArguments,
) -> Result<(), Failure> {
    let (_, server) = connection.to_keep(&Kept::read()?);
    let token = match arguments.token {
        Some(token) => SecretString::from(token),
        None => secret_line::ask("Completion token")?,
    };
    let (outcome, reason) = match (arguments.failed, arguments.aborted) {
        (Some(reason), _) => (CompletionOutcome::Failed, Some(reason)),
        (None, Some(reason)) => (CompletionOutcome::Aborted, Some(reason)),
        (None, None) => (CompletionOutcome::Succeeded, None),
    };
    let retry_after = arguments.retry_after.map(Into::into);
    let completion = TaskCompletion {
        token: token.into(),
        outcome,
        result: arguments.result,
        reason,
        retry_after,
    };
    let completed = guest(&server)?.complete(arguments.id, &completion).await;
    let completed = completed.map_err(|error| of_a_guest(&error))?;
    match format {
        Format::Json => output::document(completed.json()),
        Format::Table => output::line(&said(&completed)),
    }
}

fn said(CompletedTask { id, attempt, outcome, repeated }: &CompletedTask) -> String {
    let before = if *repeated { ", as it had before" } else { "" };
    format!("attempt {attempt} of {id} {outcome}{before}")
}
