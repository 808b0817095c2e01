//! `berth schedule get`, `delete`, `pause`, `resume`, `trigger`: one call about one schedule.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::warned::warned;
use super::fires::made;
use super::show::{changed, name};
use crate::failure::Failure;
use crate::output::{self, Format};

/// Which schedule.
#[derive(Debug, clap::Args)]
pub struct NameArguments {
    /// Name.
    #[arg(value_parser = name)]
    pub name: String,
}

/// Which schedule, in which version.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth schedule delete report")]
pub struct DeleteArguments {
    /// Name.
    #[arg(value_parser = name)]
    pub name: String,
    /// Only if the schedule has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// Which schedule, and why.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth schedule pause report --because 'the database is moved'")]
pub struct PauseArguments {
    /// Name.
    #[arg(value_parser = name)]
    pub name: String,
    /// Reason, shown with the schedule.
    #[arg(long, value_name = "TEXT")]
    pub because: Option<String>,
}

/// Shows a schedule.
pub async fn get(connection: &Connection, which: &NameArguments) -> Result<(), Failure> {
    let schedule = connection.client.schedule(&which.name).await;
    let schedule = schedule.map_err(|error| failure(&error))?;
    warned(&schedule.warnings);
    changed(connection.format, &schedule)
}

/// Pauses a schedule.
pub async fn pause(connection: &Connection, arguments: &PauseArguments) -> Result<(), Failure> {
    let because = arguments.because.as_deref();
    let paused = connection.client.pause_schedule(&arguments.name, because).await;
    changed(connection.format, &paused.map_err(|error| failure(&error))?)
}

/// Resumes a schedule.
pub async fn resume(connection: &Connection, which: &NameArguments) -> Result<(), Failure> {
    let resumed = connection.client.resume_schedule(&which.name).await;
    changed(connection.format, &resumed.map_err(|error| failure(&error))?)
}

/// Deletes a schedule.
pub async fn delete(connection: &Connection, arguments: &DeleteArguments) -> Result<(), Failure> {
    let deleted = connection.client.delete_schedule(&arguments.name, arguments.if_version).await;
    let deleted = deleted.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(deleted.json()),
        Format::Table => {
            output::line(&format!("{} deleted; its tasks and runs continue", deleted.name))
        }
    }
}

/// Fires a schedule now and prints the id of the task or the workflow run.
pub async fn trigger(connection: &Connection, which: &NameArguments) -> Result<(), Failure> {
    let fire = connection.client.trigger_schedule(&which.name).await;
    let fire = fire.map_err(|error| failure(&error))?;
    match (connection.format, made(&fire)) {
        (Format::Json, _) => output::document(fire.json()),
        (Format::Table, Some(id)) => output::line(&id),
        (Format::Table, None) => output::line(&fire.outcome.to_string()),
    }
}
