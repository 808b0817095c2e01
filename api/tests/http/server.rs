//! One test's API: its own database, its own port, tenants and keys as needed.

use crate::client::{Answer, request};
use api::Handle;
use domain::id::TenantId;
use identity::key::{generate, generate_operator};
use runtime::config::{Config, ExposeSecret, SecretString, load_from};
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::TaskGroup;
use std::net::SocketAddr;
use store::audit::By;
use store::connect::AdminDb;
use store::key::NewKey;
use store::operator_key::NewOperatorKey;
use store::tenant::{Created, NewTenant};
use testkit::db::{SERVICE_PASSWORD, TestDatabase};

pub const ALL_SCOPES: [&str; 4] = ["read", "submit", "approve", "admin"];
const HASH_SECRET: &str = "f3a9c1e07b5d42688e61d0c4ab927f35";

/// A running API with one tenant and a key that may do everything.
pub struct Server {
    pub addr: SocketAddr,
    pub tenant: TenantId,
    pub key: String,
    pub db: TestDatabase,
    pub admin: AdminDb,
    pub stop: ShutdownHandle,
    pub handle: Option<Handle>,
}

/// A second process on the same database.
pub struct Twin {
    pub addr: SocketAddr,
    _stop: ShutdownHandle,
    _handle: Handle,
}

impl Server {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// With further settings, as in the environment.
    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        let db = TestDatabase::new().await.unwrap();
        let config = config(&db, settings);
        // Shown for tests that fail. Set once a process: a second server's fails, and logs to the first's.
        let _set_before = runtime::telemetry::init("test", &config.telemetry);
        let admin = AdminDb::connect(&config.database).unwrap();
        let (stop, shutdown) = Shutdown::new();
        let bus = bus::Bus::connect(&config.bus, &TaskGroup::new(), &shutdown).unwrap();
        let handle = api::start(&config, bus, shutdown).await.unwrap();
        let mut server = Self {
            addr: handle.addr,
            tenant: TenantId::fresh(),
            key: String::new(),
            db,
            admin,
            stop,
            handle: Some(handle),
        };
        server.tenant = server.new_tenant("first").await;
        server.key = server.new_key(server.tenant, &ALL_SCOPES).await;
        server
    }

    /// Another process on the same database.
    pub async fn twin(&self) -> Twin {
        self.twin_with(&[]).await
    }

    /// With further settings.
    pub async fn twin_with(&self, settings: &[(&str, &str)]) -> Twin {
        let config = config(&self.db, settings);
        let (stop, shutdown) = Shutdown::new();
        let bus = bus::Bus::connect(&config.bus, &TaskGroup::new(), &shutdown).unwrap();
        let handle = api::start(&config, bus, shutdown).await.unwrap();
        Twin { addr: handle.addr, _stop: stop, _handle: handle }
    }

    pub async fn new_tenant(&self, name: &str) -> TenantId {
        let new = NewTenant::named(name).unwrap();
        assert_eq!(
            store::tenant::create(&self.admin, &new, By::SYSTEM).await.unwrap(),
            Created::Yes
        );
        new.id
    }

    pub async fn new_key(&self, tenant: TenantId, scopes: &[&str]) -> String {
        let key = generate("live", &secret()).unwrap();
        let new = NewKey {
            id: key.id,
            tenant,
            name: "test".to_owned(),
            hash: key.hash.to_vec(),
            scopes: scopes.iter().map(ToString::to_string).collect(),
            expires_at: None,
        };
        store::key::create(&self.admin, new, By::SYSTEM).await.unwrap();
        key.text.expose_secret().to_owned()
    }

    /// A key of the platform's operators.
    pub async fn new_operator(&self, name: &str, scopes: &[&str]) -> String {
        let key = generate_operator("live", &secret()).unwrap();
        let new = NewOperatorKey {
            id: key.id,
            name: name.to_owned(),
            hash: key.hash.to_vec(),
            scopes: scopes.iter().map(ToString::to_string).collect(),
            expires_at: None,
        };
        assert!(store::operator_key::create(&self.admin, new, By::SYSTEM).await.unwrap().is_some());
        key.text.expose_secret().to_owned()
    }

    pub async fn get(&self, target: &str) -> Answer {
        self.get_as(&self.key, target).await
    }

    pub async fn get_as(&self, key: &str, target: &str) -> Answer {
        let bearer = format!("Bearer {key}");
        checked(request(self.addr, "GET", target, &[("Authorization", &bearer)], b"").await)
    }

    pub async fn post(&self, target: &str, body: impl AsRef<[u8]>) -> Answer {
        self.post_with(target, &[], body).await
    }

    /// Posts JSON with further headers.
    pub async fn post_with(
        &self,
        target: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        self.post_as(&self.key, target, headers, body).await
    }

    pub async fn post_as(
        &self,
        key: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        self.send_json((key, "POST", target), headers, body.as_ref()).await
    }

    async fn send_json(
        &self,
        (key, verb, target): (&str, &str, &str),
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let bearer = format!("Bearer {key}");
        let mut all =
            vec![("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        all.extend_from_slice(headers);
        checked(request(self.addr, verb, target, &all, body).await)
    }

    /// Submits a task that does nothing and gives its id.
    pub async fn noop(&self) -> String {
        let answer = self.post("/v1/tasks", NOOP).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Submits such a task, cancels it and gives its id.
    async fn cancelled(&self) -> String {
        let id = self.noop().await;
        let answer = self.post(&format!("/v1/tasks/{id}/cancel"), "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        id
    }

    /// A path with parts that exist, made for this call: it may be asked to end them.
    pub async fn filled(&self, path: &str) -> String {
        let path = path.replace("{file}", "swagger-ui.css");
        let path = if path.starts_with("/v1/webhooks/{name}") {
            path.replace("{name}", self.webhook().await)
        } else if path.starts_with("/v1/schedules/{name}") {
            path.replace("{name}", &self.schedule().await)
        } else if path.starts_with("/v1/workflows/{name}") {
            path.replace("{name}", &self.workflow().await).replace("{version}", "1")
        } else {
            path.replace("{name}", "free")
        };
        if path.starts_with("/v1/admin/pools/") {
            let free = "insert into pool (name) values ('free') on conflict do nothing";
            self.db.sql(free).await.unwrap();
        }
        if path.starts_with("/v1/admin/price-books/") {
            let book = crate::matrix::PRICE_BOOK;
            let free = format!(
                "insert into price_book (name, document) values ('free', '{book}') on conflict do nothing"
            );
            self.db.sql(&free).await.unwrap();
        }
        if path.starts_with("/v1/spend-caps/") {
            let free = format!(
                "with cap as (insert into spend_cap (tenant_id, name, scope, period, zone, amount, currency)
                    values ('{}', 'free', 'tenant', 'month', 'UTC', 5, 'EUR') on conflict do nothing returning tenant_id, id)
                insert into spend_share (tenant_id, cap_id, share, period_start, free, spent)
                select c.tenant_id, c.id, n.share, now(), case when n.share = 0 then 5 else 0 end, 0
                from cap c cross join generate_series(0, 7) n(share)",
                self.tenant.uuid()
            );
            self.db.sql(&free).await.unwrap();
        }
        let path = path.replace("{key}", "exports");
        let path = match path.contains("{key_id}") {
            true => path.replace("{key_id}", &self.key_id().await),
            false => path,
        };
        let path = match path.contains("{login}") {
            true => path.replace("{login}", &self.user_id().await),
            false => path,
        };
        let path = match path.contains("{number}") {
            true => {
                let draft = path.ends_with("/finalize");
                let number = match draft {
                    true => self.draft(self.tenant).await,
                    false => self.invoice(self.tenant).await,
                };
                path.replace("{number}", &number).replace("{line}", "1")
            }
            false => path,
        };
        if !path.contains("{id}") {
            return path;
        }
        let id = match path.split('/').nth(2).unwrap() {
            "tasks" if path.ends_with("/result") => {
                self.ended("succeeded", Some("{\"a\":1}")).await
            }
            // Of those that wait none has failed.
            "tasks" if path.ends_with("/retry") => self.cancelled().await,
            "tasks" if path.ends_with("/approve") || path.ends_with("/reject") => {
                self.waiting().await
            }
            "tasks" => self.noop().await,
            "workflow-runs" if path.ends_with("/rerun") => self.ended_run().await,
            "workflow-runs" => self.run().await,
            "keys" => self.key_id().await,
            "users" => self.user_id().await,
            "webhooks" => self.delivery().await,
            // Those of others are not found; that one's own are is in `users`.
            "sessions" => domain::id::SignInId::fresh().to_string(),
            "admin" if path.starts_with("/v1/admin/operator-keys/") => {
                let key = self.new_operator(&TenantId::fresh().to_string(), &["read"]).await;
                key.split('_').nth(2).unwrap().to_owned()
            }
            "admin" => self.tenant.to_string(),
            other => panic!("nothing is known of {other}: a new route needs its own thing here"),
        };
        path.replace("{id}", &id)
    }

    /// The name of a webhook.
    async fn webhook(&self) -> &'static str {
        let sql = format!(
            "insert into webhook (id, tenant_id, name, spec, ordered, paused, secret, txid, seq)
                values (gen_random_uuid(), '{}', 'free', '{}', false, false, 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz', 0, 0)
                on conflict do nothing",
            self.tenant.uuid(),
            r#"{"url":"https://a.example/","events":[],"name":null,"labels":{},"schedule":null,"workflow":null,"headers":{},"payload":null,"ordered":false,"paused":false}"#,
        );
        self.db.sql(&sql).await.unwrap();
        "free"
    }

    /// The id of a delivery of it.
    pub async fn delivery(&self) -> String {
        self.webhook().await;
        let made = self.post("/v1/webhooks/free/test", "").await;
        assert_eq!(made.status, 202, "{made:?}");
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// The number of a final invoice of the present days, of which each attempt of the tier `basic` is in the first line.
    pub async fn invoice(&self, tenant: TenantId) -> String {
        self.priced(tenant).await;
        let line = |line: u32, kind: &str, tier: &str| {
            format!(
                r#"{{"line":{line},"kind":"{kind}","description":"{kind}","tier":{tier},"quantity":2,"amount":1000000}}"#
            )
        };
        let lines = [line(1, "attempts", "\"basic\""), line(2, "tasks", "null")].join(",");
        let sql = format!(
            "with next as (select coalesce(max(sequence), 0) + 1 as n from invoice where tenant_id = '{0}'),
                made as (select n, ('2000-01-01'::date + n * interval '1 month')::date as month from next)
            insert into invoice (tenant_id, number, sequence, month, currency, zone, starts_at, ends_at, total, document)
            select '{0}', to_char(month, 'YYYY-MM-') || to_char(n, 'fm0000'), n, month, 'EUR', 'UTC', now() - interval '1 day',
                now() + interval '1 day', 2000000, '{{\"seller\":\"Berth\",\"customer\":{{\"name\":\"first\",\"address\":\"A\"}},\"lines\":[{lines}]}}'
            from made returning number",
            tenant.uuid()
        );
        self.db.sql(&sql).await.unwrap().lines().next().unwrap().to_owned()
    }

    /// The name of a draft whose month is over and counted.
    pub async fn draft(&self, tenant: TenantId) -> String {
        self.priced(tenant).await;
        let sql = format!(
            "update event_cursor set seq = -1, at = now() where consumer = 'usage';
            insert into tenant_billing (tenant_id, month, starts_at, ends_at) values ('{0}', '2020-01-01', '2020-01-01Z', '2020-02-01Z')
                on conflict (tenant_id) do update set month = '2020-01-01', starts_at = '2020-01-01Z', ends_at = '2020-02-01Z';
            insert into usage_rollup values ('{0}', 'tier', '2020-01-15Z', '', 'basic', false, 'billed', 1, 1, 1, 60000, 1, 2, 3, 4, 5, 1000000, 0)
                on conflict do nothing",
            tenant.uuid()
        );
        self.db.sql(&sql).await.unwrap();
        "2020-01-EUR".to_owned()
    }

    /// The tenant's plan has always had prices.
    async fn priced(&self, tenant: TenantId) {
        let book = crate::matrix::PRICE_BOOK;
        let sql = format!(
            "insert into price_book (name, document) values ('billed', '{book}') on conflict do nothing;
            insert into plan_billing (plan, since, billing) values ('default', '2000-01-01', '{{\"price_book\": \"billed\"}}') on conflict do nothing;
            delete from plan_billing where plan = 'default' and since > '2000-01-01';
            insert into tenant_plan (tenant_id, since, plan) values ('{}', '2000-01-01', 'default') on conflict do nothing",
            tenant.uuid()
        );
        self.db.sql(&sql).await.unwrap();
    }

    /// The id of a task that has ended in this state, with what it returned.
    pub async fn ended(&self, state: &str, result: Option<&str>) -> String {
        let id = self.noop().await;
        self.end(&id, state, None).await;
        let hex = id.trim_start_matches("task_");
        if let Some(json) = result {
            let sql = format!(
                "insert into task_result (tenant_id, task_id, attempt, value, bytes, finished_at)
                select tenant_id, id, 1, $json${json}$json$, octet_length($json${json}$json$), finished_at
                from task_history where id = '{hex}'"
            );
            self.db.sql(&sql).await.unwrap();
        }
        id
    }

    /// Ends a task in this state.
    pub async fn end(&self, id: &str, state: &str, exit_code: Option<i32>) {
        let hex = id.trim_start_matches("task_");
        let columns = "tenant_id, id, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at, start_deadline, cap_ms, \
                       failures, max_attempts, expire_if_late, at_most_once";
        let code = exit_code.map_or_else(|| "null::integer".to_owned(), |code| code.to_string());
        let sql = format!(
            "with gone as (delete from task where id = '{hex}' returning *)
            insert into task_history ({columns}, state, attempt, first_started_at, finished_at, exit_code)
            select {columns}, '{state}', 1, now(), now(), {code} from gone"
        );
        self.db.sql(&sql).await.unwrap();
    }

    /// The name of a fresh schedule of the tenant, that is due in years only.
    pub async fn schedule(&self) -> String {
        let name = format!("s{}", domain::id::ScheduleId::fresh().uuid().simple());
        let made = self.put_as(&self.key, &format!("/v1/schedules/{name}"), &[], SCHEDULE).await;
        assert_eq!(made.status, 201, "{made:?}");
        name
    }

    /// The name of a fresh workflow of the tenant.
    pub async fn workflow(&self) -> String {
        let name = format!("w{}", domain::id::ScheduleId::fresh().uuid().simple());
        let made = self.put_as(&self.key, &format!("/v1/workflows/{name}"), &[], WORKFLOW).await;
        assert_eq!(made.status, 201, "{made:?}");
        name
    }

    /// The id of a fresh workflow run of the tenant.
    pub async fn run(&self) -> String {
        let made = self.post("/v1/workflow-runs", format!(r#"{{"definition":{WORKFLOW}}}"#)).await;
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// The id of a workflow run whose tasks have failed.
    pub async fn ended_run(&self) -> String {
        let id = self.run().await;
        let hex = id.trim_start_matches("run_");
        let columns = "tenant_id, id, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at, start_deadline, cap_ms, \
                       failures, max_attempts, expire_if_late, at_most_once";
        let sql = format!(
            "with gone as (delete from task where run_id = '{hex}' returning *)
            insert into task_history ({columns}, state, attempt, first_started_at, finished_at)
            select {columns}, 'failed', 1, now(), now() from gone;
            delete from task_edge;
            update workflow_run set state = 'failed', ended = total, failed = total, finished_at = now() where id = '{hex}'"
        );
        self.db.sql(&sql).await.unwrap();
        id
    }

    /// The id of a task that waits for a person.
    pub async fn waiting(&self) -> String {
        let id = self.noop().await;
        let hex = id.trim_start_matches("task_");
        let sql = format!(
            "update task set state = 'scheduled', run_id = gen_random_uuid(), gate = 'waiting', wake_at = null where id = '{hex}'"
        );
        self.db.sql(&sql).await.unwrap();
        id
    }

    /// Puts JSON with further headers.
    pub async fn put_as(
        &self,
        key: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        self.send_json((key, "PUT", target), headers, body.as_ref()).await
    }

    /// The id of a fresh user of the tenant, who has no password.
    pub async fn user_id(&self) -> String {
        let id = domain::id::UserId::fresh();
        let (tenant, email) = (self.tenant.uuid(), id.uuid().simple());
        let sql = format!(
            "insert into app_user (id, tenant_id, email, role, state)
             values ('{}', '{tenant}', '{email}@example.com', 'viewer', 'invited')",
            id.uuid()
        );
        self.db.sql(&sql).await.unwrap();
        id.to_string()
    }

    /// The id of a fresh key of the tenant, with the scope `admin`.
    pub async fn key_id(&self) -> String {
        let key = self.new_key(self.tenant, &["admin"]).await;
        key.split('_').nth(2).unwrap().to_owned()
    }

    /// Rows in the tables a submit writes to.
    pub async fn stored(&self) -> i64 {
        let count = "select (select count(*) from task) + (select count(*) from task_spec)
            + (select count(*) from task_history) + (select count(*) from idempotency)";
        self.db.sql(count).await.unwrap().trim().parse().unwrap()
    }
}

pub const NOOP: &str = r#"{"run":{"noop":{}}}"#;
/// A schedule that is due in years only.
pub const SCHEDULE: &str = r#"{"timing":{"specs":[{"yearly":{"on":["02-29"],"at":["12:00"]}}],"start_at":"2090-01-01T00:00:00Z"},
    "task":{"run":{"noop":{}}}}"#;

/// A workflow of two nodes.
pub const WORKFLOW: &str = r#"{"nodes":{"a":{"task":{"run":{"noop":{}}}},"b":{"after":["a"],"task":{"run":{"noop":{}}}}}}"#;

pub fn secret() -> SecretString {
    SecretString::from(HASH_SECRET.to_owned())
}

pub fn config(db: &TestDatabase, settings: &[(&str, &str)]) -> Config {
    let mut environment = vec![
        ("BERTH_DATABASE__URL".to_owned(), db.owner_url().to_owned()),
        ("BERTH_DATABASE__SERVICE_PASSWORD".to_owned(), SERVICE_PASSWORD.to_owned()),
        ("BERTH_API__LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
        ("BERTH_AUTH__KEY_HASH_SECRET".to_owned(), HASH_SECRET.to_owned()),
        ("BERTH_BUS__KIND".to_owned(), "in_process".to_owned()),
        ("BERTH_TELEMETRY__LOG".to_owned(), "warn".to_owned()),
    ];
    environment
        .extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    load_from(None, environment).unwrap()
}

/// What holds for every answer.
fn checked(answer: Answer) -> Answer {
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
    assert!(answer.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{answer:?}");
    assert!(answer.header("access-control-allow-origin").is_none());
    assert_ne!(answer.status, 500, "{answer:?}");
    if answer.status >= 400 {
        answer.code();
    }
    answer
}
