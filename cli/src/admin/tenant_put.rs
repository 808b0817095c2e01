//! `berth admin tenant put`: a tenant under its name, all of it. For scripts: the same again changes nothing.

use super::tenant_create::weight;
use super::tenant_show::print;
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use client::request::TenantPut;
use domain::id::PlanName;
use domain::tenant::TenantState;

/// A tenant, new or as it is to be from now on. What is omitted gets its default.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin tenant put acme --plan team --weight 2")]
pub struct TenantPutArguments {
    /// Name; or the id of a tenant that exists.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
    /// Plan.
    #[arg(long, default_value_t = PlanName::default())]
    pub plan: PlanName,
    /// Scheduling weight, more than 0, up to 1000. Default: the plan's.
    #[arg(long, value_parser = weight)]
    pub weight: Option<f64>,
    /// Suspended: no submits and no new starts.
    #[arg(long)]
    pub suspended: bool,
    /// Only if the tenant has this version; 0: only if it is new.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(0..))]
    pub if_version: Option<i64>,
}

/// Stores a tenant and prints it.
pub async fn run(arguments: &TenantPutArguments, connection: &Connection) -> Result<(), Failure> {
    let TenantPutArguments { tenant, plan, weight, suspended, if_version } = arguments;
    let state = if *suspended { TenantState::Suspended } else { TenantState::Active };
    let put = TenantPut { plan: plan.clone(), weight: *weight, state: Some(state) };
    let stored = connection.client.put_tenant(tenant, &put, *if_version).await;
    print(&stored.map_err(|error| operator_failure(&error))?, connection.format)
}
