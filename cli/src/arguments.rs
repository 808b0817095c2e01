//! What can be typed after `berth`.
//!
//! Read by `main` alone. One struct a command, kept beside the code that runs it; here is only the list.

use crate::admin::{
    AuditVerifyArguments, KeyCreateArguments, KeyListArguments, KeyRevokeArguments,
    KeyRotateArguments, MigrateArguments, OperatorKeyCreateArguments, OperatorKeyRevokeArguments,
    OperatorKeyRotateArguments, PlanDeleteArguments, PlanSetArguments, PoolArguments,
    PoolPauseArguments, PoolSetArguments, ResumeAfterRestoreArguments, TenantArguments,
    TenantCreateArguments, TenantDeleteArguments, TenantListArguments, TenantSetPlanArguments,
    UserCreateArguments,
};
use crate::customer::{
    AcceptArguments, AttemptsArguments, AuditArguments, CancelArguments, ConcurrencyKeyArguments,
    ConcurrencyListArguments, ConcurrencySetArguments, ConnectionArguments, ExplainArguments,
    GetArguments, KeysCreateArguments, KeysRevokeArguments, KeysRotateArguments, ListArguments,
    LoginArguments, LogsArguments, ProfileUseArguments, RerunArguments, SignInArguments,
    SignUpArguments, SubmitArguments, UsageArguments, UsersInviteArguments, UsersRemoveArguments,
    UsersRoleArguments, WatchArguments, schedule,
};
use crate::manual::{CompletionsArguments, ManArguments};
use crate::output::Format;
use crate::settings_arguments::SettingsArguments;
use crate::sim::SimArguments;
use crate::up::UpArguments;
use clap::{Parser, Subcommand};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the command failed; or the awaited task ended failed, aborted or killed; or a doctor check failed
  2  invalid arguments, settings or task; or some tasks of a file were refused; or a doctor check could not run
  3  not found
  4  the API key is missing, invalid or lacks permission
  5  the server or the database is unreachable or overloaded
  6  the awaited task was cancelled, expired or skipped
  7  the audit log was changed, or rows of it are missing

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
#[command(name = "berth", version, max_term_width = 100, after_help = EXIT_CODES)]
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
    /// Check the invariants in the database and the broker, and print what to do about each failure.
    #[command(
        after_help = "Read-only and safe under load. Exit code 0: healthy; 1: a check failed; 2: a check could not run.\n\nExample:\n  berth doctor --config /etc/berth.toml --output json"
    )]
    Doctor(SettingsArguments),
    /// Operator commands, directly on the database.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth admin tenant create acme\n  berth admin key create --tenant acme --name ci --scope submit\n\nThe audit log records operator:NAME as the actor (--operator, BERTH_OPERATOR, or the name of your system login)."
    )]
    Admin(AdminCommand),
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
    /// Run a task again as a new task and print its id.
    Rerun(RerunArguments),
    /// Cancel tasks; running ones are asked to stop.
    Cancel(CancelArguments),
    /// Show the attempts of a task.
    Attempts(AttemptsArguments),
    /// Show usage by day and tier.
    Usage(UsageArguments),
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

/// Operator commands.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Tenants (customers).
    #[command(
        subcommand,
        after_help = "Examples:\n  berth admin tenant create acme --plan free\n  berth admin tenant suspend acme"
    )]
    Tenant(TenantCommand),
    /// Plans (subscriptions).
    #[command(
        subcommand,
        after_help = "Examples:\n  berth admin plan list\n  berth admin plan set team --backlog 200000"
    )]
    Plan(PlanCommand),
    /// API keys.
    #[command(
        subcommand,
        after_help = "Example:\n  berth admin key create --tenant acme --name ci --scope read --scope submit"
    )]
    Key(KeyCommand),
    /// Users of a tenant.
    #[command(
        subcommand,
        after_help = "Example:\n  berth admin user create --tenant acme --email ann@example.com --role owner"
    )]
    User(UserCommand),
    /// Operator keys.
    #[command(
        subcommand,
        after_help = "Example:\n  berth admin operator-key create --name ann --scope read"
    )]
    OperatorKey(OperatorKeyCommand),
    /// Pools of executors and their permissions.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth admin pool list\n  berth admin pool pause default --because 'a new kernel'"
    )]
    Pool(PoolCommand),
    /// The audit log.
    #[command(subcommand, after_help = "Example:\n  berth admin audit verify")]
    Audit(AuditCommand),
    /// Show what would fire after a restore; with --confirm, release the held schedules.
    ResumeAfterRestore(ResumeAfterRestoreArguments),
}

/// Commands for the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Verify that no row of the audit log is missing or changed.
    Verify(AuditVerifyArguments),
}

/// Commands for tenants.
#[derive(Debug, Subcommand)]
pub enum TenantCommand {
    /// Create a tenant and print its id.
    Create(TenantCreateArguments),
    /// List tenants, newest first.
    List(TenantListArguments),
    /// Show a tenant.
    #[command(after_help = "Example:\n  berth admin tenant show acme")]
    Show(TenantArguments),
    /// Suspend a tenant: no submits and no new starts; running tasks finish.
    #[command(after_help = "Example:\n  berth admin tenant suspend acme")]
    Suspend(TenantArguments),
    /// Resume a suspended tenant.
    #[command(after_help = "Example:\n  berth admin tenant resume acme")]
    Resume(TenantArguments),
    /// Delete a tenant permanently.
    Delete(TenantDeleteArguments),
    /// Change a tenant's plan and weight.
    SetPlan(TenantSetPlanArguments),
}

/// Commands for plans.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// List plans.
    #[command(after_help = "Example:\n  berth admin plan list")]
    List(SettingsArguments),
    /// Create a plan.
    Create(PlanSetArguments),
    /// Change a plan. Takes effect within two seconds.
    #[command(after_help = "Example:\n  berth admin plan set team --backlog 200000")]
    Set(PlanSetArguments),
    /// Delete a plan that no tenant uses.
    Delete(PlanDeleteArguments),
}

/// Commands for API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create an API key and print it once.
    Create(KeyCreateArguments),
    /// List a tenant's keys, newest first.
    List(KeyListArguments),
    /// Replace a key by a new one and print it once.
    Rotate(KeyRotateArguments),
    /// Revoke a key at once.
    Revoke(KeyRevokeArguments),
}

/// Commands for users.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Invite a user, such as a tenant's first owner, and print the invitation token once.
    Create(UserCreateArguments),
}

/// Commands for operator keys.
#[derive(Debug, Subcommand)]
pub enum OperatorKeyCommand {
    /// Create an operator key and print it once.
    Create(OperatorKeyCreateArguments),
    /// List operator keys, newest first.
    #[command(after_help = "Example:\n  berth admin operator-key list")]
    List(SettingsArguments),
    /// Replace a key by a new one and print it once.
    Rotate(OperatorKeyRotateArguments),
    /// Revoke an operator key at once.
    Revoke(OperatorKeyRevokeArguments),
}

/// Commands for pools.
#[derive(Debug, Subcommand)]
pub enum PoolCommand {
    /// List pools.
    #[command(after_help = "Example:\n  berth admin pool list")]
    List(SettingsArguments),
    /// Create or change a pool and print it.
    Set(PoolSetArguments),
    /// Stop dispatch of a pool until it is resumed; running tasks continue.
    Pause(PoolPauseArguments),
    /// Resume a paused pool.
    #[command(after_help = "Example:\n  berth admin pool resume default")]
    Resume(PoolArguments),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;
    use domain::batch::Priority;
    use std::time::Duration;

    fn parsed(line: &[&str]) -> Result<Command, ErrorKind> {
        let line = ["berth"].iter().chain(line);
        Arguments::try_parse_from(line)
            .map(|arguments| arguments.command)
            .map_err(|error| error.kind())
    }

    fn submitted(line: &[&str]) -> Result<SubmitArguments, ErrorKind> {
        parsed(&[&["submit"], line].concat()).map(|command| match command {
            Command::Submit(task) => *task,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn the_commands_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_is_for_and_has_an_example() {
        fn walk(command: &clap::Command) {
            for inner in command.get_subcommands() {
                assert!(inner.get_about().is_some(), "{}", inner.get_name());
                let help = inner.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Example"), "{} has no example", inner.get_name());
                for argument in inner.get_arguments() {
                    assert!(
                        argument.get_help().is_some(),
                        "{} {}",
                        inner.get_name(),
                        argument.get_id()
                    );
                }
                walk(inner);
            }
        }
        walk(&Arguments::command());
    }

    #[test]
    fn what_follows_two_dashes_is_the_command_word_for_word() {
        let task = submitted(&[
            "--env",
            "A=1=2",
            "--label",
            "team=media",
            "--",
            "bash",
            "-c",
            "echo $A",
            "--name",
        ])
        .unwrap();
        assert_eq!(task.task.command, ["bash", "-c", "echo $A", "--name"]);
        assert_eq!(task.task.env, [("A".to_owned(), "1=2".to_owned())]);
        assert_eq!(task.task.name, None);
    }

    #[test]
    fn a_noop_has_a_duration_or_none() {
        assert_eq!(submitted(&["--noop"]).unwrap().task.noop, Some(Duration::ZERO));
        assert_eq!(
            submitted(&["--noop", "5s", "--name", "n"]).unwrap().task.noop,
            Some(Duration::from_secs(5))
        );
        assert!(submitted(&["--noop", "soon"]).is_err());
    }

    #[test]
    fn a_task_is_exactly_one_of_command_noop_and_json() {
        assert_eq!(submitted(&["--name", "n"]).unwrap_err(), ErrorKind::MissingRequiredArgument);
        for line in [
            ["--noop", "1s", "--", "a"].as_slice(),
            &["--json", "f", "--", "a"],
            &["--json", "f", "--noop"],
            &["--json", "f", "--name", "n"],
            &["--delay", "1s", "--run-at", "2030-01-31T12:00:00Z", "--", "a"],
        ] {
            assert_eq!(submitted(line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
        }
        assert_eq!(submitted(&["--script", "a.sh"]).unwrap().task.script.as_deref(), Some("a.sh"));
        assert_eq!(submitted(&["--script", "a.sh", "--", "x"]).unwrap().task.command, ["x"]);
        for line in [["--script", "f", "--noop"].as_slice(), &["--script", "f", "--json", "f"]] {
            assert_eq!(submitted(line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
        }
        assert_eq!(submitted(&["--json", "-"]).unwrap().json.as_deref(), Some("-"));
        assert_eq!(submitted(&["--file", "-"]).unwrap().file.as_deref(), Some("-"));
        for line in [["--file", "f", "--follow"].as_slice(), &["--file", "f", "--name", "n"]] {
            assert_eq!(submitted(line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
        }
    }

    #[test]
    fn whose_turn_it_is_may_be_said_in_three_ways() {
        let task =
            submitted(&["--priority", "-10", "--flexible", "--concurrency-key", "a/b", "--", "a"]);
        let task = task.unwrap().task;
        assert_eq!(task.priority, Priority::new(-10));
        assert_eq!(task.flexible, Some(true));
        assert_eq!(task.concurrency_key.unwrap().as_str(), "a/b");
        assert_eq!(
            submitted(&["--flexible", "false", "--", "a"]).unwrap().task.flexible,
            Some(false)
        );
        assert_eq!(submitted(&["--noop"]).unwrap().task.flexible, None);
        for line in [["--priority", "1"].as_slice(), &["--flexible"], &["--concurrency-key", "a"]] {
            let line = [&["--file", "f"], line].concat();
            assert_eq!(submitted(&line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
        }
    }

    #[test]
    fn a_pause_says_why_and_a_limit_is_in_its_range() {
        let longest = "x".repeat(500);
        let pause =
            |because: &str| parsed(&["admin", "pool", "pause", "default", "--because", because]);
        assert!(pause(&longest).is_ok());
        for because in [String::new(), format!("{longest}x")] {
            assert_eq!(pause(&because).unwrap_err(), ErrorKind::ValueValidation);
        }
        assert!(parsed(&["admin", "pool", "pause", "default"]).is_err());
        assert!(parsed(&["concurrency", "set", "exports", "0"]).is_ok());
        assert!(parsed(&["concurrency", "set", "exports", "1000001"]).is_err());
        assert!(parsed(&["concurrency", "show", ".."]).is_err());
    }

    #[test]
    fn what_only_a_command_has_is_refused_for_a_noop() {
        assert!(submitted(&["--noop", "--env", "A=1"]).is_err());
        assert!(submitted(&["--noop", "--stdin", "x"]).is_err());
    }

    #[test]
    fn a_schedule_says_when_and_what_or_is_in_a_file() {
        let put =
            |line: &[&str]| parsed(&[&["schedule", "put", "report"], line].concat()).map(|_| ());
        for line in [
            ["--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--", "a", "--cron"].as_slice(),
            &["--cron", "@daily", "--every", "90s", "--noop"],
            &[
                "--daily",
                "09:00",
                "--overlap",
                "allow",
                "--misfire",
                "skip",
                "--paused",
                "--http",
                "https://a/",
            ],
            &["--json", "-", "--if-version", "3"],
            &["--file", "-"],
            &["--daily", "09:00", "--script", "a.sh"],
        ] {
            assert_eq!(put(line), Ok(()), "{line:?}");
        }
        assert_eq!(put(&["--", "a"]), Err(ErrorKind::MissingRequiredArgument));
        assert_eq!(put(&["--cron", "@daily"]), Err(ErrorKind::MissingRequiredArgument));
        for line in [
            ["--json", "f", "--cron", "@daily"].as_slice(),
            &["--json", "f", "--", "a"],
            &["--json", "f", "--zone", "UTC"],
            &["--json", "f", "--overlap", "skip"],
            &["--json", "f", "--pool", "p"],
        ] {
            assert_eq!(put(line), Err(ErrorKind::ArgumentConflict), "{line:?}");
        }
        assert!(put(&["--cron", "@daily", "--overlap", "queue", "--", "a"]).is_err());
        for line in [
            ["schedule", "get", "a/b"].as_slice(),
            &["schedule", "fires", "a", "--outcome", "gone"],
        ] {
            assert!(parsed(line).is_err(), "{line:?}");
        }
        assert!(parsed(&["schedule", "preview", "report", "-n", "999"]).is_ok());
        assert!(parsed(&["schedule", "preview", "--cron", "@daily"]).is_ok());
    }

    #[test]
    fn values_are_checked_where_they_are_typed() {
        for line in [
            ["--tier", "gold"].as_slice(),
            &["--delay", "-1s"],
            &["--delay", "5"],
            &["--run-at", "tomorrow"],
            &["--max-attempts", "0"],
            &["--label", "team"],
            &["--env", "=x"],
            &["--delivery", "exactly_once"],
            &["--priority", "11"],
            &["--flexible", "perhaps"],
            &["--concurrency-key", ".."],
            &["--idempotency-key", "a b"],
        ] {
            let line = [line, &["--", "a"]].concat();
            assert!(
                matches!(
                    submitted(&line),
                    Err(ErrorKind::ValueValidation
                        | ErrorKind::InvalidValue
                        | ErrorKind::UnknownArgument)
                ),
                "{line:?}"
            );
        }
        assert!(parsed(&["get", "task_1"]).is_err());
        assert!(parsed(&["list", "--limit", "201"]).is_err());
        assert!(parsed(&["list", "--state", "done"]).is_err());
        assert!(parsed(&["list", "--label", "a=b", "--label", "c!=d", "--since", "2h"]).is_ok());
        assert!(parsed(&["list", "--since", "yesterday"]).is_err());
        assert!(parsed(&["list", "--label", "team"]).is_err());
        assert!(parsed(&["cancel"]).is_err(), "nothing to cancel");
        assert!(parsed(&["admin", "tenant", "create", "a", "--weight", "1001"]).is_err());
        assert!(
            parsed(&["admin", "key", "create", "--tenant", "a", "--name", "n"]).is_err(),
            "a key without a scope"
        );
    }

    #[test]
    fn states_come_with_commas_or_several_times() {
        let Ok(Command::List(list)) =
            parsed(&["list", "--state", "ready,queued", "--state", "running", "--all"])
        else {
            panic!("a list");
        };
        assert_eq!(list.states.len(), 3);
    }

    #[test]
    fn server_key_and_output_may_stand_anywhere_and_the_key_does_not_show() {
        let line = [
            "berth",
            "usage",
            "--output",
            "json",
            "--server",
            "http://a:1",
            "--api-key",
            "hunter2",
        ];
        let arguments = Arguments::try_parse_from(line).unwrap();
        assert_eq!(
            (arguments.output, arguments.connection.server.as_deref()),
            (Format::Json, Some("http://a:1"))
        );
        assert!(!format!("{arguments:?}").contains("hunter2"));
        let line = ["berth", "--server", "http://a:1", "usage"];
        let server = Arguments::try_parse_from(line).unwrap().connection.server;
        assert_eq!(server.as_deref(), Some("http://a:1"));
    }

    #[test]
    fn counts_of_processes_go_with_full_and_are_checked() {
        assert!(parsed(&["up", "--full", "--api", "2", "--executor", "3"]).is_ok());
        for line in [
            ["up", "--executor", "2"].as_slice(),
            &["up", "--full", "--executor", "0"],
            &["up", "--full", "--api", "33"],
            &["up", "--listen", "8080"],
        ] {
            assert!(parsed(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn keys_and_users_are_checked_where_they_are_typed() {
        for line in [
            ["keys", "list"].as_slice(),
            &["keys", "create", "--name", "ci", "--scope", "read", "--expires-in", "90d"],
            &["keys", "rotate", "q2mnv5c7xk3a", "--overlap", "0s"],
            &["keys", "revoke", "q2mnv5c7xk3a"],
            &["admin", "key", "rotate", "q2mnv5c7xk3a", "--tenant", "acme"],
            &["admin", "operator-key", "create", "--name", "ann", "--scope", "admin"],
            &["admin", "user", "create", "--tenant", "a", "--email", "a@b", "--role", "owner"],
        ] {
            assert!(parsed(line).is_ok(), "{line:?}");
        }
        for line in [
            ["keys", "create", "--name", "ci"].as_slice(),
            &["keys", "create", "--name", "ci", "--scope", "root"],
            &["keys", "rotate", "q2mnv5c7xk3a", "--overlap", "31d"],
            &["admin", "operator-key", "create", "--name", "ann", "--scope", "submit"],
            &["admin", "user", "create", "--tenant", "a", "--email", "a@b", "--role", "root"],
        ] {
            assert!(parsed(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn roles_and_migrate_take_a_file_with_settings() {
        for role in ["api", "scheduler", "resource-manager", "executor", "migrate"] {
            assert!(parsed(&[role, "--config", "berth.toml"]).is_ok(), "{role}");
            assert!(parsed(&[role, "--port", "1"]).is_err(), "{role}");
        }
    }
}
