//! `berth admin key rotate`.

use super::operator::OperatorSettings;
use super::{database, key_list, tenant_keys};
use crate::failure::Failure;
use crate::lifetime::overlap;
use crate::output::{self, Format, age};
use api::auth::key;
use chrono::TimeDelta;
use runtime::clock;
use runtime::config::{self, ExposeSecret};
use serde_json::json;
use std::time::Duration;
use store::idempotency::Once;
use store::key::{NewSecret, Rotated, Rotation};

/// Which key, and how.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin key rotate --tenant acme q2mnv5c7xk3a --overlap 1h"
)]
pub struct KeyRotateArguments {
    /// Key id: the third part of the key.
    pub id: String,
    /// Name of the tenant.
    #[arg(long)]
    pub tenant: String,
    /// Time for which the old key stays valid, such as 0s, 12h or 7d; up to 30d.
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = overlap)]
    pub overlap: TimeDelta,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Makes a key in the place of another and prints it once.
pub async fn run(arguments: &KeyRotateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let made = key::generate(&config.auth.environment, config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let (db, scope) = tenant_keys::scoped(&config, &arguments.tenant).await?;
    let scope = scope.acting(arguments.settings.by());
    let overlap = arguments.overlap.to_std().unwrap_or(Duration::ZERO);
    let what = Rotation { key_id: &arguments.id, of: None, by: None, overlap };
    let secret = NewSecret { id: made.id, hash: made.hash.to_vec() };
    let rotated = store::key::rotate(&db, &scope, what, secret, (None, |_, _| Vec::new())).await;
    db.close().await;
    let (new, old) = match rotated.map_err(|error| database::failure(&error))? {
        Once::Done(Rotated::Done { new, old }) => (new, old),
        Once::Done(Rotated::Already) => {
            return Err(Failure::failed("the key was already replaced; rotate its replacement"));
        }
        Once::Done(Rotated::NotFound | Rotated::MayNot | Rotated::ActorEnded)
        | Once::Replayed { .. }
        | Once::KeyReused => {
            return Err(tenant_keys::no_such_key(&arguments.id, &arguments.tenant));
        }
    };
    let text = made.text.expose_secret();
    if format == Format::Json {
        let mut shown = key_list::shown(&new);
        shown["key"] = json!(text);
        return output::line(&json!({"new": shown, "old": key_list::shown(&old)}).to_string());
    }
    let end = old.expires_at.map(|end| age::ago(end, clock::wall())).unwrap_or_default();
    output::remark(&format!(
        "The old key `{}` ends {end}. Store the new one now: it cannot be shown again:",
        old.id
    ));
    output::line(text)
}
