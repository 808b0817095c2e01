//! The audit: written with the change, never changed after, sealed once whoever seals and however it ends (C20).

use crate::support::{World, log_in, new_key, refused, two_tenants};
use domain::audit::{Gap, PLATFORM, Verifier};
use domain::id::TenantId;
use std::time::Duration;
use store::TenantScope;
use store::audit::{Act, AuditAction, AuditFilter, By, seal_batch};
use store::connect::SchedulerDb;
use store::key::NewOwnKey;

const ROLES: [&str; 6] =
    ["berth_api", "berth_submit", "berth_scheduler", "berth_rm", "berth_notifier", "berth_admin"];
const UNSEALED: &str = "select count(*) from audit_pending";

/// Seals all there is.
async fn seal_all(world: &World) -> u64 {
    let mut all = 0;
    loop {
        match seal_batch(&world.scheduler, 7).await.unwrap() {
            0 => return all,
            sealed => all += sealed,
        }
    }
}

/// What is wrong with a chain, read in small pieces.
async fn gaps(world: &World, tenant: TenantId) -> Vec<Gap> {
    let head = store::audit::head(&world.admin, tenant).await.unwrap();
    let mut verifier = Verifier::default();
    loop {
        let position = verifier.position();
        let links = store::audit::links(&world.admin, tenant, position, 3).await.unwrap();
        if links.is_empty() {
            return verifier.finish(head);
        }
        links.iter().for_each(|link| verifier.walk(link));
    }
}

/// `count` rows of a tenant, as its creation and pools write them.
async fn rows(world: &World, tenant: TenantId, count: u32) {
    let scope = TenantScope::of_role(tenant);
    for number in 0..count {
        let id = format!("{}{}", "b".repeat(11), char::from(b'a' + number as u8));
        let new = NewOwnKey { key: new_key(&id, tenant), user: None };
        let made = store::key::create_own(&world.api, &scope, new, None, |_| Vec::new());
        made.await.unwrap();
    }
}

/// Runs SQL that the triggers would refuse, as only the owner of a machine can.
async fn forge(world: &World, sql: &str) {
    let sql = format!("begin; set local session_replication_role = replica; {sql}; commit;");
    world.sql(sql).await;
}

fn network() -> store::pool::PoolChange {
    store::pool::PoolChange { command_network: Some(true), ..Default::default() }
}

#[tokio::test]
async fn nobody_changes_or_removes_a_row_and_neither_does_the_owner() {
    let world = World::new().await;
    two_tenants(&world).await;
    seal_all(&world).await;
    let count = "select (select count(*) from audit) + (select count(*) from audit_seal)";
    let before = world.number(count).await;
    assert!(before > 0);
    for table in ["audit", "audit_seal"] {
        let verbs = [
            format!("update {table} set tenant_id = tenant_id"),
            format!("delete from {table}"),
            format!("truncate {table} cascade"),
        ];
        for role in ROLES {
            let pool = log_in(&world, role).await;
            for sql in &verbs {
                assert_eq!(refused(&pool, sql).await.as_deref(), Some("42501"), "{role}: {sql}");
            }
        }
        for sql in &verbs {
            assert_eq!(refused(&world.owner, sql).await.as_deref(), Some("42501"), "owner: {sql}");
        }
    }
    assert_eq!(world.number(count).await, before);
}

#[tokio::test]
async fn a_tenants_request_tells_of_its_own_tenant_only() {
    let world = World::new().await;
    let [one, other] = two_tenants(&world).await;
    let api = log_in(&world, "berth_api").await;
    let forged = format!(
        "begin; select set_config('berth.tenant_id', '{}', true);
         insert into audit (id, tenant_id, actor_kind, action, target_kind)
            values (gen_random_uuid(), '{}', 'system', 'key.create', 'key')",
        one.uuid(),
        other.uuid()
    );
    let error = sqlx::raw_sql(sqlx::AssertSqlSafe(forged)).execute(&api).await.unwrap_err();
    assert_eq!(error.as_database_error().unwrap().code().as_deref(), Some("42501"));
    let filter = AuditFilter::default();
    for tenant in [one, other] {
        let scope = TenantScope::of_role(tenant);
        let seen = store::audit::find(&world.api, &scope, &filter, 200).await.unwrap().rows;
        assert!(seen.len() >= 4 && seen.iter().all(|row| row.entry.tenant == tenant));
        let all = store::audit::find_for_operator(&world.admin, tenant, &filter, 200).await;
        assert_eq!(all.unwrap().rows, seen);
    }
}

#[tokio::test]
async fn every_row_is_sealed_once_and_the_chain_of_each_tenant_holds() {
    let world = World::new().await;
    let tenants = two_tenants(&world).await;
    let pool = "other".parse().unwrap();
    store::pool::set(&world.admin, &pool, network(), By::SYSTEM).await.unwrap();
    store::pool::set(&world.admin, &pool, network(), By::SYSTEM).await.unwrap();
    let all = world.number("select count(*) from audit").await;
    assert_eq!(seal_all(&world).await, all.unsigned_abs());
    assert_eq!(world.number(UNSEALED).await, 0);
    for tenant in [tenants[0], tenants[1], PLATFORM] {
        let own = format!("tenant_id = '{}'", tenant.uuid());
        let rows = world.number(format!("select count(*) from audit where {own}")).await;
        let last = world.number(format!("select max(position) from audit_seal where {own}")).await;
        assert!(rows > 0 && rows == last, "{rows} {last}");
        assert_eq!(gaps(&world, tenant).await, []);
    }
    let pools = "select count(*) from audit where action = 'pool.set'";
    assert_eq!(world.number(pools).await, 1, "what changed nothing is not told");
}

#[tokio::test]
async fn a_row_that_is_committed_late_is_sealed_late() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let mut late = world.owner.begin().await.unwrap();
    let act = Act::new(AuditAction::TenantChange, tenant);
    store::audit::write(&mut late, tenant, By::SYSTEM, act).await.unwrap();
    rows(&world, tenant, 3).await;
    assert_eq!(seal_all(&world).await, 4);
    assert_eq!(gaps(&world, tenant).await, []);
    late.commit().await.unwrap();
    assert_eq!(seal_all(&world).await, 1);
    let last = "select action from audit a join audit_seal s on s.audit_id = a.id order by s.position desc limit 1";
    assert_eq!(world.text(last).await.as_deref(), Some("tenant.change"));
    let first = "select action from audit order by id limit 1 offset 1";
    assert_eq!(world.text(first).await.as_deref(), Some("tenant.change"), "it was begun earlier");
    assert_eq!(gaps(&world, tenant).await, []);
}

#[tokio::test]
async fn many_who_seal_at_once_seal_each_row_once() {
    let world = World::new().await;
    let tenants = [world.tenant().await, world.tenant().await];
    let config = crate::support::config(&world.database);
    let rivals: Vec<SchedulerDb> = (0..4).map(|_| SchedulerDb::connect(&config).unwrap()).collect();
    let run = async |db: &SchedulerDb| {
        let mut sealed = 0;
        while world.number("select count(*) from audit_seal").await < 32 {
            sealed += seal_batch(db, 2).await.unwrap();
        }
        sealed
    };
    let letters = rows(&world, tenants[0], 20);
    let more = async {
        for _ in 0..10 {
            world.tenant().await;
        }
    };
    let (_, _, a, b, c, d) = tokio::join!(
        letters,
        more,
        run(&rivals[0]),
        run(&rivals[1]),
        run(&rivals[2]),
        run(&rivals[3])
    );
    let all = world.number("select count(*) from audit").await;
    assert_eq!((all, a + b + c + d), (32, 32));
    assert_eq!(world.number("select count(distinct audit_id) from audit_seal").await, all);
    for tenant in tenants {
        assert_eq!(gaps(&world, tenant).await, []);
    }
}

#[tokio::test]
async fn a_sealer_that_is_killed_after_any_statement_leaves_nothing_half_done() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    rows(&world, tenant, 3).await;
    let config = crate::support::config(&world.database);
    for table in ["audit_seal", "audit_head", "audit_pending"] {
        // Of its own: a connection that broke before would fail for another reason.
        let doomed = SchedulerDb::connect(&config).unwrap();
        let fault = format!(
            "create function die() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
             create trigger die after insert or update or delete on {table} for each statement execute function die();"
        );
        world.sql(fault).await;
        assert!(seal_batch(&doomed, 100).await.is_err(), "{table}");
        world.sql(format!("drop trigger die on {table}; drop function die();")).await;
        assert_eq!(world.number("select count(*) from audit_seal").await, 0, "{table}");
        assert_eq!(world.number(UNSEALED).await, 4, "{table}");
    }
    let again =
        || async { Some(seal_batch(&world.scheduler, 100).await.unwrap()).filter(|n| *n == 4) };
    let limit = Duration::from_secs(10);
    testkit::poll::until_some("the next one to seal", limit, again).await.unwrap();
    assert_eq!(gaps(&world, tenant).await, []);
}

#[tokio::test]
async fn what_the_owner_removes_or_changes_is_named() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    rows(&world, tenant, 6).await;
    seal_all(&world).await;
    assert_eq!(gaps(&world, tenant).await, []);
    let at = |position: u64| {
        format!(
            "(select audit_id from audit_seal where tenant_id = '{}' and position = {position})",
            tenant.uuid()
        )
    };
    let id = async |position: u64| {
        let text = world.text(format!("select {}::text", at(position))).await.unwrap();
        domain::id::AuditId(text.parse().unwrap())
    };
    let (third, fifth) = (id(3).await, id(5).await);
    forge(&world, &format!("delete from audit where id = {}", at(3))).await;
    assert_eq!(gaps(&world, tenant).await, [Gap::Removed { position: 3, id: third }]);
    let change =
        format!("update audit set after = '{{\"scopes\": [\"admin\"]}}' where id = {}", at(5));
    forge(&world, &change).await;
    let changed = Gap::Changed { position: 5, id: fifth };
    assert_eq!(gaps(&world, tenant).await, [Gap::Removed { position: 3, id: third }, changed]);
    forge(&world, &format!("delete from audit_seal where audit_id = {}", at(3))).await;
    assert_eq!(gaps(&world, tenant).await, [Gap::Missing { first: 3, last: 3 }, changed]);
    forge(&world, &format!("delete from audit where id = {}", at(7))).await;
    forge(&world, &format!("delete from audit_seal where audit_id = {}", at(7))).await;
    let cut = Gap::Missing { first: 7, last: 7 };
    assert_eq!(gaps(&world, tenant).await, [Gap::Missing { first: 3, last: 3 }, changed, cut]);
    // What is sealed from here on follows what was there.
    rows_more(&world, tenant).await;
    assert_eq!(gaps(&world, tenant).await, [Gap::Missing { first: 3, last: 3 }, changed, cut]);
}

async fn rows_more(world: &World, tenant: TenantId) {
    let scope = TenantScope::of_role(tenant);
    let id = format!("{}a", "b".repeat(11));
    assert!(store::key::revoke(&world.api, &scope, None, &id).await.unwrap().is_some());
    assert_eq!(seal_all(world).await, 1);
}
