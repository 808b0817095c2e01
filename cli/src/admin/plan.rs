//! `berth admin plan list`, `create`, `set` and `delete`.

use super::plan_billing::BillingArguments;
use super::plan_limits::{LimitArguments, cells, heads};
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use client::Plan;
use domain::id::PlanName;
use domain::plan::{PlanLimits, PutPlan};

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
    billing: BillingArguments,
}

/// Which plan.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin plan delete team")]
pub struct PlanDeleteArguments {
    /// Name.
    pub name: PlanName,
}

/// Shows every plan.
pub async fn list(connection: &Connection) -> Result<(), Failure> {
    let plans = connection.client.plans().await.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(plans.json()),
        Format::Table => output::text(&table(&plans.data)),
    }
}

/// Creates a plan; refuses a name that is there.
pub async fn create(arguments: &PlanSetArguments, connection: &Connection) -> Result<(), Failure> {
    let name = &arguments.name;
    let limits = arguments.limits.over(&PlanLimits::default())?;
    let billing = arguments.billing.over(None)?;
    put(connection, name, PutPlan { limits, billing }, NEW).await?.ok_or_else(|| {
        Failure::failed(format!(
            "a plan named `{name}` already exists; change it with `berth admin plan set {name}`"
        ))
    })
}

/// Changes a plan, as it was when it was read.
pub async fn set(arguments: &PlanSetArguments, connection: &Connection) -> Result<(), Failure> {
    let name = &arguments.name;
    let plan = connection.client.plan(name).await.map_err(|error| operator_failure(&error))?;
    let limits = arguments.limits.over(&plan.limits)?;
    let billing = arguments.billing.over(plan.billing.as_ref())?;
    put(connection, name, PutPlan { limits, billing }, plan.version).await?.ok_or_else(|| {
        Failure::failed(format!(
            "the plan `{name}` was changed meanwhile, and this change was not made; repeat the command"
        ))
    })
}

/// Deletes a plan that nobody is on.
pub async fn delete(
    arguments: &PlanDeleteArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let name = &arguments.name;
    let deleted = connection.client.delete_plan(name, None).await;
    let deleted = deleted.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(deleted.json()),
        Format::Table => output::line(&format!("Plan `{name}` is deleted.")),
    }
}

/// The version of what does not exist.
const NEW: i64 = 0;

/// Stores a plan in the place of this version, and prints it. `None`: it has another version. A repeated request finds its own change:
/// what is stored as it should be is no failure.
async fn put(
    connection: &Connection,
    name: &PlanName,
    wanted: PutPlan,
    version: i64,
) -> Result<Option<()>, Failure> {
    if let Err(wrong) = wanted.limits.check() {
        let all: Vec<_> = wrong.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(all.join("; ")));
    }
    let client = &connection.client;
    let plan = match client.put_plan(name, &wanted, Some(version)).await {
        Err(error) if error.api().is_some_and(|problem| problem.status == 412) => {
            let stored = client.plan(name).await.map_err(|error| operator_failure(&error))?;
            let billing = wanted.billing.after(stored.billing.as_ref());
            if stored.limits != wanted.limits
                || stored.billing != billing
                || stored.version != version + 1
            {
                return Ok(None);
            }
            stored
        }
        plan => plan.map_err(|error| operator_failure(&error))?,
    };
    match connection.format {
        Format::Json => output::document(plan.json())?,
        Format::Table => output::text(&table(std::slice::from_ref(&*plan)))?,
    }
    Ok(Some(()))
}

fn table(plans: &[Plan]) -> String {
    let heads = heads();
    let mut table = Table::new(heads.each_ref().map(String::as_str));
    plans.iter().for_each(|plan| table.row(cells(&plan.name, &plan.limits, plan.billing.as_ref())));
    table.take()
}
