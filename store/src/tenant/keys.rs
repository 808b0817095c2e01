//! Gives tenants of before, and of older processes, the key by which their names are compared.
//!
//! Run by every migration, as the owner of the tables: what has a key is left alone. It never fails for names that clash: those of before
//! stay as they are, and only new ones must be unlike all others. Its statements are no service's, and so not among those whose plans are
//! checked.

use crate::StoreError;
use crate::statement::named;
use domain::name::TenantName;
use sqlx::{AssertSqlSafe, Executor, PgConnection, Postgres, QueryBuilder, Row};
use uuid::Uuid;

/// The next tenants without a key, the older first.
const WITHOUT: &str = "select id, name from tenant where name_key is null and name is not null order by created_at, id limit 1000";

/// Gives each tenant without a key its own.
pub(crate) async fn fill(connection: &mut PgConnection) -> Result<(), StoreError> {
    loop {
        let tenants = connection.fetch_all(AssertSqlSafe(WITHOUT));
        let tenants = named("tenant.without_key", tenants).await?;
        let mut filled = 0;
        for tenant in &tenants {
            let (id, name): (Uuid, String) = (tenant.get("id"), tenant.get("name"));
            let key = TenantName::key_of(&name);
            let mut query = QueryBuilder::<Postgres>::new(
                "update tenant set name_key = case when exists (select from tenant o where o.name is not null and o.name_key = ",
            );
            // Where an older one has the key: two spaces that no key has, so that nobody asks for this one.
            query.push_bind(&key).push(") then ").push_bind(format!("{key}  {id}"));
            query.push(" else ").push_bind(&key).push(" end where name_key is null and id = ");
            let update = query.push_bind(id).build();
            match named("tenant.fill_key", update.execute(&mut *connection)).await {
                // Another took the key this moment: the next round sees it.
                Err(error) if error.sqlstate().as_deref() == Some("23505") => {}
                result => filled += result?.rows_affected(),
            }
        }
        if filled == 0 {
            return Ok(());
        }
    }
}
