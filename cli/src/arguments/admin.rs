//! What can be typed after `berth admin`.

use crate::admin::{
    self, AuditVerifyArguments, ExecutorListArguments, KeyCreateArguments, KeyListArguments,
    KeyRevokeArguments, KeyRotateArguments, OperatorKeyCreateArguments, OperatorKeyRevokeArguments,
    OperatorKeyRotateArguments, PlanDeleteArguments, PlanSetArguments, PoolArguments,
    PoolPauseArguments, PoolSetArguments, PriceBookArguments, PriceBookPutArguments,
    ResumeAfterRestoreArguments, TenantArguments, TenantCreateArguments, TenantDeleteArguments,
    TenantListArguments, TenantPutArguments, TenantSetPlanArguments, UserCreateArguments,
    UserListArguments, UserPutArguments, UserRemoveArguments,
};
use crate::customer::secret;
use clap::Subcommand;
use runtime::config::SecretString;

/// An operator command, and with which key.
#[derive(Debug, clap::Args)]
pub struct AdminArguments {
    /// The command.
    #[command(subcommand)]
    pub command: AdminCommand,
    /// Operator key. Prefer BERTH_OPERATOR_KEY or `berth admin login`: other users can see arguments.
    #[arg(long, global = true, env = "BERTH_OPERATOR_KEY", hide_env_values = true, value_name = "KEY", value_parser = secret)]
    pub operator_key: Option<SecretString>,
}

/// Operator commands.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Store a server and an operator key in a profile.
    Login(admin::LoginArguments),
    /// Show the operator of the key.
    #[command(name = "whoami", after_help = "Example:\n  berth admin whoami")]
    WhoAmI,
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
    /// Price books: what things cost.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth admin price-book put eur eur.yaml\n  berth admin plan set team --price-book eur"
    )]
    PriceBook(PriceBookCommand),
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
    /// Executors.
    #[command(subcommand, after_help = "Example:\n  berth admin executor list")]
    Executor(ExecutorCommand),
    /// The audit log.
    #[command(subcommand, after_help = "Example:\n  berth admin audit verify")]
    Audit(AuditCommand),
    /// Show what would fire after a restore; with --confirm, release the held schedules.
    ResumeAfterRestore(ResumeAfterRestoreArguments),
}

/// Commands for the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Verify on the database that no row of the audit log is missing or changed.
    Verify(AuditVerifyArguments),
}

/// Commands for executors.
#[derive(Debug, Subcommand)]
pub enum ExecutorCommand {
    /// List connected executors with their free room.
    List(ExecutorListArguments),
}

/// Commands for tenants.
#[derive(Debug, Subcommand)]
pub enum TenantCommand {
    /// Create a tenant and print its id.
    Create(TenantCreateArguments),
    /// Store a tenant: create it or change all of it.
    Put(TenantPutArguments),
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
    List,
    /// Create a plan.
    Create(PlanSetArguments),
    /// Change a plan. Takes effect within two seconds.
    #[command(after_help = "Example:\n  berth admin plan set team --backlog 200000")]
    Set(PlanSetArguments),
    /// Delete a plan that no tenant uses.
    Delete(PlanDeleteArguments),
}

/// Commands for price books.
#[derive(Debug, Subcommand)]
pub enum PriceBookCommand {
    /// List price books.
    #[command(after_help = "Example:\n  berth admin price-book list")]
    List,
    /// Print a price book as it can be stored again.
    #[command(after_help = "Example:\n  berth admin price-book get eur > eur.json")]
    Get(PriceBookArguments),
    /// Create or change a price book.
    Put(PriceBookPutArguments),
    /// Delete a price book that no plan has named.
    #[command(after_help = "Example:\n  berth admin price-book delete eur")]
    Delete(PriceBookArguments),
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
    /// Store a user: invite them, or give them the role.
    Put(UserPutArguments),
    /// Remove a user, end their sessions and revoke their keys.
    Remove(UserRemoveArguments),
    /// List a tenant's users, newest first.
    List(UserListArguments),
}

/// Commands for operator keys.
#[derive(Debug, Subcommand)]
pub enum OperatorKeyCommand {
    /// Create an operator key and print it once.
    Create(OperatorKeyCreateArguments),
    /// List operator keys, newest first.
    #[command(after_help = "Example:\n  berth admin operator-key list")]
    List,
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
    List,
    /// Create or change a pool and print it.
    Set(PoolSetArguments),
    /// Stop dispatch of a pool until it is resumed; running tasks continue.
    Pause(PoolPauseArguments),
    /// Resume a paused pool.
    #[command(after_help = "Example:\n  berth admin pool resume default")]
    Resume(PoolArguments),
    /// Delete a pool without executors and unfinished tasks.
    #[command(after_help = "Example:\n  berth admin pool delete gpu")]
    Delete(PoolArguments),
}
