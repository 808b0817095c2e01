//! `berth admin tenant create`.

use super::database;
use crate::arguments::SettingsArguments;
use crate::failure::Failure;
use crate::output::{self, Format};
use domain::id::TenantId;
use runtime::config;
use serde_json::json;

/// What can be said about a new tenant.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin tenant create acme --weight 2")]
pub struct TenantCreateArguments {
    /// Its name; must be new.
    pub name: String,
    /// Its share where tenants compete: twice the weight, twice the share. More than 0, up to 1000.
    #[arg(long, default_value_t = 1.0, value_parser = weight)]
    pub weight: f64,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// Stores a tenant and prints its id.
pub async fn run(arguments: &TenantCreateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let (id, name) = (TenantId::fresh(), &arguments.name);
    let created = store::tenant::create(&db, id, name, arguments.weight).await;
    db.close().await;
    if !created.map_err(|error| database::failure(&error))? {
        return Err(Failure::failed(format!(
            "a tenant named `{name}` exists already; use it or take another name"
        )));
    }
    match format {
        Format::Json => {
            output::line(&json!({"id": id, "name": name, "weight": arguments.weight}).to_string())
        }
        Format::Table => output::line(&id.to_string()),
    }
}

fn weight(text: &str) -> Result<f64, String> {
    let weight: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if weight > 0.0 && weight <= 1000.0 {
        Ok(weight)
    } else {
        Err("expected more than 0, up to 1000".to_owned())
    }
}
