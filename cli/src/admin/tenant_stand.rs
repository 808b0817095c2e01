//! `berth admin tenant suspend`, `resume`, `delete` and `set-plan`: what is changed of a tenant.
//!
//! Each writes the tenant's row and prints it; the services read it within a second or two. What stays as it was is a success.

use super::database;
use super::operator::OperatorSettings;
use super::tenant_create::weight;
use super::tenant_show::{TenantArguments, id_of, print, unknown};
use crate::failure::{Exit, Failure};
use crate::output::Format;
use domain::id::{PlanName, TenantId};
use runtime::config;
use store::StoreError;
use store::audit::By;
use store::connect::AdminDb;
use store::tenant::{Changed, Stood, TenantChange};

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
    #[command(flatten)]
    settings: OperatorSettings,
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
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Suspends or resumes.
pub async fn stand(
    arguments: &TenantArguments,
    standing: Standing,
    format: Format,
) -> Result<(), Failure> {
    to_stand(&arguments.settings, &arguments.tenant, standing, format).await
}

/// Deletes.
pub async fn delete(arguments: &TenantDeleteArguments, format: Format) -> Result<(), Failure> {
    to_stand(&arguments.settings, &arguments.tenant, Standing::Deleted, format).await
}

/// Changes plan and weight.
pub async fn set_plan(arguments: &TenantSetPlanArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let id = id_of(&db, &arguments.tenant).await?;
    let weight = if arguments.plan_weight { Some(None) } else { arguments.weight.map(Some) };
    let change = TenantChange { plan: Some(arguments.plan.clone()), weight };
    let changed = store::tenant::change(&db, id, &change, arguments.settings.by()).await;
    match changed.map_err(|error| database::failure(&error))? {
        Changed::Yes => print(&db, id, format).await?,
        Changed::NotFound => return Err(unknown(&arguments.tenant)),
        Changed::NoSuchPlan => {
            let plan = &arguments.plan;
            let text = format!("no plan named `{plan}`; see `berth admin plan list`");
            return Err(Failure::new(Exit::NotFound, text));
        }
    }
    db.close().await;
    Ok(())
}

async fn to_stand(
    settings: &OperatorSettings,
    tenant: &str,
    standing: Standing,
    format: Format,
) -> Result<(), Failure> {
    let config = config::load(settings.config.as_deref())?;
    let db = database::open(&config)?;
    let id = id_of(&db, tenant).await?;
    match write(&db, id, standing, settings.by())
        .await
        .map_err(|error| database::failure(&error))?
    {
        Stood::Yes => print(&db, id, format).await?,
        Stood::Not(state) => {
            return Err(Failure::failed(format!("`{tenant}` is {state}, so this is not possible")));
        }
        Stood::NotFound => return Err(unknown(tenant)),
    }
    db.close().await;
    Ok(())
}

async fn write(
    db: &AdminDb,
    id: TenantId,
    standing: Standing,
    by: By,
) -> Result<Stood, StoreError> {
    match standing {
        Standing::Suspended => store::tenant::suspend(db, id, by).await,
        Standing::Active => store::tenant::resume(db, id, by).await,
        Standing::Deleted => store::tenant::delete(db, id, by).await,
    }
}
