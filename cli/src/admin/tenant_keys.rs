//! What the operator's commands on a tenant's keys share: the tenant by its name, and the pool that sees only it.

use super::database;
use crate::failure::{Exit, Failure};
use domain::id::TenantId;
use runtime::config::Config;
use store::TenantScope;
use store::connect::{AdminDb, ApiDb};

/// The tenant of this name.
pub(super) async fn tenant(db: &AdminDb, name: &str) -> Result<TenantId, Failure> {
    let found = store::tenant::find_by_name(db, name).await;
    found.map_err(|error| database::failure(&error))?.ok_or_else(|| {
        Failure::new(
            Exit::NotFound,
            format!("no tenant named `{name}`; create it with `berth admin tenant create {name}`"),
        )
    })
}

/// One tenant's rows.
pub(super) async fn scoped(config: &Config, name: &str) -> Result<(ApiDb, TenantScope), Failure> {
    let admin = database::open(config)?;
    let tenant = tenant(&admin, name).await;
    admin.close().await;
    let scope = TenantScope::new(tenant?);
    let db =
        ApiDb::connect(&config.database).map_err(|error| Failure::caused(Exit::Usage, &error))?;
    Ok((db, scope))
}

/// There is no such key of this tenant.
pub(super) fn no_such_key(id: &str, tenant: &str) -> Failure {
    Failure::new(Exit::NotFound, format!("no active key `{id}` of `{tenant}`"))
}
