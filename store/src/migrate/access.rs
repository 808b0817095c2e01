//! Puts grants and policies right: what the service roles may do in a database is what `access.sql` says, whatever happened to it.
//!
//! A dump brings grants and policies along, but not the roles they are for: restored where a role was missing they are lost, and under
//! another owner the owner's own policies are somebody else's. So each migration compares what is there with what should be, and
//! changes what differs; mostly nothing does. Migrations write grants as ever: `scripts/sqlx-prepare` writes `access.sql` anew from what
//! they made.

use super::names::of_ours;
use crate::StoreError;
use runtime::config::DatabaseConfig;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What the roles may do, a statement a line.
const WANTED: &str = include_str!("access.sql");
/// How often a table is tried that is in use.
const TRIES: u32 = 60;
/// What they may do in a database, and what takes it back.
const STANDING: &str = include_str!("access_of.sql");

/// Makes the roles' rights those of this version; answers how many statements that took.
pub(super) async fn put_right(
    connection: &mut PgConnection,
    config: &DatabaseConfig,
) -> Result<usize, StoreError> {
    let mut tx = connection.begin().await?;
    // Names are shown without their schema where they are found without it.
    let settings = format!(
        "set local search_path = public; set local berth.role_prefix = '{}'; set local lock_timeout = '30s'",
        config.role_prefix
    );
    tx.execute(AssertSqlSafe(settings)).await?;
    let wanted: BTreeSet<&str> = statements().collect();
    let mut changes = 0;
    for (statement, undo) in standing(&mut tx).await? {
        if !wanted.contains(statement.as_str()) {
            tx.execute(AssertSqlSafe(of_ours(config, &undo))).await?;
            changes += 1;
        }
    }
    // Anew: to take a right to a table is to take those to its columns, too.
    let present = standing(&mut tx).await?;
    for statement in statements().filter(|statement| !present.contains_key(*statement)) {
        tx.execute(AssertSqlSafe(of_ours(config, statement))).await?;
        changes += 1;
    }
    tx.commit().await?;
    maintained(connection).await.map(|policies| changes + policies)
}

fn statements() -> impl Iterator<Item = &'static str> {
    WANTED.lines().filter_map(|line| line.strip_suffix(';'))
}

async fn standing(connection: &mut PgConnection) -> Result<BTreeMap<String, String>, StoreError> {
    let sql = format!("select a.statement, a.undo from ({STANDING}) a");
    let rows = connection.fetch_all(AssertSqlSafe(sql)).await?;
    let rows = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    rows.collect::<Result<_, sqlx::Error>>().map_err(StoreError::from)
}

/// The migration after which each table has its owner's policy from the migration that makes it.
const WITH_POLICIES: i64 = 9;

/// Before migrations run, which read rows: an owner after a restore sees none without its policies. Where the first migrations
/// were cut off they make the missing ones themselves.
pub(super) async fn see_rows(connection: &mut PgConnection) -> Result<(), StoreError> {
    let begun = "select to_regclass('public._sqlx_migrations') is not null";
    let begun: bool = sqlx::query_scalar(begun).fetch_one(&mut *connection).await?;
    if !begun {
        return Ok(());
    }
    let there = "select exists (select from public._sqlx_migrations where version = $1)";
    let there = sqlx::query_scalar(there).bind(WITH_POLICIES);
    if there.fetch_one(&mut *connection).await? {
        maintained(connection).await?;
    }
    Ok(())
}

/// Lets the owner see all rows of each table, and so a dump, too: the owner's policies name the owner, who is another one after a
/// restore. One table at a time: each is locked for a moment, and not waited for for long, because everything else queues behind.
async fn maintained(connection: &mut PgConnection) -> Result<usize, StoreError> {
    let without = "select quote_ident(c.relname), quote_ident(pg_get_userbyid(c.relowner)) from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity
            and pg_has_role(c.relowner, 'usage')
            and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'maintain' and p.polpermissive
                and p.polcmd = '*' and p.polroles = array[c.relowner])
        order by c.relname";
    let rows = connection.fetch_all(without).await?;
    for row in &rows {
        let (table, owner): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let mut tried = 0;
        loop {
            tried += 1;
            match maintain(connection, &table, &owner).await {
                Err(StoreError::Contended) if tried < TRIES => {
                    runtime::clock::sleep(Duration::from_millis(500)).await;
                }
                done => {
                    done?;
                    break;
                }
            }
        }
    }
    Ok(rows.len())
}

async fn maintain(
    connection: &mut PgConnection,
    table: &str,
    owner: &str,
) -> Result<(), StoreError> {
    let mut tx = connection.begin().await?;
    // What a crash loses of this the next migration makes again.
    let script = format!(
        "set local lock_timeout = '500ms'; set local synchronous_commit = off;
        drop policy if exists maintain on public.{table};
        create policy maintain on public.{table} to {owner} using (true) with check (true)"
    );
    tx.execute(AssertSqlSafe(script)).await?;
    tx.commit().await.map_err(StoreError::from)
}
