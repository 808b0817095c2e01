//! `berth admin tenant create`.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format};
use domain::id::PlanName;
use domain::name::TenantName;

/// What can be said about a new tenant.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin tenant create acme --plan free")]
pub struct TenantCreateArguments {
    /// Name; must be new.
    pub name: TenantName,
    /// Plan.
    #[arg(long, default_value_t = PlanName::default())]
    pub plan: PlanName,
    /// Scheduling weight: twice the weight, twice the share. More than 0, up to 1000. Default: the plan's.
    #[arg(long, value_parser = weight)]
    pub weight: Option<f64>,
}

/// Stores a tenant and prints its id.
pub async fn run(
    arguments: &TenantCreateArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let TenantCreateArguments { name, plan, weight } = arguments;
    let made = connection.client.create_tenant(name.as_str(), plan, *weight).await;
    let made = made.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(made.json()),
        Format::Table => output::line(&made.id.to_string()),
    }
}

pub(super) fn weight(text: &str) -> Result<f64, String> {
    let weight: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if weight > 0.0 && weight <= 1000.0 {
        Ok(weight)
    } else {
        Err("expected more than 0, up to 1000".to_owned())
    }
}
