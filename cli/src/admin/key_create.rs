//! `berth admin key create`.
//!
//! The key goes to standard output, alone, so that a script can take it; what is said about it goes to standard
//! error. It is never written anywhere else: from here on only its hash exists.

use super::operator::OperatorSettings;
use super::{database, tenant_keys};
use crate::failure::Failure;
use crate::lifetime::lifetime;
use crate::output::{self, Format};
use api::auth::{Scope, key};
use chrono::TimeDelta;
use domain::time::Timestamp;
use runtime::clock;
use runtime::config::{self, Config, ExposeSecret};
use serde_json::json;
use store::connect::AdminDb;
use store::key::NewKey;

/// What can be said about a new key.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  BERTH_API_KEY=$(berth admin key create --tenant acme --name ci --scope read --scope submit --expires-in 90d)"
)]
pub struct KeyCreateArguments {
    /// Name of the tenant.
    #[arg(long)]
    pub tenant: String,
    /// Name of the key.
    #[arg(long)]
    pub name: String,
    /// Scope: read, submit or admin; repeatable. No scope includes another.
    #[arg(long = "scope", required = true, value_name = "SCOPE")]
    pub scopes: Vec<Scope>,
    /// Lifetime, such as 90d or 12h. Default: no expiry.
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub expires_in: Option<TimeDelta>,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Makes a key, stores its hash, prints it once.
pub async fn run(arguments: &KeyCreateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let made = make(&db, &config, arguments).await;
    db.close().await;
    let (new, text) = made?;
    let expires_at = new.expires_at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
    match format {
        Format::Json => output::line(
            &json!({
                "id": new.id, "key": text.expose_secret(), "tenant": arguments.tenant, "name": new.name,
                "scopes": new.scopes, "expires_at": expires_at,
            })
            .to_string(),
        ),
        Format::Table => {
            let end = expires_at.map_or_else(|| "does not expire".to_owned(), |at| format!("expires at {at}"));
            output::remark(&format!(
                "Key `{}` of `{}` ({}) {end}. Store it now: it cannot be shown again:",
                new.name,
                arguments.tenant,
                new.scopes.join(", ")
            ));
            output::line(text.expose_secret())
        }
    }
}

async fn make(
    db: &AdminDb,
    config: &Config,
    arguments: &KeyCreateArguments,
) -> Result<(NewKey, config::SecretString), Failure> {
    let made = key::generate(&config.auth.environment, config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let tenant = tenant_keys::tenant(db, &arguments.tenant).await?;
    let mut scopes: Vec<String> = arguments.scopes.iter().map(ToString::to_string).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let new = NewKey {
        id: made.id,
        tenant,
        name: arguments.name.clone(),
        hash: made.hash.to_vec(),
        scopes,
        expires_at: arguments.expires_in.and_then(|life| end_of(clock::wall(), life)),
    };
    let created = store::key::create(db, new.clone(), arguments.settings.by()).await;
    created.map_err(|error| database::failure(&error))?;
    Ok((new, made.text))
}

pub(super) fn end_of(now: Timestamp, life: TimeDelta) -> Option<Timestamp> {
    now.checked_add_signed(life)
}
