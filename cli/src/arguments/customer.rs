//! What can be typed after customers' commands that have commands of their own.

use crate::customer::{
    CapArguments, CapSetArguments, ConcurrencyKeyArguments, ConcurrencyListArguments,
    ConcurrencySetArguments, InvoiceArguments, InvoiceDownloadArguments, KeysCreateArguments,
    KeysRevokeArguments, KeysRotateArguments, ProfileUseArguments, QuoteScheduleArguments,
    QuoteTaskArguments, QuoteWorkflowArguments, UsersInviteArguments, UsersPutArguments,
    UsersRemoveArguments, UsersRoleArguments, schedule, webhook, workflow,
};
use clap::Subcommand;

/// Commands for limits of concurrency keys.
#[derive(Debug, Subcommand)]
pub enum ConcurrencyCommand {
    /// List the stored limits by key. Other keys have a limit of 1.
    List(ConcurrencyListArguments),
    /// Show a key's limit and its running tasks.
    #[command(after_help = "Example:\n  berth concurrency show exports")]
    Show(ConcurrencyKeyArguments),
    /// Set the number of tasks of a key that run at once. Takes effect within a second, also for waiting tasks.
    Set(ConcurrencySetArguments),
    /// Reset a key's limit to 1.
    #[command(after_help = "Example:\n  berth concurrency delete exports")]
    Delete(ConcurrencyKeyArguments),
}

/// Commands for spend caps.
#[derive(Debug, Subcommand)]
pub enum CapCommand {
    /// List spend caps and how much of them is used, by name.
    #[command(after_help = "Example:\n  berth cap list")]
    List,
    /// Show a spend cap.
    #[command(after_help = "Example:\n  berth cap show all")]
    Show(CapArguments),
    /// Store a spend cap, or change its amount.
    Set(CapSetArguments),
    /// Delete a spend cap.
    #[command(after_help = "Example:\n  berth cap delete all")]
    Delete(CapArguments),
}

/// Commands for invoices.
#[derive(Debug, Subcommand)]
pub enum InvoiceCommand {
    /// List all invoices, newest first. The present month is a draft.
    #[command(after_help = "Example:\n  berth invoice list")]
    List,
    /// Show an invoice with its lines.
    #[command(after_help = "Example:\n  berth invoice get 2030-01-0007")]
    Get(InvoiceArguments),
    /// Write an invoice to a file, as PDF or CSV.
    Download(InvoiceDownloadArguments),
}

/// Commands for quotes.
#[derive(Debug, Subcommand)]
pub enum QuoteCommand {
    /// Price a task, or the tasks of a file.
    Task(Box<QuoteTaskArguments>),
    /// Price a workflow run.
    Workflow(QuoteWorkflowArguments),
    /// Price a month of a schedule.
    Schedule(Box<QuoteScheduleArguments>),
}

/// Commands for schedules.
#[derive(Debug, Subcommand)]
pub enum ScheduleCommand {
    /// Create or replace a schedule. Idempotent.
    Put(Box<schedule::PutArguments>),
    /// Change parts of a schedule.
    Edit(Box<schedule::EditArguments>),
    /// Show a schedule.
    #[command(after_help = "Example:\n  berth schedule get report")]
    Get(schedule::NameArguments),
    /// List schedules by name.
    List(schedule::ScheduleListArguments),
    /// Delete a schedule. Its tasks continue.
    Delete(schedule::DeleteArguments),
    /// Pause a schedule: due times are recorded but create no task.
    Pause(schedule::PauseArguments),
    /// Resume a paused schedule from its next due time.
    #[command(after_help = "Example:\n  berth schedule resume report")]
    Resume(schedule::NameArguments),
    /// Fire a schedule now and print the task's id.
    #[command(after_help = "Example:\n  berth get --wait $(berth schedule trigger report)")]
    Trigger(schedule::NameArguments),
    /// Fire the due times of a past range that created no task.
    Backfill(schedule::BackfillArguments),
    /// Show the outcomes of a schedule's due times, newest first.
    Fires(schedule::FiresArguments),
    /// Show the next due times of a schedule or timing, with a calendar.
    Preview(Box<schedule::PreviewArguments>),
}

/// Commands for workflows and their runs.
#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// Create or replace a workflow. Idempotent.
    Put(workflow::PutArguments),
    /// Show a workflow and its nodes.
    Get(workflow::GetArguments),
    /// List workflows by name.
    List(workflow::ListArguments),
    /// List the versions of a workflow, newest first.
    Versions(workflow::VersionsArguments),
    /// Show what differs between two versions of a workflow.
    Diff(workflow::DiffArguments),
    /// Delete a workflow. Its runs continue.
    Delete(workflow::DeleteArguments),
    /// Check a definition without a server.
    Check(workflow::CheckArguments),
    /// Start a run and print its id.
    Run(workflow::RunArguments),
    /// List runs, newest first.
    Runs(workflow::RunsArguments),
    /// Show a run.
    Show(workflow::ShowArguments),
    /// Show the nodes of a run.
    Graph(workflow::GraphArguments),
    /// Cancel a run.
    Cancel(workflow::CancelArguments),
    /// Run nodes of an ended run again as a new run and print its id.
    Rerun(workflow::RerunArguments),
}

/// Commands for webhooks and their deliveries.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// List webhooks by name.
    #[command(after_help = "Example:\n  berth webhook list")]
    List,
    /// Show a webhook.
    #[command(after_help = "Example:\n  berth webhook show ops")]
    Show(webhook::NameArguments),
    /// Create or replace a webhook, and print the secret of a new one once.
    Set(Box<webhook::SetArguments>),
    /// Delete a webhook. Its deliveries can no longer be read.
    Delete(webhook::DeleteArguments),
    /// Give a webhook another secret and print it once.
    Rotate(webhook::RotateArguments),
    /// Enable a webhook that was disabled because it failed for long.
    #[command(after_help = "Example:\n  berth webhook resume ops")]
    Resume(webhook::NameArguments),
    /// Send a test and print what the receiver answered.
    Test(webhook::TestArguments),
    /// List deliveries of a webhook, newest first.
    Deliveries(webhook::DeliveriesArguments),
    /// Show a delivery: its tries and what is sent.
    Delivery(webhook::DeliveryArguments),
    /// Send a delivery again, or those of a range that were given up.
    Replay(webhook::ReplayArguments),
}

/// Commands for API keys of the caller's tenant.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List keys, newest first: all, or those you created.
    #[command(after_help = "Example:\n  berth keys list")]
    List,
    /// Create a key and print it once.
    Create(KeysCreateArguments),
    /// Replace a key by a new one and print it once.
    Rotate(KeysRotateArguments),
    /// Revoke a key at once.
    Revoke(KeysRevokeArguments),
}

/// Commands for users of the caller's tenant.
#[derive(Debug, Subcommand)]
pub enum UsersCommand {
    /// List users, newest first.
    #[command(after_help = "Example:\n  berth users list")]
    List,
    /// Invite a user and print the invitation token once.
    Invite(UsersInviteArguments),
    /// Store a user: invite them, or give them the role.
    Put(UsersPutArguments),
    /// Change a user's role.
    Role(UsersRoleArguments),
    /// Remove a user, end its sessions and revoke its keys.
    Remove(UsersRemoveArguments),
}

/// Commands for profiles.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// List profiles; the current one is marked.
    #[command(after_help = "Example:\n  berth profile list")]
    List,
    /// Make a profile the current one.
    Use(ProfileUseArguments),
}
