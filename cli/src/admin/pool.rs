//! `berth admin pool list`, `set`, `pause`, `resume` and `delete`.

use super::tenant_show::id_of;
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::request::PoolPut;
use client::{ApiResponse, ClientError, ErrorCode, MaxExecutor, Pool, PoolGrants};
use domain::id::{PlanName, PoolName, TenantId};
use domain::resources::{Dimension, Resources};
use runtime::clock;
use std::collections::BTreeSet;

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
}

/// Which pool.
#[derive(Debug, clap::Args)]
pub struct PoolArguments {
    /// Name.
    pub name: PoolName,
}

/// How often a change is tried again that another change came before.
const TRIES: u32 = 5;

/// Shows every pool.
pub async fn list(connection: &Connection) -> Result<(), Failure> {
    let pools = connection.client.pools().await.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(pools.json()),
        Format::Table => {
            let mut table = Table::new(COLUMNS);
            pools.data.iter().for_each(|pool| table.row(cells(pool)));
            output::text(&table.take())
        }
    }
}

/// Stores a pool and prints what holds now. What is not named stays as it is, also if another changes it meanwhile.
pub async fn set(arguments: &PoolSetArguments, connection: &Connection) -> Result<(), Failure> {
    let change = Change {
        arguments,
        grant: ids_of(connection, &arguments.grant_tenant).await?,
        revoke: ids_of(connection, &arguments.revoke_tenant).await?,
    };
    let mut tried = 1;
    loop {
        match change.put(connection).await {
            Err(error) if tried < TRIES && error.api().is_some_and(|p| p.status == 412) => {
                tried += 1;
            }
            pool => return show(pool, connection.format),
        }
    }
}

/// What is to be changed of a pool.
struct Change<'a> {
    arguments: &'a PoolSetArguments,
    grant: BTreeSet<TenantId>,
    revoke: BTreeSet<TenantId>,
}

impl Change<'_> {
    async fn put(&self, connection: &Connection) -> Result<ApiResponse<Pool>, ClientError> {
        let (name, client) = (&self.arguments.name, &connection.client);
        let (settings, version) = match client.pool(name).await {
            Ok(pool) => (PoolPut::from(&*pool), pool.version),
            Err(error) if error.api().is_some_and(|p| p.is(ErrorCode::NotFound)) => {
                (PoolPut::default(), 0)
            }
            Err(error) => return Err(error),
        };
        client.put_pool(name, &self.over(settings), Some(version)).await
    }

    fn over(&self, mut settings: PoolPut) -> PoolPut {
        let wanted = self.arguments;
        settings.command_network = wanted.command_network.unwrap_or(settings.command_network);
        settings.private_targets = wanted.private_targets.unwrap_or(settings.private_targets);
        let mut limits = domain::pool::MaxExecutor::from(settings.max_executor);
        for (dimension, most) in &wanted.max_executor {
            *limits.of_mut(*dimension) = *most;
        }
        settings.max_executor = limits.into();
        let grants = &mut settings.granted_to;
        grants.everyone = wanted.everyone.unwrap_or(grants.everyone);
        let plans: BTreeSet<_> = grants.plans.drain(..).chain(wanted.grant_plan.clone()).collect();
        let plans = plans.into_iter().filter(|plan| !wanted.revoke_plan.contains(plan));
        grants.plans = plans.collect();
        let tenants: BTreeSet<_> = grants.tenants.drain(..).chain(self.grant.clone()).collect();
        grants.tenants = tenants.difference(&self.revoke).copied().collect();
        settings
    }
}

async fn ids_of(connection: &Connection, named: &[String]) -> Result<BTreeSet<TenantId>, Failure> {
    let mut ids = BTreeSet::new();
    for tenant in named {
        ids.insert(id_of(connection, tenant).await?);
    }
    Ok(ids)
}

/// Pauses a pool and prints how it stands.
pub async fn pause(arguments: &PoolPauseArguments, connection: &Connection) -> Result<(), Failure> {
    let paused = connection.client.pause_pool(&arguments.name, &arguments.because).await;
    show(paused, connection.format)
}

/// Resumes a pool and prints how it stands.
pub async fn resume(arguments: &PoolArguments, connection: &Connection) -> Result<(), Failure> {
    show(connection.client.resume_pool(&arguments.name).await, connection.format)
}

/// Deletes a pool that nothing is in.
pub async fn delete(arguments: &PoolArguments, connection: &Connection) -> Result<(), Failure> {
    let name = &arguments.name;
    let deleted = connection.client.delete_pool(name, None).await;
    let deleted = deleted.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(deleted.json()),
        Format::Table => output::line(&format!("Pool `{name}` is deleted.")),
    }
}

fn show(pool: Result<ApiResponse<Pool>, ClientError>, format: Format) -> Result<(), Failure> {
    let pool = pool.map_err(|error| operator_failure(&error))?;
    match format {
        Format::Json => output::document(pool.json()),
        Format::Table => {
            let mut table = Table::new(COLUMNS);
            table.row(cells(&pool));
            output::text(&table.take())
        }
    }
}

fn cells(pool: &Pool) -> [String; 6] {
    let paused = pool
        .paused
        .as_ref()
        .map(|pause| format!("{}: {}", age::ago(pause.at, clock::wall()), pause.reason));
    [
        pool.name.to_string(),
        on_or_off(pool.command_network).to_owned(),
        on_or_off(pool.private_targets).to_owned(),
        limits(pool.max_executor),
        granted_to(&pool.granted_to),
        paused.unwrap_or_default(),
    ]
}

/// In a line.
fn limits(max_executor: MaxExecutor) -> String {
    let limits = domain::pool::MaxExecutor::from(max_executor).dimensions();
    let set = Dimension::ALL.into_iter().zip(limits);
    let set = set.filter_map(|(of, most)| most.map(|most| format!("{}={most}", of.as_str())));
    let set: Vec<_> = set.collect();
    if set.is_empty() { "no limit".to_owned() } else { set.join(", ") }
}

/// In a line: of tenants only how many; `--output json` has their ids.
fn granted_to(grants: &PoolGrants) -> String {
    if grants.everyone {
        return "everyone".to_owned();
    }
    let plans = grants.plans.iter().map(|plan| format!("plan {plan}"));
    let tenants = match grants.tenants.len() {
        0 => None,
        1 => Some("1 tenant".to_owned()),
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
    let number = || most.parse().ok().filter(|most| *most <= domain::pool::MaxExecutor::MOST);
    match most {
        "none" => Ok((dimension, None)),
        _ => number().map(|most| (dimension, Some(most))).ok_or_else(|| {
            format!("expected 0 to {} or none after `{name}=`", domain::pool::MaxExecutor::MOST)
        }),
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
