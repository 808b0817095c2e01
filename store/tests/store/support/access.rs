//! Logging in as a role, and two tenants with something to see.

use super::world::World;
use domain::access::Role;
use domain::id::{NodeId, SignInId, TenantId, UserId};
use domain::task::{LeaseKey, State};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Executor};
use std::time::Duration;
use store::TenantScope;
use store::audit::By;
use store::idempotency::Once;
use store::key::NewKey;
use store::output::{NewChunk, Stream};
use store::sign_in::NewSignIn;
use store::user::{Created, Entry, NewUser};

pub async fn log_in(world: &World, role: &str) -> PgPool {
    let url = world.database.role_url(role).unwrap();
    PgPoolOptions::new().max_connections(1).connect(&url).await.unwrap()
}

/// The SQLSTATE with which the role is refused; `None` where it is not.
pub async fn refused(pool: &PgPool, sql: &str) -> Option<String> {
    let error = pool.execute(AssertSqlSafe(sql.to_owned())).await.err()?;
    Some(error.as_database_error().unwrap().code().unwrap().into_owned())
}

/// A key that reads and does not expire, not stored yet.
pub fn new_key(id: &str, tenant: TenantId) -> NewKey {
    NewKey {
        id: id.to_owned(),
        tenant,
        name: "ci".to_owned(),
        hash: vec![7; 32],
        scopes: vec!["read".to_owned()],
        expires_at: None,
    }
}

/// Two tenants with a task in each state, attempts, output, keys.
pub async fn two_tenants(world: &World) -> [TenantId; 2] {
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let tenants = [world.tenant().await, world.tenant().await];
    for (tenant, letter) in tenants.into_iter().zip(["a", "b"]) {
        for &state in State::ALL {
            let put = world.put(leader, owned, tenant, state).await;
            if state == State::Succeeded {
                let id = put.task.uuid();
                world
                    .sql(format!(
                        "insert into task_result (tenant_id, task_id, attempt, value, bytes, finished_at)
                            select tenant_id, id, attempt, '1', 1, finished_at from task_history where id = '{id}'"
                    ))
                    .await;
            }
            if state == State::Running {
                let (task, session) = (put.task, owned.session);
                let chunk = NewChunk {
                    lease: LeaseKey { tenant, task, attempt: 1, session },
                    stream: Stream::Stdout,
                    seq: 0,
                    offset: 0,
                    data: b"x".to_vec(),
                };
                assert_eq!(store::output::insert(&world.rm, &[chunk]).await.unwrap(), 1);
            }
        }
        store::key::create(&world.admin, new_key(&letter.repeat(12), tenant), By::SYSTEM)
            .await
            .unwrap();
        let hour = domain::rate::Hour::of(runtime::clock::wall());
        let used = store::rate::HourlyUse { tenant, hour, used: 1 };
        store::rate::checkpoint(&world.submit, &[used]).await.unwrap();
        let scope = TenantScope::of_role(tenant);
        let user = NewUser {
            id: UserId::fresh(),
            email: format!("{letter}@example.com"),
            role: Role::Owner,
            entry: Entry::Password("$argon2id$".to_owned()),
        };
        let (id, hash) = (user.id, [letter.as_bytes()[0]; 32]);
        let made = store::user::create(&world.api, &scope, user, None, |_| Vec::new()).await;
        assert!(matches!(made.unwrap(), Once::Done(Created::Done(_))));
        let sign_in = NewSignIn {
            id: SignInId::fresh(),
            tenant,
            user: id,
            token_version: 1,
            refresh_hash: hash,
            life: Duration::from_secs(3600),
        };
        store::sign_in::begin(&world.submit, sign_in, By::SYSTEM).await.unwrap();
        let idempotency = store::idempotency::IdempotencyKey {
            route: "r".to_owned(),
            key: "k".to_owned(),
            body_hash: [1; 32],
        };
        let scope = TenantScope::of_role(tenant);
        store::idempotency::begin(&world.api, &scope, &idempotency).await.unwrap();
        store::concurrency::put(&world.api, &scope, &"exports".parse().unwrap(), 2).await.unwrap();
        let schedule = crate::support::new_schedule("nightly");
        store::schedule::put(&world.api, &scope, &schedule).await.unwrap();
        has_webhook(world, tenant).await;
        let told = format!(
            "insert into schedule_fire (tenant_id, schedule_id, due_at, outcome, kind, fired_at, version)
                select '{0}', id, now(), 'paused', 'scheduled', now(), 1 from schedule where tenant_id = '{0}';
            insert into schedule_backfill (tenant_id, schedule_id, reached, until, per_second, key_id)
                select '{0}', id, now(), now(), 1, 'aaaaaaaaaaaa' from schedule where tenant_id = '{0}';
            insert into schedule_span (schedule_id, version, tenant_id, until, timing, template, overlap, misfire, paused)
                select id, version, tenant_id, now(), timing, template, overlap, misfire, false from schedule where tenant_id = '{0}';
            insert into tenant_past_state values ('{0}', now(), 'suspended');
            insert into tenant_quota_level values ('{0}', 'backlog', true);
            insert into event_consumer values ('{0}', 'live_x', now());
            insert into task_event (tenant_id, kind, detail) values ('{0}', 'quota_nearly_used', '{{}}')",
            tenant.uuid()
        );
        world.sql(told).await;
    }
    tenants
}

/// A webhook with a delivery.
async fn has_webhook(world: &World, tenant: TenantId) {
    let sql = format!(
        "insert into webhook (id, tenant_id, name, spec, ordered, paused, secret, txid, seq)
            values (gen_random_uuid(), '{0}', 'w', '{{}}', false, false, 's', 0, 0);
        insert into webhook_delivery (tenant_id, webhook_id, id, at, event_type, subject, seq, body, since, due_at)
            select '{0}', id, gen_random_uuid(), now(), 't', 's', 0, '{{}}', now(), now() from webhook where tenant_id = '{0}'",
        tenant.uuid()
    );
    world.sql(sql).await;
}
