//! The names of the roles of this installation in place of those that the statements are written with.
//!
//! Migrations name `berth_api` and the others. With `database.role_prefix` they run with the prefix before each name; their checksums
//! stay those of the files, so that a database does not depend on the prefix it was made with.

use runtime::config::{DatabaseConfig, ServiceRole};
use sqlx::migrate::{Migration, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr};
use std::borrow::Cow;

/// How the first migration names the roles that it makes where they are missing. They are there already ([`super::roles`]), and an owner
/// who may make none could not even ask.
const MADE: &str =
    "array['berth_api', 'berth_submit', 'berth_scheduler', 'berth_rm', 'berth_admin'] loop";

/// A loop of migration 46, which fails where nothing is left to do: a process that was killed had done all, and had not noted it.
const LEFT: &str = "foreach part slice 1 in array tables loop";
/// The same, mended. The file stays as it was, by which databases know it.
const LEFT_MENDED: &str =
    "if cardinality(tables) = 0 then return; end if; foreach part slice 1 in array tables loop";

/// The migrations, for roles of this prefix, which must exist.
#[must_use]
pub fn migrator(prefix: &str) -> Migrator {
    let mut migrator = sqlx::migrate!("../migrations");
    // sqlx's own lock belongs to a session, and a transaction pooler would leave it behind.
    migrator.set_locking(false);
    let of_ours = |migration: &Migration| {
        let text = migration.sql.as_str().replace(MADE, "array[]::text[] loop");
        let text = text.replace(LEFT, LEFT_MENDED);
        Migration { sql: AssertSqlSafe(named(&text, prefix)).into_sql_str(), ..migration.clone() }
    };
    migrator.migrations = Cow::Owned(migrator.migrations.iter().map(of_ours).collect());
    migrator
}

/// The statement with this installation's roles.
pub(super) fn of_ours(config: &DatabaseConfig, sql: &str) -> String {
    named(sql, &config.role_prefix)
}

/// `sql` with the prefix before each role's name.
fn named(sql: &str, prefix: &str) -> String {
    if prefix.is_empty() {
        return sql.to_owned();
    }
    let mut text = String::with_capacity(sql.len() + 64);
    let mut rest = sql;
    while let Some(at) = rest.find("berth_") {
        let (before, from) = rest.split_at(at);
        let length = from.find(|c| !is_part_of_a_name(c)).unwrap_or(from.len());
        let (name, after) = from.split_at(length);
        text.push_str(before);
        let begins = !text.ends_with(is_part_of_a_name);
        if begins && ServiceRole::ALL.iter().any(|role| role.user() == name) {
            text.push_str(prefix);
        }
        text.push_str(name);
        rest = after;
    }
    text + rest
}

fn is_part_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_of_roles_get_the_prefix() {
        let sql = "grant select on berth_rms to berth_rm, berth_api; select berth_admin_x('berth_admin'), my_berth_rm";
        let ours = "grant select on berth_rms to x_berth_rm, x_berth_api; select berth_admin_x('x_berth_admin'), my_berth_rm";
        assert_eq!(named(sql, "x_"), ours);
        assert_eq!(named(sql, ""), sql);
    }

    #[test]
    fn no_migration_makes_roles_and_checksums_are_those_of_the_files() {
        let (files, ours) = (sqlx::migrate!("../migrations"), migrator("x_"));
        assert_eq!(files.migrations.len(), ours.migrations.len());
        for (file, ours) in files.migrations.iter().zip(ours.migrations.iter()) {
            assert_eq!(file.checksum, ours.checksum);
        }
        let first = ours.migrations.first().map(|first| first.sql.as_str().to_owned()).unwrap();
        assert!(first.contains("array[]::text[] loop"), "{first}");
    }
}
