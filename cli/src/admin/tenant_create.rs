//! `berth admin tenant create`.

use super::database;
use super::operator::OperatorSettings;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format};
use domain::id::{PlanName, TenantId};
use domain::name::TenantName;
use runtime::config;
use serde_json::json;
use store::tenant::{Created, NewTenant};

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
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Stores a tenant and prints its id.
pub async fn run(arguments: &TenantCreateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let (name, plan) = (arguments.name.clone(), arguments.plan.clone());
    let new = NewTenant { id: TenantId::fresh(), name, plan, weight: arguments.weight };
    let created = store::tenant::create(&db, &new, arguments.settings.by()).await;
    db.close().await;
    let NewTenant { id, name, plan, weight } = &new;
    match created.map_err(|error| database::failure(&error))? {
        Created::Yes => {}
        Created::NameTaken => {
            return Err(Failure::failed(format!(
                "a tenant with the name `{name}` or a similar one already exists; choose another name"
            )));
        }
        Created::NoSuchPlan => {
            return Err(Failure::new(
                Exit::NotFound,
                format!("no plan named `{plan}`; see `berth admin plan list`"),
            ));
        }
    }
    match format {
        Format::Json => output::line(
            &json!({"id": id, "name": name.as_str(), "plan": plan, "weight": weight}).to_string(),
        ),
        Format::Table => output::line(&id.to_string()),
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
