//! `berth admin operator-key rotate`.

use super::operator::OperatorSettings;
use super::{database, operator_key_list, operator_key_revoke};
use crate::failure::Failure;
use crate::lifetime::overlap;
use crate::output::{self, Format, age};
use api::auth::key;
use chrono::TimeDelta;
use runtime::clock;
use runtime::config::{self, ExposeSecret};
use serde_json::json;
use std::time::Duration;
use store::key::NewSecret;
use store::operator_key::Rotated;

/// Which key, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin operator-key rotate q2mnv5c7xk3a --overlap 1h")]
pub struct OperatorKeyRotateArguments {
    /// Key id: the third part of the key.
    pub id: String,
    /// Time for which the old key stays valid, such as 0s, 12h or 7d; up to 30d.
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = overlap)]
    pub overlap: TimeDelta,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Makes a key in the place of another and prints it once.
pub async fn run(arguments: &OperatorKeyRotateArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let made = key::generate_operator(&config.auth.environment, config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let what = (arguments.id.as_str(), arguments.overlap.to_std().unwrap_or(Duration::ZERO));
    let secret = NewSecret { id: made.id, hash: made.hash.to_vec() };
    let db = database::open(&config)?;
    let rotated = store::operator_key::rotate(&db, what, secret, arguments.settings.by()).await;
    db.close().await;
    let (new, old) = match rotated.map_err(|error| database::failure(&error))? {
        Rotated::Done { new, old } => (new, old),
        Rotated::Already => {
            return Err(Failure::failed("the key was already replaced; rotate its replacement"));
        }
        Rotated::NotFound => return Err(operator_key_revoke::no_such_key(&arguments.id)),
    };
    let text = made.text.expose_secret();
    if format == Format::Json {
        let mut shown = operator_key_list::shown(&new);
        shown["key"] = json!(text);
        return output::line(
            &json!({"new": shown, "old": operator_key_list::shown(&old)}).to_string(),
        );
    }
    let end = old.expires_at.map(|end| age::ago(end, clock::wall())).unwrap_or_default();
    output::remark(&format!(
        "The old key `{}` ends {end}. Store the new one now: it cannot be shown again:",
        old.id
    ));
    output::line(text)
}
