//! `berth admin pool list`, `set`, `pause` and `resume`.

use super::database;
use super::operator::OperatorSettings;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table, age};
use crate::settings_arguments::SettingsArguments;
use domain::id::{PlanName, PoolName, TenantId};
use domain::pool::{MaxExecutor, PoolGrants, PoolSettings};
use domain::resources::{Dimension, Resources};
use runtime::{clock, config};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::StoreError;
use store::connect::AdminDb;
use store::pool::{PoolChange, PoolRecord, PoolStored};

const COLUMNS: [&str; 6] =
    ["NAME", "COMMAND NETWORK", "PRIVATE TARGETS", "MAX EXECUTOR", "GRANTED TO", "PAUSED"];

/// A pool, its permissions and its grants. Omitted values stay unchanged. A new pool allows nothing and is granted to no tenant.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth admin pool set crawlers --command-network on --grant-tenant acme\n  berth admin pool set gpu --grant-plan team --revoke-tenant acme\n  berth admin pool set gpu --max-executor cpu_millis=64000 --max-executor ports=none\n\nExecutors get changes at their next connection. Grants and revocations take effect within two seconds."
)]
pub struct PoolSetArguments {
    /// Name; a new one creates a pool.
    pub name: PoolName,
    /// Whether commands can use the network.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    pub command_network: Option<bool>,
    /// Whether HTTP tasks can call private, loopback and link-local addresses.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    pub private_targets: Option<bool>,
    /// Largest capacity of one executor in `cpu_millis`, `memory_mib`, `disk_mib`, `iops` or `ports`; repeatable.
    #[arg(long, value_name = "DIMENSION=N|none", value_parser = limit)]
    pub max_executor: Vec<(Dimension, Option<u32>)>,
    /// Grant to every tenant.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    pub everyone: Option<bool>,
    /// Grant to the tenants of this plan; repeatable.
    #[arg(long, value_name = "PLAN")]
    pub grant_plan: Vec<PlanName>,
    /// Grant to this tenant; repeatable.
    #[arg(long, value_name = "NAME|ID")]
    pub grant_tenant: Vec<String>,
    /// Revoke the grant to this plan; repeatable.
    #[arg(long, value_name = "PLAN")]
    pub revoke_plan: Vec<PlanName>,
    /// Revoke the grant to this tenant; repeatable.
    #[arg(long, value_name = "NAME|ID")]
    pub revoke_tenant: Vec<String>,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Which pool, and why.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin pool pause default --because 'a new kernel on all machines'"
)]
pub struct PoolPauseArguments {
    /// Name.
    pub name: PoolName,
    /// Reason, shown to people: 1 to 500 characters.
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub because: String,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Which pool.
#[derive(Debug, clap::Args)]
pub struct PoolArguments {
    /// Name.
    pub name: PoolName,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Shows every pool.
pub async fn list(settings: &SettingsArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(settings.config.as_deref())?;
    let db = database::open(&config)?;
    let pools = store::pool::list_for_operator(&db).await;
    db.close().await;
    show(&pools.map_err(|error| database::failure(&error))?, format)
}

/// Stores a pool and prints what holds now.
pub async fn set(arguments: &PoolSetArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let set = change(&db, arguments).await;
    db.close().await;
    match set? {
        PoolStored::Created(pool) | PoolStored::Updated(pool) | PoolStored::Unchanged(pool) => {
            show(&[pool], format)
        }
        PoolStored::Unknown { plans, tenants } => {
            let plans = plans.iter().map(|plan| format!("no plan named `{plan}`"));
            let tenants = tenants.iter().map(|id| format!("no tenant `{id}`"));
            let all: Vec<_> = plans.chain(tenants).collect();
            Err(Failure::new(Exit::NotFound, all.join("; ")))
        }
        // No version was asked for.
        PoolStored::VersionMismatch { .. } => {
            Err(Failure::failed("the pool was changed concurrently; try again"))
        }
    }
}

async fn change(db: &AdminDb, arguments: &PoolSetArguments) -> Result<PoolStored, Failure> {
    let grants = async |plans: &[PlanName], tenants: &[String]| -> Result<PoolGrants, Failure> {
        let mut grants =
            PoolGrants { plans: plans.iter().cloned().collect(), ..PoolGrants::default() };
        for tenant in tenants {
            grants.tenants.insert(named_or_id(db, tenant).await?);
        }
        Ok(grants)
    };
    let change = PoolChange {
        command_network: arguments.command_network,
        private_targets: arguments.private_targets,
        max_executor: arguments.max_executor.iter().copied().collect(),
        everyone: arguments.everyone,
        grant: grants(&arguments.grant_plan, &arguments.grant_tenant).await?,
        revoke: grants(&arguments.revoke_plan, &arguments.revoke_tenant).await?,
    };
    let set = store::pool::set(db, &arguments.name, change, arguments.settings.by()).await;
    set.map_err(|error| database::failure(&error))
}

/// The tenant of this name, or with this id.
async fn named_or_id(db: &AdminDb, text: &str) -> Result<TenantId, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let found = store::tenant::find_by_name(db, text).await;
    let found = found.map_err(|error| database::failure(&error))?;
    found.ok_or_else(|| {
        let text = format!("no tenant named `{text}`; see `berth admin tenant list`");
        Failure::new(Exit::NotFound, text)
    })
}

/// Pauses a pool and prints how it stands.
pub async fn pause(arguments: &PoolPauseArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let name = &arguments.name;
    let paused = store::pool::pause(&db, name, &arguments.because, arguments.settings.by()).await;
    db.close().await;
    stands(name, paused, format)
}

/// Resumes a pool and prints how it stands.
pub async fn resume(arguments: &PoolArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let resumed = store::pool::resume(&db, &arguments.name, arguments.settings.by()).await;
    db.close().await;
    stands(&arguments.name, resumed, format)
}

fn stands(
    name: &PoolName,
    pool: Result<Option<PoolRecord>, StoreError>,
    format: Format,
) -> Result<(), Failure> {
    let pool = pool.map_err(|error| database::failure(&error))?;
    let unknown = || {
        let text = format!("no pool named `{name}`; see `berth admin pool list`");
        Failure::new(Exit::NotFound, text)
    };
    show(&[pool.ok_or_else(unknown)?], format)
}

fn show(pools: &[PoolRecord], format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => pools.iter().try_for_each(|pool| output::line(&document(pool).to_string())),
        Format::Table => {
            let mut table = Table::new(COLUMNS);
            pools.iter().for_each(|pool| table.row(cells(pool)));
            output::text(&table.take())
        }
    }
}

fn document(pool: &PoolRecord) -> Value {
    let PoolSettings { policy, max_executor, grants } = &pool.settings;
    let limits = Dimension::ALL.into_iter().zip(max_executor.dimensions());
    json!({"name": pool.name, "command_network": policy.command_network, "private_targets": policy.private_targets,
        "max_executor": limits.map(|(dimension, most)| (dimension.as_str(), most)).collect::<BTreeMap<_, _>>(),
        "version": pool.version, "granted_to": {
            "everyone": grants.everyone, "plans": grants.plans, "tenants": grants.tenants}, "paused_at": pool.pause.as_ref().map(|pause| pause.at),
        "paused_because": pool.pause.as_ref().map(|pause| &pause.because)})
}

fn cells(pool: &PoolRecord) -> [String; 6] {
    let PoolSettings { policy, max_executor, grants } = &pool.settings;
    let paused = pool
        .pause
        .as_ref()
        .map(|pause| format!("{}: {}", age::ago(pause.at, clock::wall()), pause.because));
    [
        pool.name.to_string(),
        on_or_off(policy.command_network).to_owned(),
        on_or_off(policy.private_targets).to_owned(),
        limits(*max_executor),
        granted_to(grants),
        paused.unwrap_or_default(),
    ]
}

/// In a line.
fn limits(max_executor: MaxExecutor) -> String {
    let limits = Dimension::ALL.into_iter().zip(max_executor.dimensions());
    let set = limits.filter_map(|(of, most)| most.map(|most| format!("{}={most}", of.as_str())));
    let set: Vec<_> = set.collect();
    if set.is_empty() { "no limit".to_owned() } else { set.join(", ") }
}

/// In a line: of many tenants only how many.
fn granted_to(grants: &PoolGrants) -> String {
    if grants.everyone {
        return "everyone".to_owned();
    }
    let plans = grants.plans.iter().map(|plan| format!("plan {plan}"));
    let tenants = match grants.tenants.len() {
        0 => None,
        1..=2 => {
            let ids: Vec<_> = grants.tenants.iter().map(ToString::to_string).collect();
            Some(ids.join(", "))
        }
        many => Some(format!("{many} tenants")),
    };
    let all: Vec<_> = plans.chain(tenants).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

fn limit(text: &str) -> Result<(Dimension, Option<u32>), String> {
    let (name, most) = text.split_once('=').ok_or("expected DIMENSION=N or DIMENSION=none")?;
    let dimension = Dimension::ALL.into_iter().find(|dimension| dimension.as_str() == name);
    let dimension =
        dimension.ok_or_else(|| format!("expected one of {}", Resources::DIMENSIONS.join(", ")))?;
    let number = || most.parse().ok().filter(|most| *most <= MaxExecutor::MOST);
    match most {
        "none" => Ok((dimension, None)),
        _ => number()
            .map(|most| (dimension, Some(most)))
            .ok_or_else(|| format!("expected 0 to {} or none after `{name}=`", MaxExecutor::MOST)),
    }
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

pub(super) const fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn reason(text: &str) -> Result<String, String> {
    match text.chars().count() {
        1..=500 => Ok(text.to_owned()),
        _ => Err("expected 1 to 500 characters".to_owned()),
    }
}
