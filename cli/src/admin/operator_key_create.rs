//! `berth admin operator-key create`: by HTTP, and the first one on the database.
//!
//! As for a tenant's key: the text goes to standard output, alone, and nowhere else.

use super::database;
use super::operator::OperatorSettings;
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::lifetime::lifetime;
use crate::output::{self, Format};
use chrono::TimeDelta;
use domain::access::OperatorScope;
use local::operator_key;
use runtime::config::{self, ExposeSecret};
use serde_json::json;

/// What can be said about a new operator's key.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth admin operator-key create --name ann --scope read --scope admin --expires-in 90d\n  \
                  berth admin operator-key create --first --name root --scope read --scope admin --config /etc/berth.toml"
)]
pub struct OperatorKeyCreateArguments {
    /// Name of the operator in the audit log. Must be new.
    #[arg(long)]
    pub name: String,
    /// Scope: read, admin or report; repeatable. No scope includes another. Over HTTP you can only grant your own, and report with admin.
    #[arg(long = "scope", required = true, value_name = "SCOPE")]
    pub scopes: Vec<OperatorScope>,
    /// Lifetime, such as 90d or 12h. Default: no expiry.
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub expires_in: Option<TimeDelta>,
    /// Create it on the database, with its settings: while there is no key to ask the server with.
    #[arg(long)]
    pub first: bool,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Makes a key and prints it once. `connect` is asked for a connection where one is needed.
pub async fn run(
    arguments: &OperatorKeyCreateArguments,
    connect: impl FnOnce() -> Result<Connection, Failure>,
    format: Format,
) -> Result<(), Failure> {
    if arguments.first {
        return first(arguments, format).await;
    }
    let connection = connect()?;
    let life = arguments.expires_in.and_then(|life| life.to_std().ok());
    let (name, scopes) = (&arguments.name, &arguments.scopes);
    let made = connection.client.create_operator_key(name, scopes, life).await;
    let made = made.map_err(|error| operator_failure(&error))?;
    match format {
        Format::Json => output::document(made.json()),
        Format::Table => show(&made.info.name, &made.info.scopes, made.key.expose()),
    }
}

/// Prints a new key: its text alone on standard output.
pub(super) fn show(name: &str, scopes: &[impl ToString], key: &str) -> Result<(), Failure> {
    let scopes: Vec<_> = scopes.iter().map(ToString::to_string).collect();
    output::remark(&format!(
        "Operator key `{name}` ({}). Store it now: it cannot be shown again:",
        scopes.join(", ")
    ));
    output::line(key)
}

async fn first(arguments: &OperatorKeyCreateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let (name, mut scopes) = (&arguments.name, arguments.scopes.clone());
    scopes.sort_unstable();
    scopes.dedup();
    let db = database::open(&config)?;
    let wanted = (name.as_str(), scopes.as_slice(), arguments.expires_in);
    let made = operator_key::make(&db, &config, wanted, arguments.settings.by()).await;
    db.close().await;
    let (info, text) = made?.ok_or_else(|| {
        Failure::failed(format!(
            "an operator key named `{name}` already exists; choose another name"
        ))
    })?;
    match format {
        Format::Json => output::line(
            &json!({"id": info.id, "key": text.expose_secret(), "name": info.name, "scopes": info.scopes,
                "created_at": info.created_at, "expires_at": info.expires_at})
            .to_string(),
        ),
        Format::Table => show(name, &scopes, text.expose_secret()),
    }
}
