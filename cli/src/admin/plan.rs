//! `berth admin plan list`, `create`, `set` and `delete`.

use super::database;
use super::operator::OperatorSettings;
use super::pool::{on_or_off, switch};
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

const COLUMNS: [&str; 12] = [
    "NAME",
    "PER SECOND",
    "BURST",
    "PER HOUR",
    "RUNNING",
    "BACKLOG",
    "SCHEDULES",
    "PAYLOAD",
    "OUTPUT",
    "DAYS",
    "WEIGHT",
    "FLEXIBLE",
];

/// A plan and its limits. Omitted limits stay unchanged; in a new plan they are those of `default`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin plan create team --submits-per-second 100 --running-tasks 50 --backlog 100000"
)]
pub struct PlanSetArguments {
    /// Name: 1 to 63 of a-z, 0-9 and -.
    pub name: PlanName,
    /// Tasks submitted per second, refilled continuously.
    #[arg(long, value_name = "TASKS")]
    pub submits_per_second: Option<u32>,
    /// Burst of submitted tasks.
    #[arg(long, value_name = "TASKS")]
    pub submit_burst: Option<u32>,
    /// Tasks submitted per hour; 0: no limit.
    #[arg(long, value_name = "TASKS")]
    pub submits_per_hour: Option<u32>,
    /// Tasks queued, running or cancelling.
    #[arg(long, value_name = "TASKS")]
    pub running_tasks: Option<u32>,
    /// Unfinished tasks.
    #[arg(long, value_name = "TASKS")]
    pub backlog: Option<u32>,
    /// Schedules that are not finished.
    #[arg(long, value_name = "SCHEDULES")]
    pub schedules: Option<u32>,
    /// Largest body of one task.
    #[arg(long, value_name = "BYTES")]
    pub payload_bytes: Option<u32>,
    /// Stored output of one attempt.
    #[arg(long, value_name = "BYTES")]
    pub stored_output_bytes: Option<u64>,
    /// Days for which finished tasks are shown; at most limits.history_retention_days.
    #[arg(long, value_name = "DAYS")]
    pub retention_days: Option<u16>,
    /// Scheduling weight.
    #[arg(long)]
    pub weight: Option<f64>,
    /// Whether tasks are flexible by default: they run in spare room until their tolerance is nearly used up.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    pub flexible: Option<bool>,
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
        Format::Table => {
            let mut table = Table::new(COLUMNS);
            plans.iter().for_each(|plan| table.row(cells(plan)));
            output::text(&table.take())
        }
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
    put(&db, name, arguments.over(PlanLimits::default()), (arguments.settings.by(), format)).await
}

/// Changes a plan.
pub async fn set(arguments: &PlanSetArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let name = &arguments.name;
    let plan = found(&db, name).await?.ok_or_else(|| unknown(name))?;
    put(&db, name, arguments.over(plan.limits), (arguments.settings.by(), format)).await
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

impl PlanSetArguments {
    fn over(&self, limits: PlanLimits) -> PlanLimits {
        PlanLimits {
            submits_per_second: self.submits_per_second.unwrap_or(limits.submits_per_second),
            submit_burst: self.submit_burst.unwrap_or(limits.submit_burst),
            submits_per_hour: self.submits_per_hour.unwrap_or(limits.submits_per_hour),
            running_tasks: self.running_tasks.unwrap_or(limits.running_tasks),
            backlog: self.backlog.unwrap_or(limits.backlog),
            schedules: self.schedules.unwrap_or(limits.schedules),
            payload_bytes: self.payload_bytes.unwrap_or(limits.payload_bytes),
            stored_output_bytes: self.stored_output_bytes.unwrap_or(limits.stored_output_bytes),
            retention_days: self.retention_days.unwrap_or(limits.retention_days),
            weight: self.weight.unwrap_or(limits.weight),
            flexible: self.flexible.unwrap_or(limits.flexible),
        }
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
        Format::Table => {
            let mut table = Table::new(COLUMNS);
            table.row(cells(&plan));
            output::text(&table.take())
        }
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

fn cells(plan: &PlanRecord) -> [String; 12] {
    let limits = plan.limits;
    let hourly = match limits.submits_per_hour {
        0 => "-".to_owned(),
        tasks => tasks.to_string(),
    };
    [
        plan.name.to_string(),
        limits.submits_per_second.to_string(),
        limits.submit_burst.to_string(),
        hourly,
        limits.running_tasks.to_string(),
        limits.backlog.to_string(),
        limits.schedules.to_string(),
        limits.payload_bytes.to_string(),
        limits.stored_output_bytes.to_string(),
        limits.retention_days.to_string(),
        limits.weight.to_string(),
        on_or_off(limits.flexible).to_owned(),
    ]
}
