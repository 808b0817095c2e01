//! `berth admin tenant list` and `berth admin tenant show`.

use super::database;
use super::operator::OperatorSettings;
use crate::failure::{Exit, Failure};
use crate::output::{self, Details, Format, Table};
use crate::settings_arguments::SettingsArguments;
use domain::id::TenantId;
use domain::tenant::TenantState;
use domain::time::Timestamp;
use runtime::config;
use serde_json::{Value, json};
use store::connect::AdminDb;
use store::tenant::TenantRecord;

/// Rows read at a time.
const PAGE: u32 = 500;
const COLUMNS: [&str; 6] = ["ID", "NAME", "PLAN", "WEIGHT", "STATE", "CREATED"];

/// Which tenants.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin tenant list --state suspended")]
pub struct TenantListArguments {
    /// Only tenants in this state: active, suspended or deleted.
    #[arg(long)]
    pub state: Option<TenantState>,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// Which tenant.
#[derive(Debug, clap::Args)]
pub struct TenantArguments {
    /// Name or id.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
    #[command(flatten)]
    pub(super) settings: OperatorSettings,
}

/// Shows tenants, newest first, page by page.
pub async fn list(arguments: &TenantListArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let mut table = Table::new(COLUMNS);
    let mut before = None;
    loop {
        let found = store::tenant::list(&db, arguments.state, before, PAGE).await;
        let found = found.map_err(|error| database::failure(&error))?;
        let is_last = found.len() < PAGE as usize;
        before = found.last().map(|tenant| tenant.id);
        match format {
            Format::Json => {
                for tenant in &found {
                    output::line(&document(tenant).to_string())?;
                }
            }
            Format::Table => {
                found.iter().for_each(|tenant| table.row(cells(tenant)));
                output::text(&table.take())?;
            }
        }
        if is_last {
            db.close().await;
            return Ok(());
        }
    }
}

/// Shows one tenant.
pub async fn show(arguments: &TenantArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let id = id_of(&db, &arguments.tenant).await?;
    let shown = print(&db, id, format).await;
    db.close().await;
    shown
}

/// Prints a tenant as it is now.
pub(super) async fn print(db: &AdminDb, id: TenantId, format: Format) -> Result<(), Failure> {
    let found = store::tenant::get(db, id).await.map_err(|error| database::failure(&error))?;
    let tenant = found.ok_or_else(|| unknown(&id.to_string()))?;
    match format {
        Format::Json => output::line(&document(&tenant).to_string()),
        Format::Table => output::text(&details(&tenant).to_string()),
    }
}

/// The tenant that is meant by an id or a name. What reads as an id is one, whatever tenants are called.
pub(super) async fn id_of(db: &AdminDb, text: &str) -> Result<TenantId, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let by_name = store::tenant::find_by_name(db, text).await;
    by_name.map_err(|error| database::failure(&error))?.ok_or_else(|| unknown(text))
}

pub(super) fn unknown(text: &str) -> Failure {
    let text = format!("no tenant `{text}`; see `berth admin tenant list`");
    Failure::new(Exit::NotFound, text)
}

fn document(tenant: &TenantRecord) -> Value {
    json!({
        "id": tenant.id, "name": tenant.name, "plan": tenant.plan, "weight": tenant.weight,
        "state": tenant.state.as_str(), "created_at": time(tenant.created_at),
        "suspended_at": tenant.suspended_at.map(time), "deleted_at": tenant.deleted_at.map(time),
        "purged_at": tenant.purged_at.map(time),
    })
}

fn cells(tenant: &TenantRecord) -> [String; 6] {
    [
        tenant.id.to_string(),
        tenant.name.clone().unwrap_or_else(|| "-".to_owned()),
        tenant.plan.to_string(),
        weight(tenant),
        standing(tenant).to_owned(),
        time(tenant.created_at),
    ]
}

fn details(tenant: &TenantRecord) -> Details {
    let mut details = Details::default();
    details.row("id", tenant.id);
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

fn weight(tenant: &TenantRecord) -> String {
    tenant.weight.map_or_else(|| "of plan".to_owned(), |weight| weight.to_string())
}

fn standing(tenant: &TenantRecord) -> &'static str {
    if tenant.purged_at.is_some() { "purged" } else { tenant.state.as_str() }
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
        let tenant = TenantRecord {
            id: TenantId::fresh(),
            name: None,
            plan: "default".parse().unwrap(),
            weight: None,
            state: TenantState::Deleted,
            created_at: at,
            suspended_at: None,
            deleted_at: Some(at),
            purged_at: Some(at),
        };
        let cells = cells(&tenant);
        assert_eq!(cells[1..5], ["-", "default", "of plan", "purged"]);
        assert_eq!(document(&tenant)["deleted_at"], "1970-01-01T00:00:00Z");
        assert!(!details(&tenant).to_string().contains("name"));
    }
}
