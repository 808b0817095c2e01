//! The services' roles: what each may do whatever happened to the database, whose password it is, and who makes them.

use crate::support::{World, config, log_in, refused};
use runtime::config::DatabaseConfig;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use store::migrate::{How, print_roles, run as migrate};
use store::{RoleError, StoreError};

const LIST: &str = include_str!("../../src/migrate/access.sql");
const STANDING: &str = include_str!("../../src/migrate/access_of.sql");
const WITHOUT_OWNER: &str = "select string_agg(c.relname, ' ') from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity
        and not exists (select from pg_policy p where p.polrelid = c.oid and p.polcmd = '*' and p.polpermissive
            and p.polroles = array[c.relowner] and pg_get_expr(p.polqual, p.polrelid) = 'true')";

/// What the list and the database do not have in common.
async fn differences(pool: &PgPool) -> Vec<String> {
    let sql = format!("select a.statement from ({STANDING}) a");
    let present: Vec<String> =
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(pool).await.unwrap();
    let listed: Vec<_> = LIST.lines().filter_map(|line| line.strip_suffix(';')).collect();
    let missing = listed.iter().filter(|line| !present.iter().any(|p| p == *line));
    let extra = present.iter().filter(|line| !listed.contains(&line.as_str()));
    let missing = missing.map(|line| format!("missing: {line}"));
    missing.chain(extra.map(|line| format!("extra: {line}"))).collect()
}

/// A database beside a test's own, with an owner who is no superuser; both go with it, and roles that begin with its prefix.
struct Another {
    config: DatabaseConfig,
    name: String,
    owner: String,
    prefix: String,
}

impl Another {
    async fn make(world: &World, may: &str, password: &str) -> Self {
        let name = format!("{}_b", world.database.name());
        let number = name.trim_end_matches("_b").rsplit('_').nth(1).unwrap_or("0").to_owned();
        let (owner, prefix) = (format!("owner_{name}"), format!("t{number}_"));
        world.sql(format!("create role {owner} login {may} password 'x'")).await;
        world.sql(format!("create database {name} owner {owner}")).await;
        let place = world.database.owner_url().split_once('@').unwrap().1;
        let place = place.split_once('/').unwrap().0;
        let config = DatabaseConfig {
            url: format!("postgres://{owner}:x@{place}/{name}").into(),
            service_password: password.into(),
            ..config(&world.database)
        };
        Self { config, name, owner, prefix }
    }

    fn with_prefix(&self) -> DatabaseConfig {
        DatabaseConfig { role_prefix: self.prefix.clone(), ..self.config.clone() }
    }

    async fn login(&self, user: &str, password: &str) -> Result<(), sqlx::Error> {
        let url: &str = runtime::config::ExposeSecret::expose_secret(&self.config.url);
        let options: PgConnectOptions = url.parse()?;
        let options = options.username(user).password(password);
        PgConnection::connect_with(&options).await?.close().await
    }

    async fn gone(self, world: &World) {
        world.sql(format!("drop database {} with (force)", self.name)).await;
        let roles = format!(
            "do $$ declare r text; begin for r in select rolname from pg_roles where rolname like '{}%berth%' loop
                execute format('drop role %I', r); end loop; end $$",
            self.prefix.replace('_', "\\_")
        );
        world.sql(roles).await;
        world.sql(format!("drop role {}", self.owner)).await;
    }
}

#[tokio::test]
async fn the_list_of_what_roles_may_do_is_what_the_migrations_make() {
    let world = World::new().await;
    let name = format!("{}_plain", world.database.name());
    world.sql(format!("create database {name}")).await;
    let options: PgConnectOptions = world.database.owner_url().parse().unwrap();
    let pool = PgPoolOptions::new().max_connections(1);
    let pool = pool.connect_with(options.database(&name)).await.unwrap();
    sqlx::migrate!("../migrations").run(&pool).await.unwrap();
    let differences = differences(&pool).await;
    pool.close().await;
    world.sql(format!("drop database {name} with (force)")).await;
    assert!(
        differences.is_empty(),
        "run scripts/sqlx-prepare and commit store/src/migrate/access.sql: {differences:#?}"
    );
}

#[tokio::test]
async fn what_was_lost_of_grants_and_policies_comes_back_with_the_next_migration() {
    let world = World::new().await;
    let pool = PgPoolOptions::new().max_connections(1);
    let pool = pool.connect(world.database.owner_url()).await.unwrap();
    assert_eq!(differences(&pool).await, Vec::<String>::new());
    let other = format!("other_{}", world.database.name());
    world.sql(format!("create role {other}")).await;
    let of_another = format!(
        "drop policy maintain on task_history_default;
            create policy maintain on task_history_default to {other} using (true)"
    );
    let read = format!("create policy read on task for select to {other} using (true)");
    for sql in [
        "drop policy own on task",
        "drop policy place on attempt; create policy place on attempt to berth_rm using (false)",
        "alter table schedule no force row level security",
        "revoke select, update, delete on task from berth_api",
        "revoke update (role) on app_user from berth_api",
        "grant select on task to berth_admin",
        "grant execute on function berth_partition_drop(text, date) to public",
        "revoke usage on schema public from berth_rm",
        "drop policy maintain on audit_head",
        &of_another,
        &read,
    ] {
        world.sql(sql).await;
    }
    assert!(differences(&pool).await.len() > 8);
    migrate(&config(&world.database), How::default()).await.unwrap();
    assert_eq!(differences(&pool).await, Vec::<String>::new());
    assert_eq!(world.text(WITHOUT_OWNER).await, None);
    let others =
        "select count(*) from pg_policies where policyname = 'read' and tablename = 'task'";
    assert_eq!(world.number(others).await, 1, "what somebody else made stays");
    // All of it, as where roles were missing when a dump was restored.
    world
        .sql(
            "do $$ declare p record; r text; begin
                for p in select tablename, policyname from pg_policies where policyname <> 'read' loop
                    execute format('drop policy %I on %I', p.policyname, p.tablename);
                end loop;
                for r in select rolname from pg_roles where rolname like 'berth\\_%' loop
                    execute format('revoke all on all tables in schema public from %I', r);
                    execute format('revoke all on all functions in schema public from %I', r);
                    execute format('revoke all on schema public from %I', r);
                end loop;
                grant execute on all functions in schema public to public;
            end $$",
        )
        .await;
    migrate(&config(&world.database), How::default()).await.unwrap();
    assert_eq!(differences(&pool).await, Vec::<String>::new());
    assert_eq!(world.text(WITHOUT_OWNER).await, None);
    world.sql(format!("drop policy read on task; drop role {other}")).await;
}

#[tokio::test]
async fn the_owner_sees_all_rows_of_each_table_and_of_each_day_to_come() {
    let world = World::new().await;
    assert_eq!(world.text(WITHOUT_OWNER).await, None);
    assert!(store::partition::ensure(&world.scheduler, 12).await.unwrap() > 0);
    assert_eq!(world.text(WITHOUT_OWNER).await, None);
}

#[tokio::test]
async fn only_the_services_connect_and_none_makes_temporary_tables_or_large_objects() {
    let world = World::new().await;
    // A database that is copied from another is open to all, whatever that one was.
    migrate(&config(&world.database), How::default()).await.unwrap();
    let stranger = format!("stranger_{}", world.database.name());
    world.sql(format!("create role {stranger} login password 'x'")).await;
    let options: PgConnectOptions = world.database.owner_url().parse().unwrap();
    let refusal = PgConnection::connect_with(&options.username(&stranger).password("x")).await;
    let code = refusal.unwrap_err().as_database_error().unwrap().code().unwrap().into_owned();
    assert_eq!(code, "42501");
    world.sql(format!("drop role {stranger}")).await;
    for role in [
        "berth_api",
        "berth_submit",
        "berth_scheduler",
        "berth_rm",
        "berth_notifier",
        "berth_admin",
    ] {
        let pool = log_in(&world, role).await;
        for sql in [
            "create temporary table mine (n integer)",
            "select lo_create(0)",
            "select lo_from_bytea(0, '')",
        ] {
            assert_eq!(refused(&pool, sql).await.as_deref(), Some("42501"), "{role}: {sql}");
        }
    }
}

#[tokio::test]
async fn a_second_installation_of_a_cluster_does_not_touch_the_logins_of_the_first() {
    let world = World::new().await;
    let another = Another::make(&world, "createrole", "of the second").await;
    let refusal = migrate(&another.config, How::default()).await.unwrap_err();
    let text = refusal.to_string();
    assert!(matches!(refusal, StoreError::Role(RoleError::OtherPassword { .. })), "{text}");
    for part in ["berth_api", "database.service_password", "role_prefix", "--reset-passwords"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // As before.
    log_in(&world, "berth_api").await;
    let mut ours = another.with_prefix();
    migrate(&ours, How::default()).await.unwrap();
    migrate(&ours, How::default()).await.unwrap();
    let api = another.prefix.clone() + "berth_api";
    another.login(&api, "of the second").await.unwrap();
    assert!(another.login("berth_api", testkit::db::SERVICE_PASSWORD).await.is_err());
    store::connect::SubmitDb::connect(&ours).unwrap().ping().await.unwrap();
    let scheduler = store::connect::SchedulerDb::connect(&ours).unwrap();
    assert!(store::partition::ensure(&scheduler, 9).await.unwrap() > 0);
    scheduler.close().await;
    // A password is changed where that is asked for.
    ours.service_password = "another one".into();
    let refusal = migrate(&ours, How::default()).await.unwrap_err().to_string();
    assert!(refusal.contains(&api), "{refusal}");
    migrate(&ours, How { reset_passwords: true, ..How::default() }).await.unwrap();
    another.login(&api, "another one").await.unwrap();
    assert!(another.login(&api, "of the second").await.is_err());
    another.gone(&world).await;
}

#[tokio::test]
async fn an_owner_who_may_make_no_roles_migrates_where_an_administrator_has_made_them() {
    let world = World::new().await;
    let another = Another::make(&world, "nocreaterole", "it's secret").await;
    let ours = another.with_prefix();
    let refusal = migrate(&ours, How::default()).await.unwrap_err();
    assert!(refusal.to_string().contains("--print-roles"), "{refusal}");
    let script = print_roles(&ours).unwrap();
    assert!(!script.contains("secret"), "{script}");
    let options: PgConnectOptions = world.database.owner_url().parse().unwrap();
    let administrator = PgPoolOptions::new().max_connections(1);
    let administrator = administrator.connect_with(options.database(&another.name)).await.unwrap();
    for _ in 0..2 {
        sqlx::raw_sql(AssertSqlSafe(script.clone())).execute(&administrator).await.unwrap();
    }
    administrator.close().await;
    let migrated = migrate(&ours, How::default()).await.unwrap();
    assert_eq!(migrated.notes, Vec::<String>::new());
    another.login(&(another.prefix.clone() + "berth_rm"), "it's secret").await.unwrap();
    store::connect::RmDb::connect(&ours).unwrap().ping().await.unwrap();
    another.gone(&world).await;
}

#[tokio::test]
async fn operators_are_told_what_postgres_says_beyond_its_message() {
    let world = World::new().await;
    let twice =
        "insert into tenant (id, name) values (gen_random_uuid(), 'a'), (gen_random_uuid(), 'a')";
    let error = sqlx::raw_sql(twice).execute(&world.owner).await.unwrap_err();
    let said = StoreError::from(error).postgres_says().unwrap();
    assert_eq!(said, "DETAIL: Key (name)=(a) already exists.");
}
