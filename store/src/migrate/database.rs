//! Who may connect to the database: the service roles and its owner; and nobody makes temporary tables or large objects there.

use crate::StoreError;
use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};

/// What takes large objects away from everybody. Its functions are a superuser's.
pub(super) const NO_LARGE_OBJECTS: &str = "do $$ declare f text; begin
    for f in select p.oid::regprocedure from pg_proc p
        where p.pronamespace = 'pg_catalog'::regnamespace and (p.proname like 'lo\\_%' or p.proname in ('loread', 'lowrite'))
            and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0) loop
        execute format('revoke execute on function %s from public', f);
    end loop;
end $$";

/// What lets only these roles connect to the database in which it runs.
pub(super) fn only_for(users: &[String]) -> String {
    let users = users.join(", ");
    format!(
        "do $$ begin
    execute format('revoke connect, temporary on database %I from public', current_database());
    execute format('grant connect on database %I to {users}', current_database());
end $$"
    )
}

/// Closes the database to others; says what a database administrator should do where the owner may not.
pub(super) async fn close(
    connection: &mut PgConnection,
    users: &[String],
) -> Result<Option<String>, StoreError> {
    let list = users.iter().map(|user| format!("'{user}'")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "select (exists (select from aclexplode(d.acl) a where a.grantee = 0) or exists (
                select from pg_roles r where r.rolname in ({list}) and not exists (
                    select from aclexplode(d.acl) a where a.grantee = r.oid and a.privilege_type = 'CONNECT')))::text,
            pg_has_role(d.datdba, 'usage')::text, (select r.rolsuper::text from pg_roles r where r.rolname = current_user)
        from (select d.datdba, coalesce(d.datacl, acldefault('d', d.datdba)) as acl from pg_database d
            where d.datname = current_database()) d"
    );
    let row = connection.fetch_one(AssertSqlSafe(sql)).await?;
    let is = |column: usize| Ok::<_, sqlx::Error>(row.try_get::<String, _>(column)? == "true");
    let (is_open, owns, is_superuser) = (is(0)?, is(1)?, is(2)?);
    if is_superuser {
        connection.execute(NO_LARGE_OBJECTS).await?;
    }
    if !is_open {
        return Ok(None);
    }
    if !owns && !is_superuser {
        let text = "others than Berth's roles may connect to the database, which its owner alone can change: let a database \
                    administrator run what `berth migrate --print-roles` prints";
        return Ok(Some(text.to_owned()));
    }
    connection.execute(AssertSqlSafe(only_for(users))).await?;
    Ok(None)
}
