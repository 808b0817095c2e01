//! `berth admin operator-key create`.
//!
//! As for a tenant's key: the text goes to standard output, alone, and nowhere else.

use super::database;
use super::key_create::end_of;
use super::operator::OperatorSettings;
use crate::failure::Failure;
use crate::lifetime::lifetime;
use crate::output::{self, Format};
use api::auth::{OperatorScope, key};
use chrono::TimeDelta;
use runtime::clock;
use runtime::config::{self, ExposeSecret};
use serde_json::json;
use store::operator_key::NewOperatorKey;

/// What can be said about a new operator's key.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin operator-key create --name ann --scope read --scope admin --expires-in 90d"
)]
pub struct OperatorKeyCreateArguments {
    /// Name of the operator in the audit log. Must be new.
    #[arg(long)]
    pub name: String,
    /// Scope: read or admin; repeatable. No scope includes another.
    #[arg(long = "scope", required = true, value_name = "SCOPE")]
    pub scopes: Vec<OperatorScope>,
    /// Lifetime, such as 90d or 12h. Default: no expiry.
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub expires_in: Option<TimeDelta>,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Makes a key, stores its hash, prints it once.
pub async fn run(arguments: &OperatorKeyCreateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let made = key::generate_operator(&config.auth.environment, config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let mut scopes = arguments.scopes.clone();
    scopes.sort_unstable();
    scopes.dedup();
    let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    let new = NewOperatorKey {
        id: made.id,
        name: arguments.name.clone(),
        hash: made.hash.to_vec(),
        scopes: scopes.clone(),
        expires_at: arguments.expires_in.and_then(|life| end_of(clock::wall(), life)),
    };
    let (id, name, expires_at) = (new.id.clone(), &arguments.name, new.expires_at);
    let db = database::open(&config)?;
    let created = store::operator_key::create(&db, new, arguments.settings.by()).await;
    db.close().await;
    if !created.map_err(|error| database::failure(&error))? {
        return Err(Failure::failed(format!(
            "an operator key named `{name}` already exists; choose another name"
        )));
    }
    let expires_at = expires_at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
    match format {
        Format::Json => output::line(
            &json!({"id": id, "key": made.text.expose_secret(), "name": name, "scopes": scopes, "expires_at": expires_at})
                .to_string(),
        ),
        Format::Table => {
            let end = expires_at.map_or_else(|| "does not expire".to_owned(), |at| format!("expires at {at}"));
            output::remark(&format!(
                "Operator key `{name}` ({}) {end}. Store it now: it cannot be shown again:",
                scopes.join(", ")
            ));
            output::line(made.text.expose_secret())
        }
    }
}
