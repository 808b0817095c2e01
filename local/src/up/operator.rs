//! The first operator's key: made once, the same at every start, so that `berth admin` works at once.
//!
//! A key that the database does not know (another database, another secret) or that was revoked is replaced.

use super::folder::Folder;
use super::secrets::{Secrets, random_hex};
use crate::failure::Failure;
use crate::{database, operator_key};
use identity::OperatorScope;
use identity::key::{KeyHasher, PresentedKey};
use runtime::config::{Config, ExposeSecret};
use store::audit::By;
use store::connect::AdminDb;

/// Its name, in the audit.
const NAME: &str = "berth up";

/// Makes the key where it is missing, and keeps it with the secrets.
pub async fn ensure(
    config: &Config,
    folder: &Folder,
    secrets: &mut Secrets,
) -> Result<(), Failure> {
    let db = AdminDb::connect(&config.database).map_err(|error| database::failure(&error))?;
    let made = make(&db, config, secrets.operator_key.as_deref()).await;
    db.close().await;
    if let Some(key) = made? {
        secrets.operator_key = Some(key);
        secrets.store(folder)?;
    }
    Ok(())
}

/// A new key, unless `kept` is good.
async fn make(
    db: &AdminDb,
    config: &Config,
    kept: Option<&str>,
) -> Result<Option<String>, Failure> {
    if let Some(kept) = kept
        && is_good(db, config, kept).await?
    {
        return Ok(None);
    }
    // The name is another's where one database serves several folders, or a folder was lost.
    let other = random_hex(4).map_err(|error| Failure::failed(format!("a name: {error}")))?;
    for name in [NAME.to_owned(), format!("{NAME} {other}")] {
        let wanted = (name.as_str(), &OperatorScope::ALL[..], None);
        if let Some((_, key)) = operator_key::make(db, config, wanted, By::SYSTEM).await? {
            return Ok(Some(key.expose_secret().to_owned()));
        }
    }
    Err(Failure::failed("no name is free for the operator key"))
}

/// Whether the API would take it.
async fn is_good(db: &AdminDb, config: &Config, text: &str) -> Result<bool, Failure> {
    let Ok(presented) = PresentedKey::parse(text, &config.auth.environment) else {
        return Ok(false);
    };
    let hasher = KeyHasher::new(config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let found = store::operator_key::find(db, presented.id().as_str()).await;
    let found = found.map_err(|error| database::failure(&error))?;
    let hash = hasher.hash(&presented);
    Ok(found.is_some_and(|key| {
        key.revoked_at.is_none() && key.expires_at.is_none() && key.hash == hash
    }))
}
