//! The first tenant and its key: made once, the same at every start.
//!
//! A key that the database does not know (another database, another secret) is replaced, so that what is printed always works.

use super::folder::Folder;
use super::secrets::Secrets;
use crate::database;
use crate::failure::Failure;
use domain::id::PoolName;
use domain::pool::PoolGrants;
use domain::tenant::TenantState;
use identity::Scope;
use identity::key::{self, KeyHasher, PresentedKey};
use runtime::config::{Config, ExposeSecret};
use store::StoreError;
use store::audit::By;
use store::connect::{AdminDb, SubmitDb};
use store::key::NewKey;
use store::pool::PoolChange;
use store::tenant::NewTenant;

/// Its name.
pub const TENANT: &str = "demo";

/// Makes what is missing, and gives the key.
///
/// `own_database`: nobody else uses it, so tasks may reach this machine's own addresses.
pub async fn ensure(
    config: &Config,
    folder: &Folder,
    secrets: &mut Secrets,
    own_database: bool,
) -> Result<String, Failure> {
    let db = AdminDb::connect(&config.database).map_err(|error| database::failure(&error))?;
    let made = make(&db, config, secrets, own_database).await;
    db.close().await;
    let (key, is_new) = made?;
    if is_new {
        secrets.api_key = Some(key.clone());
        secrets.store(folder)?;
    }
    Ok(key)
}

async fn make(
    db: &AdminDb,
    config: &Config,
    secrets: &Secrets,
    own_database: bool,
) -> Result<(String, bool), Failure> {
    let failed = |error: StoreError| database::failure(&error);
    // First, and again until the tenant is there: a start that was killed in between must not leave the pool closed.
    let is_new = store::tenant::find_by_name(db, TENANT).await.map_err(failed)?.is_none();
    if is_new && own_database {
        let pool: PoolName = "default".parse().map_err(|_| Failure::failed("no default pool"))?;
        let change = PoolChange { private_targets: Some(true), ..PoolChange::default() };
        store::pool::set(db, &pool, change, By::SYSTEM).await.map_err(failed)?;
    }
    let new = NewTenant::named(TENANT).map_err(|error| Failure::failed(error.to_string()))?;
    store::tenant::create(db, &new, By::SYSTEM).await.map_err(failed)?;
    let tenant = store::tenant::find_by_name(db, TENANT).await.map_err(failed)?;
    let tenant = tenant.ok_or_else(|| Failure::failed("the first tenant cannot be found"))?;
    let pool = &config.executor.pool;
    if store::pool::find(db, pool).await.map_err(failed)?.is_none() {
        // An executor of a pool that nobody has made is refused, and a new pool is granted to nobody.
        let grant = PoolGrants { tenants: [tenant].into(), ..PoolGrants::default() };
        let change = PoolChange { grant, ..PoolChange::default() };
        store::pool::set(db, pool, change, By::SYSTEM).await.map_err(failed)?;
    }
    if let Some(key) = &secrets.api_key
        && is_good(config, key).await?
    {
        return Ok((key.clone(), false));
    }
    let made = key::generate(&config.auth.environment, config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let new = NewKey {
        id: made.id,
        tenant,
        name: "berth up".to_owned(),
        hash: made.hash.to_vec(),
        scopes: Scope::ALL.iter().map(ToString::to_string).collect(),
        expires_at: None,
    };
    store::key::create(db, new, By::SYSTEM).await.map_err(failed)?;
    Ok((made.text.expose_secret().to_owned(), true))
}

/// Whether the API would take it.
async fn is_good(config: &Config, text: &str) -> Result<bool, Failure> {
    let Ok(presented) = PresentedKey::parse(text, &config.auth.environment) else {
        return Ok(false);
    };
    let hasher = KeyHasher::new(config.auth.key_hash_secret()?)
        .map_err(|error| Failure::failed(format!("a key {error}")))?;
    let db = SubmitDb::connect(&config.database).map_err(|error| database::failure(&error))?;
    let found = store::key::find(&db, presented.id().as_str()).await;
    db.close().await;
    let found = found.map_err(|error| database::failure(&error))?;
    let hash = hasher.hash(&presented);
    Ok(found.is_some_and(|key| {
        key.tenant_state != TenantState::Deleted
            && key.revoked_at.is_none()
            && key.expires_at.is_none()
            && key.hash == hash
    }))
}
