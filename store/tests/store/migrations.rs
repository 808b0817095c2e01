//! Migrating: once, by whoever comes, also by an owner who is no superuser.

use crate::support::{World, config, new_task};
use domain::epoch::Epoch;
use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, Executor, PgConnection};
use std::time::Duration;
use store::connect::{SchedulerDb, SubmitDb};
use store::migrate::How;

#[tokio::test(flavor = "multi_thread")]
async fn several_at_once_and_again_change_nothing_and_leave_no_lock() {
    let world = World::new().await;
    let config = config(&world.database);
    let migrate = || store::migrate::run(&config, How::default());
    let all = tokio::join!(migrate(), migrate(), migrate(), migrate());
    for result in [all.0, all.1, all.2, all.3] {
        result.unwrap();
    }
    let locks = "select count(*) from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and d.datname = current_database()";
    assert_eq!(world.number(locks).await, 0);
}

#[tokio::test]
async fn the_service_roles_sessions_are_set_for_their_work() {
    let world = World::new().await;
    for (role, hot) in [
        ("berth_api", false),
        ("berth_admin", false),
        ("berth_submit", true),
        ("berth_scheduler", true),
        ("berth_rm", true),
        ("berth_notifier", false),
    ] {
        let url = world.database.role_url(role).unwrap();
        let pool = PgPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
        let plans = if hot { "force_generic_plan" } else { "auto" };
        for (setting, value) in [
            ("enable_seqscan", "off"),
            ("idle_in_transaction_session_timeout", "8s"),
            ("client_connection_check_interval", "1s"),
            ("plan_cache_mode", plans),
        ] {
            let shown: String = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("show {setting}")))
                .fetch_one(&pool)
                .await
                .unwrap();
            assert_eq!(shown, value, "{role}: {setting}");
        }
    }
}

#[tokio::test]
async fn only_what_hands_tasks_out_commits_without_waiting_for_the_disk() {
    let world = World::new().await;
    assert_eq!(world.text("show synchronous_commit").await.as_deref(), Some("on"));
    let config = config(&world.database);
    let scheduler = SchedulerDb::connect(&config).unwrap();
    scheduler.ping().await.unwrap();
    let roles =
        "select count(*) from pg_db_role_setting where setconfig::text like '%synchronous_commit%'";
    assert_eq!(world.number(roles).await, 0);
}

#[tokio::test]
async fn an_owner_without_superuser_can_migrate_and_the_house_is_kept_as_well() {
    let world = World::new().await;
    let (owner, database) =
        (format!("owner_{}", world.database.name()), format!("{}_own", world.database.name()));
    world.sql(format!("create role {owner} login createrole password 'x'")).await;
    world.sql(format!("create database {database} owner {owner}")).await;
    let mut url = url_of(world.database.owner_url(), &database, &owner);
    let config =
        runtime::config::DatabaseConfig { url: url.clone().into(), ..config(&world.database) };
    store::migrate::run(&config, How::default()).await.unwrap();
    let (scheduler, submit) =
        (SchedulerDb::connect(&config).unwrap(), SubmitDb::connect(&config).unwrap());
    // A live task of long ago: its day of specs must stay, whoever owns the tables.
    url.push_str("?options=-csearch_path%3Dpublic");
    let pool = PgPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
    let days = "do $$ declare parent text; begin
        foreach parent in array array['task_spec', 'task_history', 'attempt', 'task_output'] loop
            while berth_partition_make(parent, current_date - 30, current_date) loop
            end loop;
        end loop; end $$";
    sqlx::raw_sql(days).execute(&pool).await.unwrap();
    let old = runtime::clock::wall() - chrono::TimeDelta::days(20);
    let id = domain::id::TaskId(uuid::Uuid::from_u128(
        u128::try_from(old.timestamp_millis()).unwrap() << 80,
    ));
    let task = store::task::submit::NewTask { id, ..new_task(domain::id::TenantId::fresh()) };
    store::task::submit::insert(&submit, &[task]).await.unwrap();
    assert!(store::partition::drop_expired(&scheduler, 7).await.unwrap() > 50);
    assert_eq!(store::partition::ensure(&scheduler, 9).await.unwrap(), 16);
    assert_eq!(
        sqlx::query_scalar::<_, i64>("select count(*) from task_spec")
            .fetch_one(&pool)
            .await
            .unwrap(),
        1
    );
    scheduler.close().await;
    submit.close().await;
    pool.close().await;
    world.sql(format!("drop database {database} with (force)")).await;
    world.sql(format!("drop role {owner}")).await;
}

/// What runs outside a transaction is noted by a statement of its own: a process may be killed between the two.
#[tokio::test]
async fn a_migration_that_was_cut_off_before_it_was_noted_is_run_again() {
    let world = World::new().await;
    let name = format!("{}_empty", world.database.name());
    world.sql(format!("create database {name}")).await;
    let url = world.database.owner_url().replace(world.database.name(), &name);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let mut migrator = store::migrate::migrator("");
    let all = migrator.migrations.to_vec();
    let mut repeated = 0;
    for (at, last) in all.iter().enumerate() {
        migrator.migrations = all[..=at].to_vec().into();
        migrator.run(&mut connection).await.unwrap();
        if last.no_tx {
            let forget = format!("delete from _sqlx_migrations where version = {}", last.version);
            connection.execute(sqlx::AssertSqlSafe(forget)).await.unwrap();
            let again = migrator.run(&mut connection).await;
            again.unwrap_or_else(|error| panic!("{}: {error}", last.version));
            repeated += 1;
        }
    }
    assert!(repeated >= 8, "{repeated}");
    connection.close().await.unwrap();
    world.sql(format!("drop database {name}")).await;
}

fn url_of(owner_url: &str, database: &str, user: &str) -> String {
    let rest = owner_url.split_once('@').unwrap().1.split_once('/').unwrap().0;
    format!("postgres://{user}:x@{rest}/{database}")
}

#[tokio::test]
async fn ids_beyond_32_bits_flow_through() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let narrow = "select count(*) from pg_sequences where data_type <> 'bigint'::regtype";
    assert_eq!(world.number(narrow).await, 0);
    world.sql("update leadership set epoch = 2147483653; ").await;
    let leader = world.lead(domain::id::NodeId::fresh()).await;
    let owned = world.open(domain::id::NodeId::fresh()).await;
    world.sql("update executor_session set owner_epoch = 2147483653").await;
    let owned = crate::support::Owned { epoch: Epoch(2_147_483_653), ..owned };
    let tasks = world.store_ready(tenant, 1).await;
    let dispatches = world.dispatch(leader, &tasks).await;
    let sessions =
        [store::task::transition::SessionEpoch { session: owned.session, epoch: owned.epoch }];
    let claim = crate::support::claim(owned, dispatches[0], 1 << 40);
    let placed = store::task::transition::placed(
        &world.rm,
        owned.node,
        &sessions,
        &[claim],
        Duration::from_secs(1),
    )
    .await
    .unwrap();
    assert_eq!(placed[0].assignment, 1 << 40);
}

#[tokio::test]
async fn tenants_of_before_keep_their_names_though_these_clash_and_new_ones_are_unlike_all() {
    use domain::id::TenantId;
    use store::audit::By;
    use store::tenant::{Created, NewTenant, create, find_by_name};
    let world = World::new().await;
    let ids = [(); 4].map(|()| TenantId::fresh());
    for (id, name, age) in
        [(ids[0], "ACME", 1), (ids[1], "Acme", 3), (ids[2], " acme", 2), (ids[3], "A\u{7}b", 2)]
    {
        let sql = format!(
            "insert into tenant (id, name, created_at) values ('{}', '{name}', now() - interval '{age} days')",
            id.uuid()
        );
        world.sql(sql).await;
    }
    for _ in 0..2 {
        store::migrate::run(&config(&world.database), How::default()).await.unwrap();
        let keys = "select string_agg(replace(name_key, id::text, 'id'), ',' order by created_at) from tenant
            where name ~* 'acme'";
        assert_eq!(world.text(keys).await.as_deref(), Some("acme,acme  id,acme  id"));
        assert_eq!(world.number("select count(*) from tenant where name_key is null").await, 0);
    }
    // By their own names, and where that is nobody's by what it is taken for.
    for (text, id) in [
        ("ACME", ids[0]),
        ("Acme", ids[1]),
        (" acme", ids[2]),
        ("aCME ", ids[1]),
        ("A\u{7}b", ids[3]),
    ] {
        assert_eq!(find_by_name(&world.admin, text).await.unwrap(), Some(id), "{text}");
    }
    let create = async |name: &str| {
        create(&world.admin, &NewTenant::named(name).unwrap(), By::SYSTEM).await.unwrap()
    };
    assert_eq!(create("ａｃｍｅ").await, Created::NameTaken);
    assert_eq!(create("acme 2").await, Created::Yes);
    assert_eq!(create("Acme  2").await, Created::NameTaken);
    // A name that was given back is free.
    let purged = "update tenant set state = 'deleted', deleted_at = now(), name = null, purged_at = now() where name = 'acme 2'";
    world.sql(purged).await;
    assert_eq!(create("ACME 2").await, Created::Yes);
}

/// Stores what an installation may hold before pools were granted, and migrates it on.
#[tokio::test]
async fn who_used_a_pool_before_pools_were_granted_keeps_it_and_nobody_else_gets_it() {
    let world = World::new().await;
    let [live, past, timed, none, gone] = [(); 5].map(|()| domain::id::TenantId::fresh());
    for tenant in [live, past, timed, none, gone] {
        let new = store::tenant::NewTenant {
            id: tenant,
            ..store::tenant::NewTenant::named(&tenant.to_string()).unwrap()
        };
        store::tenant::create(&world.admin, &new, store::audit::By::SYSTEM).await.unwrap();
    }
    world.sql("insert into pool (name) values ('inner'), ('unused')").await;
    let pool: domain::id::PoolName = "inner".parse().unwrap();
    for tenant in [live, past, gone] {
        let task = store::task::submit::NewTask { pool: pool.clone(), ..new_task(tenant) };
        world.store(task).await;
    }
    for tenant in [live, none] {
        world.store(new_task(tenant)).await;
    }
    world
        .sql(format!(
            "insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at,
                    start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, finished_at)
                select tenant_id, id, pool, 'succeeded', tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at, start_deadline,
                    cap_ms, 0, 0, max_attempts, false, false, now()
                from task where tenant_id = '{0}';
            delete from task where tenant_id = '{0}';
            update tenant set state = 'deleted', deleted_at = now() where id = '{1}'",
            past.uuid(),
            gone.uuid()
        ))
        .await;
    for (tenant, name, template) in [
        (timed, "good", r#"{"name":"x","pool":"inner"}"#),
        // Words of a customer are no pool, and what cannot be read is none.
        (none, "words", r#"{"name":"\"pool\":\"inner\"","pool":"default"}"#),
        (none, "broken", r#"{"pool":"inner""#),
    ] {
        world
            .sql(format!(
                "insert into schedule (id, tenant_id, name, timing, template, overlap, misfire, created_by, shard, tzdb)
                    values (gen_random_uuid(), '{}', '{name}', '{{}}', '{template}', 'skip', '\"skip\"', 'k', 0, '')",
                tenant.uuid()
            ))
            .await;
    }
    // The part of the migration that takes over what is there, as it was shipped.
    let migration = include_str!("../../../migrations/0039_pool_grants.sql");
    let taken_over = &migration[migration.rfind("do $$").unwrap()..];
    world.sql("delete from pool_granted_tenant").await;
    world.sql(taken_over.to_owned()).await;
    let granted = "select string_agg(pool || ' ' || tenant_id, ', ' order by tenant_id) from pool_granted_tenant";
    let mut wanted = [live, past, timed].map(|tenant| format!("inner {}", tenant.uuid()));
    wanted.sort_unstable();
    assert_eq!(world.text(granted).await.as_deref(), Some(wanted.join(", ").as_str()));
    let everyone = "select string_agg(name, ' ') from pool where everyone";
    assert_eq!(world.text(everyone).await.as_deref(), Some("default"));
}
