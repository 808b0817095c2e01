//! What can be typed after `berth admin`.

use crate::admin::{
    self, AuditVerifyArguments, BillingSetArguments, CreditCreateArguments, ExecutorListArguments,
    InvoiceMoveArguments, KeyCreateArguments, KeyListArguments, KeyRevokeArguments,
    KeyRotateArguments, OperatorKeyCreateArguments, OperatorKeyRevokeArguments,
    OperatorKeyRotateArguments, PlanDeleteArguments, PlanSetArguments, PoolArguments,
    PoolPauseArguments, PoolSetArguments, PriceBookArguments, PriceBookDryRunArguments,
    PriceBookPutArguments, ResumeAfterRestoreArguments, TenantArguments, TenantCreateArguments,
    TenantDeleteArguments, TenantListArguments, TenantPutArguments, TenantSetPlanArguments,
    UserCreateArguments, UserListArguments, UserPutArguments, UserRemoveArguments,
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
    /// Invoices of a tenant, and how it is billed.
    #[command(
        subcommand,
        after_help = "Examples:\n  berth admin invoice list acme\n  berth admin invoice pay acme 2030-01-0007"
    )]
    Invoice(AdminInvoiceCommand),
    /// Credits and refunds of a tenant.
    #[command(
        subcommand,
        after_help = "Example:\n  berth admin credit create acme outage-7 --amount -5000000 --currency EUR --reason 'Outage of May 7'"
    )]
    Credit(CreditCommand),
    /// What each tenant used, costs and leaves as margin.
    Costs(admin::CostsArguments),
    /// Usage as events for a billing provider.
    UsageEvents(admin::UsageEventsArguments),
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
    /// Show what a past month would have cost by other prices; nothing is stored.
    DryRun(PriceBookDryRunArguments),
    /// Delete a price book that no plan has named.
    #[command(after_help = "Example:\n  berth admin price-book delete eur")]
    Delete(PriceBookArguments),
}

/// Commands for invoices of a tenant.
#[derive(Debug, Subcommand)]
pub enum AdminInvoiceCommand {
    /// List the invoices of a tenant, newest first. The present month is a draft.
    #[command(after_help = "Example:\n  berth admin invoice list acme")]
    List(TenantArguments),
    /// Make a draft final whose month is over. The scheduler does this by itself.
    #[command(after_help = "Example:\n  berth admin invoice finalize acme 2030-01-EUR")]
    Finalize(InvoiceMoveArguments),
    /// Say that an invoice was paid.
    #[command(after_help = "Example:\n  berth admin invoice pay acme 2030-01-0007")]
    Pay(InvoiceMoveArguments),
    /// Make an invoice void. It keeps its number.
    #[command(after_help = "Example:\n  berth admin invoice void acme 2030-01-0007")]
    Void(InvoiceMoveArguments),
    /// Show how a tenant is billed.
    #[command(after_help = "Example:\n  berth admin invoice billing acme")]
    Billing(TenantArguments),
    /// Set how a tenant is billed.
    SetBilling(BillingSetArguments),
}

/// Commands for credits.
#[derive(Debug, Subcommand)]
pub enum CreditCommand {
    /// List the credits and refunds of a tenant, newest first.
    #[command(after_help = "Example:\n  berth admin credit list acme")]
    List(TenantArguments),
    /// Make a credit or a refund. No final invoice changes.
    Create(CreditCreateArguments),
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
    /// Show where a pool's tasks are, and what each waiting tenant gets of it.
    #[command(after_help = "Example:\n  berth admin pool flow default")]
    Flow(PoolArguments),
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
