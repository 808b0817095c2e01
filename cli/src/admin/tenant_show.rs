//! `berth admin tenant list` and `berth admin tenant show`.

use crate::customer::{Connection, operator_failure};
use crate::failure::{Exit, Failure};
use crate::output::{self, Details, Format, Table};
use client::{ApiResponse, PageRequest, Tenant, TenantFilter};
use domain::id::TenantId;
use domain::tenant::TenantState;
use domain::time::Timestamp;

const COLUMNS: [&str; 6] = ["ID", "NAME", "PLAN", "WEIGHT", "STATE", "CREATED"];

/// Which tenants.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin tenant list --state suspended")]
pub struct TenantListArguments {
    /// Only tenants in this state: active, suspended or deleted.
    #[arg(long)]
    pub state: Option<TenantState>,
}

/// Which tenant.
#[derive(Debug, clap::Args)]
pub struct TenantArguments {
    /// Name or id.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
}

/// Shows tenants, newest first, page by page.
pub async fn list(arguments: &TenantListArguments, connection: &Connection) -> Result<(), Failure> {
    let filter = TenantFilter { state: arguments.state, name: None };
    let mut table = Table::new(COLUMNS);
    let mut request = Some(PageRequest { limit: Some(200), cursor: None });
    while let Some(page) = request {
        let tenants = connection.client.tenants(&filter, &page).await;
        let tenants = tenants.map_err(|error| operator_failure(&error))?;
        match connection.format {
            Format::Json => output::document(tenants.json())?,
            Format::Table => {
                tenants.data.iter().for_each(|tenant| table.row(cells(tenant)));
                output::text(&table.take())?;
            }
        }
        request = tenants.next(&page);
    }
    Ok(())
}

/// Shows one tenant.
pub async fn show(arguments: &TenantArguments, connection: &Connection) -> Result<(), Failure> {
    let id = id_of(connection, &arguments.tenant).await?;
    let tenant = connection.client.tenant(id).await.map_err(|error| operator_failure(&error))?;
    print(&tenant, connection.format)
}

/// Prints a tenant.
pub(super) fn print(tenant: &ApiResponse<Tenant>, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(tenant.json()),
        Format::Table => output::text(&details(tenant).to_string()),
    }
}

/// The tenant that is meant by an id or a name. What reads as an id is one, whatever tenants are called.
pub(super) async fn id_of(connection: &Connection, text: &str) -> Result<TenantId, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let filter = TenantFilter { state: None, name: Some(text.to_owned()) };
    let found = connection.client.tenants(&filter, &PageRequest::default()).await;
    let found = found.map_err(|error| operator_failure(&error))?;
    found.data.first().map(|tenant| tenant.id).ok_or_else(|| {
        let text = format!("no tenant `{text}`; see `berth admin tenant list`");
        Failure::new(Exit::NotFound, text)
    })
}

fn cells(tenant: &Tenant) -> [String; 6] {
    [
        tenant.id.to_string(),
        tenant.name.clone().unwrap_or_else(|| "-".to_owned()),
        tenant.plan.to_string(),
        weight(tenant),
        standing(tenant),
        time(tenant.created_at),
    ]
}

fn details(tenant: &Tenant) -> Details {
    let mut details = Details::default();
    details.row("id", tenant.id);
    details.row("version", tenant.version);
    details.some("name", tenant.name.as_ref());
    details.row("plan", &tenant.plan);
    details.row("weight", weight(tenant));
    details.row("standing", standing(tenant));
    details.row("created", time(tenant.created_at));
    details.some("suspended", tenant.suspended_at.map(time));
    details.some("deleted", tenant.deleted_at.map(time));
    details.some("purged", tenant.purged_at.map(time));
    details
}

fn weight(tenant: &Tenant) -> String {
    tenant.weight.map_or_else(|| "of plan".to_owned(), |weight| weight.to_string())
}

fn standing(tenant: &Tenant) -> String {
    if tenant.purged_at.is_some() { "purged".to_owned() } else { tenant.state.to_string() }
}

fn time(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purged_tenant_has_no_name_and_says_so() {
        let at = Timestamp::UNIX_EPOCH;
        let tenant = Tenant {
            id: TenantId::fresh(),
            version: 4,
            name: None,
            plan: "default".parse().unwrap(),
            weight: None,
            state: TenantState::Deleted.into(),
            created_at: at,
            suspended_at: None,
            deleted_at: Some(at),
            purged_at: Some(at),
        };
        let cells = cells(&tenant);
        assert_eq!(cells[1..5], ["-", "default", "of plan", "purged"]);
        assert!(!details(&tenant).to_string().contains("name"));
    }
}
