//! Makes an operator's key on the database, where there is no key yet to ask the API with.
//!
//! Used by `berth up`, and by `berth admin operator-key create --first`.

use crate::database;
use crate::failure::Failure;
use chrono::TimeDelta;
use domain::audit::By;
use identity::{OperatorScope, key};
use runtime::clock;
use runtime::config::{Config, SecretString};
use store::StoreError;
use store::connect::AdminDb;
use store::operator_key::{NewOperatorKey, OperatorKeyInfo};

/// Makes a key in the name of `by` and returns it with its text; `None` when the name is taken. Without `life` it does not expire.
///
/// # Errors
/// The settings have no usable hash secret, or the database refuses.
pub async fn make(
    db: &AdminDb,
    config: &Config,
    (name, scopes, life): (&str, &[OperatorScope], Option<TimeDelta>),
    by: By,
) -> Result<Option<(OperatorKeyInfo, SecretString)>, Failure> {
    let made = key::generate_operator(&config.auth.environment, config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let new = NewOperatorKey {
        id: made.id,
        name: name.to_owned(),
        hash: made.hash.to_vec(),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        expires_at: life.and_then(|life| clock::wall().checked_add_signed(life)),
    };
    let created = store::operator_key::create(db, new, by).await;
    let created = created.map_err(|error: StoreError| database::failure(&error))?;
    Ok(created.map(|info| (info, made.text)))
}
