//! `berth admin tenant suspend`, `resume`, `delete` and `set-plan`: what is changed of a tenant.
//!
//! Each changes the tenant and prints it; the services know it within a second or two. What stays as it was is a success.

use super::tenant_create::weight;
use super::tenant_show::{TenantArguments, id_of, print};
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use domain::id::PlanName;

/// How a tenant is to stand.
#[derive(Debug, Clone, Copy)]
pub enum Standing {
    /// Nothing new starts.
    Suspended,
    /// Everything works.
    Active,
    /// It goes.
    Deleted,
}

/// Which tenant goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin tenant delete acme --yes\n\n\
                  Its keys stop working and its tasks are cancelled at once. Its data is purged after limits.deleted_tenant_grace.")]
pub struct TenantDeleteArguments {
    /// Name or id.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
    /// Confirm. A deletion cannot be undone.
    #[arg(long, required = true)]
    pub yes: bool,
}

/// Which tenant, and what it gets.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin tenant set-plan acme free --weight 2")]
pub struct TenantSetPlanArguments {
    /// Name or id.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
    /// New plan.
    pub plan: PlanName,
    /// Own scheduling weight, more than 0, up to 1000. Default: unchanged.
    #[arg(long, value_parser = weight, conflicts_with = "plan_weight")]
    pub weight: Option<f64>,
    /// Use the plan's weight.
    #[arg(long)]
    pub plan_weight: bool,
}

/// Suspends or resumes.
pub async fn stand(
    arguments: &TenantArguments,
    standing: Standing,
    connection: &Connection,
) -> Result<(), Failure> {
    to_stand(connection, &arguments.tenant, standing).await
}

/// Deletes.
pub async fn delete(
    arguments: &TenantDeleteArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    to_stand(connection, &arguments.tenant, Standing::Deleted).await
}

/// Changes plan and weight.
pub async fn set_plan(
    arguments: &TenantSetPlanArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let id = id_of(connection, &arguments.tenant).await?;
    let weight = if arguments.plan_weight { Some(None) } else { arguments.weight.map(Some) };
    let changed = connection.client.change_tenant(id, Some(&arguments.plan), weight).await;
    print(&changed.map_err(|error| operator_failure(&error))?, connection.format)
}

async fn to_stand(
    connection: &Connection,
    tenant: &str,
    standing: Standing,
) -> Result<(), Failure> {
    let id = id_of(connection, tenant).await?;
    let stood = match standing {
        Standing::Suspended => connection.client.suspend_tenant(id).await,
        Standing::Active => connection.client.resume_tenant(id).await,
        Standing::Deleted => connection.client.delete_tenant(id).await,
    };
    print(&stood.map_err(|error| operator_failure(&error))?, connection.format)
}
