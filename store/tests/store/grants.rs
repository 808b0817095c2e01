//! What each login was granted, whole: a grant that is not declared here fails, and so does one that is missing.
//!
//! Partitions are reached through their tables only and have no grants of their own.

use crate::support::World;
use std::collections::BTreeSet;

/// Login, table, verbs: `r` select, `a` insert, `w` update, `d` delete; with columns where only some are granted.
const GRANTS: &str = include_str!("grants.txt");

#[tokio::test]
async fn the_grants_are_those_that_are_declared() {
    let world = World::new().await;
    let granted = world
        .text(
            "with whole as (
                select r.rolname, c.relname, string_agg(case a.privilege_type when 'SELECT' then 'r' when 'INSERT' then 'a'
                        when 'UPDATE' then 'w' when 'DELETE' then 'd' else a.privilege_type end, '' order by a.privilege_type) as verbs
                from pg_class c join pg_namespace n on n.oid = c.relnamespace, aclexplode(c.relacl) a
                    join pg_roles r on r.oid = a.grantee
                where n.nspname = 'public' and r.rolname like 'berth\\_%' group by 1, 2),
            by_column as (
                select r.rolname, c.relname, case a.privilege_type when 'SELECT' then 'r' when 'INSERT' then 'a'
                        when 'UPDATE' then 'w' else a.privilege_type end as verb, string_agg(t.attname, ',' order by t.attname) as columns
                from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute t on t.attrelid = c.oid,
                    aclexplode(t.attacl) a join pg_roles r on r.oid = a.grantee
                where n.nspname = 'public' and r.rolname like 'berth\\_%' group by 1, 2, 3)
            select string_agg(line, E'\\n' order by line collate \"C\") from (
                select rolname || ' ' || relname || ' ' || verbs as line from whole
                union all select rolname || ' ' || relname || ' ' || verb || '(' || columns || ')' from by_column) lines",
        )
        .await
        .unwrap();
    let granted: BTreeSet<&str> = granted.lines().collect();
    let declared: BTreeSet<&str> = GRANTS.lines().filter(|line| !line.is_empty()).collect();
    let extra: Vec<_> = granted.difference(&declared).collect();
    let missing: Vec<_> = declared.difference(&granted).collect();
    assert!(
        extra.is_empty() && missing.is_empty(),
        "not declared: {extra:#?}\nnot granted: {missing:#?}"
    );
}

#[tokio::test]
async fn everybody_has_nothing() {
    let world = World::new().await;
    let open = "select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace, aclexplode(c.relacl) a
        where n.nspname = 'public' and a.grantee = 0";
    assert_eq!(world.number(open).await, 0);
}
