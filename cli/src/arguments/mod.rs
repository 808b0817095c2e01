//! What can be typed after `berth`.
//!
//! Read by `main` alone. One struct a command, kept beside the code that runs it; here is only the list.

mod admin;
mod customer;
#[cfg(test)]
mod tests;

use crate::admin::MigrateArguments;
use crate::canary::CanaryArguments;
use crate::customer::{
    AcceptArguments, ApplyArguments, ApproveArguments, AttemptsArguments, AuditArguments,
    CancelArguments, ChangeArguments, CompleteArguments, ConnectionArguments, CostArguments,
    EventsArguments, ExplainArguments, ExportArguments, GetArguments, ListArguments,
    LoginArguments, LogsArguments, MarkSucceededArguments, RejectArguments, RerunArguments,
    ResultArguments, RetryArguments, RunNowArguments, SignInArguments, SignUpArguments,
    SignalArguments, SubmitArguments, UsageArguments, WatchArguments,
};
use crate::doctor::DoctorArguments;
use crate::manual::{CompletionsArguments, ManArguments};
use crate::output::Format;
use crate::probe::ProbeArguments;
use crate::settings_arguments::SettingsArguments;
use crate::sim::SimArguments;
use crate::up::UpArguments;
use clap::{Parser, Subcommand};

pub use admin::{
    AdminArguments, AdminCommand, AdminInvoiceCommand, AuditCommand, CreditCommand,
    ExecutorCommand, KeyCommand, OperatorKeyCommand, PlanCommand, PoolCommand, PriceBookCommand,
    TenantCommand, UserCommand,
};
pub use customer::{
    CapCommand, ConcurrencyCommand, InvoiceCommand, KeysCommand, ProfileCommand, QuoteCommand,
    ScheduleCommand, UsersCommand, WebhookCommand, WorkflowCommand,
};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the command failed; or the awaited task or workflow run ended failed, aborted or killed; or a doctor check failed
  2  invalid arguments, settings, task or object; or some tasks of a file were refused; or a doctor check could not run
  3  not found
  4  the API key is missing, invalid or lacks permission
  5  the server or the database is unreachable or overloaded
  6  the awaited task or workflow run was cancelled, expired or skipped
  7  the audit log was changed, or rows of it are missing
  8  `--dry-run` of `berth apply` or `berth doctor rebuild-usage` found changes

Examples:
  berth up
  berth login --server https://berth.example.com        # asks for the key and stores it
  berth submit --name hello --follow -- bash -c 'echo hi'
  berth submit --file tasks.ndjson
  berth watch";

/// Berth runs commands and HTTP calls for many customers on shared machines.
///
/// An accepted task is never lost and ends exactly once. Customers share the machines by weight. A command may run more than once if
/// its machine fails (see `berth submit --delivery`).
#[derive(Debug, Parser)]
#[command(
    name = "berth",
    version,
    long_version = env!("BERTH_VERSION"),
    max_term_width = 100,
    after_help = EXIT_CODES
)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Output format.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub output: Format,
    #[command(flatten)]
    pub connection: ConnectionArguments,
}

/// Every command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a complete Berth on this machine: database, all roles, an executor and a first key.
    Up(Box<UpArguments>),
    /// Run the HTTP API.
    #[command(after_help = "Example:\n  berth api --config /etc/berth.toml")]
    Api(SettingsArguments),
    /// Run a scheduler: due times and dispatch order.
    #[command(after_help = "Example:\n  berth scheduler --config /etc/berth.toml")]
    Scheduler(SettingsArguments),
    /// Run a resource manager: placement and leases.
    #[command(
        after_help = "Example:\n  BERTH_RESOURCE_MANAGER__LISTEN=0.0.0.0:7070 berth resource-manager"
    )]
    ResourceManager(SettingsArguments),
    /// Run a notifier: webhooks.
    #[command(after_help = "Example:\n  BERTH_NOTIFIER__LISTEN=127.0.0.1:9104 berth notifier")]
    Notifier(SettingsArguments),
    /// Run an executor: the agent that runs tasks on this machine.
    #[command(
        after_help = "Example:\n  BERTH_EXECUTOR__RESOURCE_MANAGERS=http://rm:7070 berth executor"
    )]
    Executor(SettingsArguments),
    /// Migrate the database to this version: tables, policies and service roles.
    #[command(
        after_help = "Example:\n  BERTH_DATABASE__URL=postgres://owner@db/berth berth migrate"
    )]
    Migrate(MigrateArguments),
    /// Look from outside whether the service does what it promises, and report it for the public status.
    Canary(CanaryArguments),
    /// Ask a role whether it is ready.
    Probe(ProbeArguments),
    /// Check the invariants in the database and the broker, and print what to do about each failure.
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Without a command: read-only and safe under load. Exit code 0: healthy; 1: a check failed; 2: a check could not run.\n\nExamples:\n  berth doctor --config /etc/berth.toml --output json\n  berth doctor rebuild-usage --dry-run"
    )]
    Doctor(DoctorArguments),
    /// Operator commands, with an operator key.
    #[command(
        after_help = "Examples:\n  berth admin tenant create acme\n  berth admin key create --tenant acme --name ci --scope submit\n\nThe server is that of --server, BERTH_SERVER or the profile."
    )]
    Admin(AdminArguments),
    /// Submit a task and print its id.
    Submit(Box<SubmitArguments>),
    /// Show a task.
    Get(GetArguments),
    /// Show what a task waits for and its estimated start.
    Explain(ExplainArguments),
    /// Watch tasks until all named ones have finished.
    Watch(WatchArguments),
    /// Show tasks, newest first.
    List(ListArguments),
    /// Print a task's output to standard output and standard error.
    Logs(LogsArguments),
    /// Print the JSON value that a task returned.
    Result(ResultArguments),
    /// Run a task again as a new task and print its id.
    Rerun(RerunArguments),
    /// Try a failed task again and print the id of the task that runs then.
    Retry(RetryArguments),
    /// Run a task now, without waiting for its time.
    RunNow(RunNowArguments),
    /// Mark a waiting task as succeeded.
    MarkSucceeded(MarkSucceededArguments),
    /// Change a task before it runs.
    Change(Box<ChangeArguments>),
    /// Say how an HTTP task ended that runs until its callback.
    Complete(CompleteArguments),
    /// Cancel tasks; running ones are asked to stop.
    Cancel(CancelArguments),
    /// Show the attempts of a task.
    Attempts(AttemptsArguments),
    /// Show what something would cost, before it is sent.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth quote task --tier regular --execution-cap 1h -- ./train.sh\n  berth quote workflow load\n  berth quote schedule report --month 2030-03"
    )]
    Quote(QuoteCommand),
    /// Show what usage costs, and what the month comes to.
    Cost(CostArguments),
    /// Spend caps: what tasks may cost in a day or a month.
    #[command(subcommand, after_help = "Examples:\n  berth cap set all 250\n  berth cap list")]
    Cap(CapCommand),
    /// Invoices: one a month and currency.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth invoice list\n  berth invoice download 2030-01-0007"
    )]
    Invoice(InvoiceCommand),
    /// Show usage by day and tier.
    Usage(UsageArguments),
    /// Print events: what became of tasks, schedules, quotas and caps.
    Events(EventsArguments),
    /// Show what runs, what waits, and how the newest finished tasks went.
    #[command(after_help = "Example:\n  berth overview")]
    Overview,
    /// Show the limits of the plan and their use.
    #[command(after_help = "Example:\n  berth limits")]
    Limits,
    /// Show the audit log of your tenant, newest first.
    Audit(AuditArguments),
    /// Concurrency keys: how many tasks with the same key run at once.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth concurrency set exports 3\n  berth concurrency list"
    )]
    Concurrency(ConcurrencyCommand),
    /// Schedules, which create tasks at their due times.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth schedule put report --cron '30 2 * * *' -- bash -c 'echo hi'\n  berth schedule edit report --zone Europe/Berlin\n  berth schedule fires report"
    )]
    Schedule(ScheduleCommand),
    /// Workflows, which are graphs of tasks, and their runs.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth workflow check load.yaml\n  berth workflow put load load.yaml\n  berth workflow run load --watch"
    )]
    Workflow(WorkflowCommand),
    /// Webhooks, which send events to your receivers, and what was sent.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth webhook set ops --url https://hooks.example.com/berth --event 'berth.task.failed'\n  berth webhook test ops\n  berth webhook deliveries ops --state failed"
    )]
    Webhook(WebhookCommand),
    /// Make the schedules, workflows, concurrency limits and users of your tenant what files say.
    Apply(ApplyArguments),
    /// Print the schedules, workflows, concurrency limits and users of your tenant, as `berth apply` takes them.
    Export(ExportArguments),
    /// Send a signal to the workflow nodes that wait for it.
    Signal(SignalArguments),
    /// Approve a task that waits for approval.
    Approve(ApproveArguments),
    /// Reject a task that waits for approval.
    Reject(RejectArguments),
    /// API keys of your tenant.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth keys create --name ci --scope submit\n  berth keys list"
    )]
    Keys(KeysCommand),
    /// Users of your tenant.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth users invite ann@example.com --role developer\n  berth users role ann@example.com admin"
    )]
    Users(UsersCommand),
    /// Store a server and an existing API key in a profile.
    Login(LoginArguments),
    /// Show the server, the tenant and the scopes of the API key.
    #[command(name = "whoami", after_help = "Example:\n  berth whoami")]
    WhoAmI,
    /// Sign in with e-mail and password; create an API key and store it.
    SignIn(SignInArguments),
    /// Accept an invitation and set a password.
    Accept(AcceptArguments),
    /// Sign up as a customer, where the server allows it, and store a first key.
    SignUp(SignUpArguments),
    /// Stored servers.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth profile list\n  berth profile use staging"
    )]
    Profile(ProfileCommand),
    /// Simulate scheduling policies under a virtual clock.
    Sim(SimArguments),
    /// Print the OpenAPI 3.1 document of the HTTP API.
    #[command(after_help = "Example:\n  berth openapi > openapi.json")]
    Openapi(SettingsArguments),
    /// Print shell completions.
    Completions(CompletionsArguments),
    /// Write manual pages into a folder.
    Man(ManArguments),
}
