//! `berth admin plan list`, `create`, `set` and `delete`.

use super::database;
use super::operator::OperatorSettings;
use super::plan_limits::{LimitArguments, cells, heads};
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table};
use crate::settings_arguments::SettingsArguments;
use domain::id::PlanName;
use domain::plan::PlanLimits;
use runtime::config;
use serde_json::{Value, json};
use store::audit::By;
use store::connect::AdminDb;
use store::plan::{Deleted, PlanRecord};

/// A plan and its limits. Omitted limits stay unchanged; in a new plan they are those of `default`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin plan create team --submits-per-second 100 --running-tasks 50 --backlog 100000"
)]
pub struct PlanSetArguments {
    /// Name: 1 to 63 of a-z, 0-9 and -.
    pub name: PlanName,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Which plan.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin plan delete team")]
pub struct PlanDeleteArguments {
    /// Name.
    pub name: PlanName,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Shows every plan.
pub async fn list(settings: &SettingsArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(settings.config.as_deref())?;
    let db = database::open(&config)?;
    let plans = store::plan::list(&db).await;
    db.close().await;
    let plans = plans.map_err(|error| database::failure(&error))?;
    match format {
        Format::Json => plans.iter().try_for_each(|plan| output::line(&document(plan).to_string())),
        Format::Table => output::text(&table(&plans)),
    }
}

/// Creates a plan; refuses a name that is there.
pub async fn create(arguments: &PlanSetArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let name = &arguments.name;
    if found(&db, name).await?.is_some() {
        return Err(Failure::failed(format!(
            "a plan named `{name}` already exists; change it with `berth admin plan set {name}`"
        )));
    }
    put(
        &db,
        name,
        arguments.limits.over(&PlanLimits::default())?,
        (arguments.settings.by(), format),
    )
    .await
}

/// Changes a plan.
pub async fn set(arguments: &PlanSetArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let name = &arguments.name;
    let plan = found(&db, name).await?.ok_or_else(|| unknown(name))?;
    put(&db, name, arguments.limits.over(&plan.limits)?, (arguments.settings.by(), format)).await
}

/// Deletes a plan that nobody is on.
pub async fn delete(arguments: &PlanDeleteArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let name = &arguments.name;
    let deleted = store::plan::delete(&db, name, arguments.settings.by()).await;
    db.close().await;
    match deleted.map_err(|error| database::failure(&error))? {
        Deleted::Yes => match format {
            Format::Json => output::line(&json!({"name": name, "deleted": true}).to_string()),
            Format::Table => output::line(&format!("Plan `{name}` is deleted.")),
        },
        Deleted::InUse => Err(Failure::failed(format!(
            "the plan `{name}` is in use; move its tenants with `berth admin tenant set-plan` first"
        ))),
        Deleted::NotFound => Err(unknown(name)),
    }
}

async fn found(db: &AdminDb, name: &PlanName) -> Result<Option<PlanRecord>, Failure> {
    store::plan::find(db, name).await.map_err(|error| database::failure(&error))
}

async fn put(
    db: &AdminDb,
    name: &PlanName,
    limits: PlanLimits,
    (by, format): (By, Format),
) -> Result<(), Failure> {
    limits.check().map_err(|wrong| {
        let all: Vec<_> = wrong.iter().map(ToString::to_string).collect();
        Failure::usage(all.join("; "))
    })?;
    store::plan::put(db, name, &limits, by).await.map_err(|error| database::failure(&error))?;
    let plan = found(db, name).await?.ok_or_else(|| unknown(name))?;
    db.close().await;
    match format {
        Format::Json => output::line(&document(&plan).to_string()),
        Format::Table => output::text(&table(&[plan])),
    }
}

fn unknown(name: &PlanName) -> Failure {
    let text = format!("no plan named `{name}`; see `berth admin plan list`");
    Failure::new(Exit::NotFound, text)
}

fn document(plan: &PlanRecord) -> Value {
    let mut document = serde_json::to_value(plan.limits).unwrap_or_default();
    document["name"] = json!(plan.name);
    document["created_at"] = json!(plan.created_at);
    document["updated_at"] = json!(plan.updated_at);
    document
}

fn table(plans: &[PlanRecord]) -> String {
    let heads = heads();
    let mut table = Table::new(heads.each_ref().map(String::as_str));
    plans.iter().for_each(|plan| table.row(cells(&plan.name, &plan.limits)));
    table.take()
}
