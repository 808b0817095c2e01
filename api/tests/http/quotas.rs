//! Quotas of a plan: what is refused, how it is said, and how exactly.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, NOOP, Server, config};
use domain::id::{PlanName, TenantId};
use domain::plan::PlanLimits;
use futures::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;
use store::audit::By;
use store::connect::SchedulerDb;
use store::tenant::{Count, NewTenant, TenantChange};
use testkit::poll::until_some;

/// A tenant on a plan of its own, and its key.
async fn tenant_on(server: &Server, limits: PlanLimits) -> (TenantId, String) {
    let plan: PlanName = "small".parse().unwrap();
    store::plan::put(&server.admin, &plan, None, &limits, By::SYSTEM).await.unwrap();
    let new = NewTenant { plan, ..NewTenant::named("small").unwrap() };
    store::tenant::create(&server.admin, &new, By::SYSTEM).await.unwrap();
    let key = server.new_key(new.id, &ALL_SCOPES).await;
    (new.id, key)
}

fn backlog(backlog: u32) -> PlanLimits {
    PlanLimits { backlog, ..PlanLimits::default() }
}

fn batch(tasks: usize) -> String {
    json!({"tasks": vec![json!({"run": {"noop": {}}}); tasks]}).to_string()
}

async fn live(server: &Server, tenant: TenantId) -> u64 {
    let sql = format!("select count(*) from task where tenant_id = '{}'", tenant.uuid());
    server.db.sql(&sql).await.unwrap().trim().parse().unwrap()
}

fn detail(answer: &Answer) -> String {
    answer.json()["detail"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn what_the_backlog_has_no_room_for_is_refused_with_the_quota_the_figures_and_the_next_plan()
{
    let server = Server::start().await;
    let (tenant, key) = tenant_on(&server, backlog(3)).await;
    for _ in 0..3 {
        assert_eq!(server.post_as(&key, "/v1/tasks", &[], NOOP).await.status, 201);
    }
    let refused = server.post_as(&key, "/v1/tasks", &[], NOOP).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "quota_exceeded"));
    assert!(refused.header("retry-after").is_some());
    let text = detail(&refused);
    for part in ["`backlog`", "3 of 3", "The plan `free` allows 1000."] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(live(&server, tenant).await, 3);
    // Room that comes back is seen within two seconds.
    let first = server.get_as(&key, "/v1/tasks").await.json()["data"][0]["id"].clone();
    let cancel = format!("/v1/tasks/{}/cancel", first.as_str().unwrap());
    assert_eq!(server.post_as(&key, &cancel, &[], "").await.status, 200);
    let taken = || async {
        (server.post_as(&key, "/v1/tasks", &[], NOOP).await.status == 201).then_some(())
    };
    until_some("room for one", Duration::from_secs(3), taken).await.unwrap();
    assert_eq!(live(&server, tenant).await, 3);
    // And a larger plan lifts it.
    let change = TenantChange { plan: Some(PlanName::default()), weight: None };
    store::tenant::change(&server.admin, tenant, &change, By::SYSTEM).await.unwrap();
    until_some("the larger plan", Duration::from_secs(3), taken).await.unwrap();
}

#[tokio::test]
async fn a_batch_is_stored_up_to_what_is_left_and_the_rest_refused_one_by_one() {
    let server = Server::start().await;
    let (tenant, key) = tenant_on(&server, backlog(10)).await;
    let answer = server.post_as(&key, "/v1/tasks/batch", &[], batch(14)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert_eq!((&json["accepted"], &json["rejected"]), (&json!(10), &json!(4)));
    let results = json["results"].as_array().unwrap();
    for (at, result) in results.iter().enumerate() {
        let code = result["error"]["code"].as_str();
        assert_eq!(code, (at >= 10).then_some("quota_exceeded"), "{result}");
    }
    assert_eq!(live(&server, tenant).await, 10);

    let keyed = [("Idempotency-Key", "a")];
    let none = server.post_as(&key, "/v1/tasks/batch", &keyed, batch(2)).await;
    assert_eq!((none.status, none.code().as_str()), (429, "quota_exceeded"));
    server.db.sql("delete from task").await.unwrap();
    let again = || async {
        let answer = server.post_as(&key, "/v1/tasks/batch", &keyed, batch(2)).await;
        (answer.status == 200).then(|| answer.json())
    };
    let stored =
        until_some("the key to be free still", Duration::from_secs(3), again).await.unwrap();
    assert_eq!(stored["accepted"], 2);
}

#[tokio::test]
async fn a_batch_of_lines_ends_where_there_is_no_room_and_says_where_to_go_on() {
    let server = Server::start().await;
    let (tenant, key) = tenant_on(&server, backlog(600)).await;
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/x-ndjson")];
    let body = format!("{NOOP}\n").repeat(1500);
    let answer = request(server.addr, "POST", "/v1/tasks/batch", &headers, body.as_bytes()).await;
    let text = String::from_utf8(answer.body).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["accepted"], &last["rejected"]), (&json!(600), &json!(400)));
    assert_eq!((&last["error"]["code"], &last["next"]), (&json!("quota_exceeded"), &json!(1000)));
    assert_eq!(live(&server, tenant).await, 600);
}

#[tokio::test]
async fn a_write_that_was_answered_before_is_answered_again_whatever_the_quota_says() {
    let server = Server::start().await;
    let (_, key) = tenant_on(&server, backlog(3)).await;
    let single = [("Idempotency-Key", "single")];
    let many = [("Idempotency-Key", "many")];
    let first = server.post_as(&key, "/v1/tasks", &single, NOOP).await;
    let batched = server.post_as(&key, "/v1/tasks/batch", &many, batch(2)).await;
    assert_eq!((first.status, batched.status), (201, 200));
    assert_eq!(server.post_as(&key, "/v1/tasks", &[], NOOP).await.code(), "quota_exceeded");
    let again = server.post_as(&key, "/v1/tasks", &single, NOOP).await;
    assert_eq!((again.status, again.json()["id"].clone()), (201, first.json()["id"].clone()));
    let again = server.post_as(&key, "/v1/tasks/batch", &many, batch(2)).await;
    assert_eq!((again.status, again.json()), (200, batched.json()));
    let other = server.post_as(&key, "/v1/tasks", &[("Idempotency-Key", "new")], NOOP).await;
    assert_eq!(other.code(), "quota_exceeded");
}

#[tokio::test]
async fn many_at_once_in_one_process_never_pass_the_limit() {
    let server = Server::start().await;
    let (tenant, key) = tenant_on(&server, backlog(100)).await;
    let singles = (0..150).map(|_| server.post_as(&key, "/v1/tasks", &[], NOOP));
    let batches = (0..10).map(|_| server.post_as(&key, "/v1/tasks/batch", &[], batch(10)));
    let (singles, batches) = tokio::join!(join_all(singles), join_all(batches));
    let stored = singles.iter().filter(|a| a.status == 201).count() as u64;
    assert!(singles.iter().all(|a| a.status == 201 || a.code() == "quota_exceeded"));
    let batched: u64 = batches
        .iter()
        .filter(|a| a.status == 200)
        .map(|a| a.json()["accepted"].as_u64().unwrap())
        .sum();
    let held = live(&server, tenant).await;
    // A count that falls between may see a few twice, and then a few less are let in.
    assert!((90..=100).contains(&held), "{held}");
    assert_eq!(stored + batched, held);
}

#[tokio::test]
async fn two_processes_together_pass_the_limit_by_no_more_than_a_second_of_submissions() {
    let server = Server::start().await;
    let twin = server.twin().await;
    let (tenant, key) = tenant_on(&server, backlog(400)).await;
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    // 100 a second at each, for twice as long as the quota lasts.
    let began = runtime::clock::monotonic();
    let mut fastest = 0u64;
    for tick in 0..40u32 {
        runtime::clock::sleep_until(began + Duration::from_millis(100) * tick).await;
        let body = batch(10);
        let both = [server.addr, twin.addr]
            .map(|addr| request(addr, "POST", "/v1/tasks/batch", &headers, body.as_bytes()));
        let stored: u64 = join_all(both)
            .await
            .iter()
            .filter(|a| a.status == 200)
            .map(|a| a.json()["accepted"].as_u64().unwrap())
            .sum();
        fastest = fastest.max(stored * 10);
    }
    let held = live(&server, tenant).await;
    assert!(held >= 400 && held <= 400 + fastest.max(4), "{held}, at {fastest} a second");
    assert_eq!(
        request(twin.addr, "POST", "/v1/tasks", &headers, NOOP.as_bytes()).await.code(),
        "quota_exceeded"
    );
}

/// So many tasks of a tenant, each of which is read in 50 ms when it is counted.
async fn slow(server: &Server, tenants: [TenantId; 2], tasks: u32) {
    let ids = tenants.map(|tenant| format!("'{}'", tenant.uuid()));
    for id in &ids {
        let fill = format!(
            "insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once)
                select {id}, gen_random_uuid(), 'default', 'ready', 'basic', 1, 1, 1, 1, 0, 1, now(), now(), 60000, 3, false, false
                from generate_series(1, {tasks})"
        );
        server.db.sql(&fill).await.unwrap();
    }
    let policy = format!(
        "create policy slow on task as restrictive for select to berth_submit
            using (tenant_id not in ({}) or pg_sleep(0.05)::text is not null)",
        ids.join(", ")
    );
    server.db.sql(&policy).await.unwrap();
}

#[tokio::test]
async fn a_tenant_that_takes_long_to_count_delays_no_other_and_is_not_refused_for_long() {
    let server = Server::start().await;
    let (small, small_key) = tenant_on(&server, backlog(500)).await;
    let large = server.tenant;
    let mut others = Vec::new();
    for n in 0..8 {
        let other = server.new_tenant(&format!("other {n}")).await;
        others.push(server.new_key(other, &ALL_SCOPES).await);
    }
    slow(&server, [small, large], 60).await;
    let submit = async |key: &str| {
        let began = runtime::clock::monotonic();
        (server.post_as(key, "/v1/tasks", &[], NOOP).await, began.elapsed())
    };
    // At first little is known of either: a thousandth of five million tasks is let in, and of 500 there is none.
    let (of_small, of_large) = tokio::join!(submit(&small_key), submit(&server.key));
    assert_eq!((of_small.0.status, of_small.0.code().as_str()), (503, "unavailable"));
    assert!(of_small.0.header("retry-after").is_some());
    assert_eq!(of_large.0.status, 201, "{of_large:?}");
    // Both are still being counted, one after the other.
    let mut waits = Vec::new();
    for key in &others {
        let (answer, took) = submit(key).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        waits.push(took);
    }
    println!("the others waited {waits:?}");
    waits.sort_unstable();
    assert!(waits[waits.len() / 2] < Duration::from_secs(1), "no longer than for their own");
    let taken = async || (submit(&small_key).await.0.status == 201).then_some(());
    until_some("the small one to be counted", Duration::from_secs(20), taken).await.unwrap();
    let shown = async || {
        let quotas = server.get("/v1/limits").await.json()["quotas"].clone();
        let backlog = quotas.as_array()?.iter().find(|quota| quota["name"] == "backlog")?;
        // What was submitted meanwhile may be counted twice for a while, and is never left out.
        (61..=62).contains(&backlog["used"].as_u64()?).then_some(())
    };
    until_some("all of the large one's", Duration::from_secs(20), shown).await.unwrap();
}

#[tokio::test]
async fn a_task_larger_than_the_plan_allows_is_refused_by_its_name() {
    let server = Server::start().await;
    let limits = PlanLimits { payload_bytes: 1024, ..PlanLimits::default() };
    let (tenant, key) = tenant_on(&server, limits).await;
    let task = |filling: usize| {
        json!({"run": {"command": {"argv": ["echo", "x".repeat(filling)]}}}).to_string()
    };
    assert_eq!(server.post_as(&key, "/v1/tasks", &[], task(900)).await.status, 201);
    let large = server.post_as(&key, "/v1/tasks", &[], task(1000)).await;
    assert_eq!((large.status, large.code().as_str()), (413, "payload_too_large"));
    let text = detail(&large);
    assert!(
        text.contains("`payload_bytes`") && text.contains("The plan `free` allows 65536."),
        "{text}"
    );
    let both = format!("{{\"tasks\":[{},{}]}}", task(10), task(1000));
    let json = server.post_as(&key, "/v1/tasks/batch", &[], both).await.json();
    assert_eq!(json["results"][1]["error"]["code"], "payload_too_large");
    assert_eq!(live(&server, tenant).await, 2);
    // Over the installation's own limit it is not the plan's matter.
    let huge = server.post("/v1/tasks", task(400_000)).await;
    assert_eq!(huge.status, 413);
    assert!(!detail(&huge).contains("plan"), "{huge:?}");
}

#[tokio::test]
async fn limits_are_shown_with_what_is_used_and_with_warnings() {
    let server = Server::start().await;
    let limits = PlanLimits { backlog: 10, retention_days: 3, ..PlanLimits::default() };
    let (tenant, key) = tenant_on(&server, limits).await;
    let shown = server.get_as(&key, "/v1/limits").await.json();
    assert_eq!((&shown["plan"], &shown["state"]), (&json!("small"), &json!("active")));
    assert_eq!((&shown["retention_days"], &shown["payload_bytes"]), (&json!(3), &json!(262_144)));
    let backlog = |shown: &Value| -> Value {
        let quotas = shown["quotas"].as_array().unwrap();
        quotas.iter().find(|quota| quota["name"] == "backlog").unwrap().clone()
    };
    assert_eq!(backlog(&shown), json!({"name": "backlog", "limit": 10, "used": 0}));
    assert_eq!(shown["warnings"], json!([]));

    assert_eq!(server.post_as(&key, "/v1/tasks/batch", &[], batch(8)).await.status, 200);
    assert_eq!(backlog(&server.get_as(&key, "/v1/limits").await.json())["used"], 8);
    // The scheduler looks; twice, as two of them would.
    let scheduler = SchedulerDb::connect(&config(&server.db, &[]).database).unwrap();
    for _ in 0..2 {
        let (mut count, limit) = (Count::default(), Duration::from_secs(5));
        let counting = store::tenant::count_slice(&scheduler, tenant, &mut count, 10, limit);
        let holding = counting.await.unwrap();
        store::tenant::tell_nearly_used(&scheduler, tenant, holding).await.unwrap();
    }
    let shown = server.get_as(&key, "/v1/limits").await.json();
    let warnings = shown["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0]["kind"], "quota_nearly_used");
    assert_eq!(warnings[0]["detail"], json!({"quota": "backlog", "used": 8, "limit": 10}));
}

#[tokio::test]
async fn what_is_held_is_counted_when_it_is_asked_for() {
    let server = Server::start().await;
    let (tenant, key) = tenant_on(&server, backlog(500)).await;
    let used = async || {
        let shown = server.get_as(&key, "/v1/limits").await.json();
        let quotas = shown["quotas"].as_array().unwrap().clone();
        quotas.iter().find(|quota| quota["name"] == "backlog").unwrap()["used"].clone()
    };
    assert_eq!(server.post_as(&key, "/v1/tasks/batch", &[], batch(8)).await.status, 200);
    assert_eq!(used().await, 8);
    server.db.sql("delete from task").await.unwrap();
    assert_eq!(used().await, 0, "what has ended is not counted any more");
    // A count that takes long is not made again for a while where nobody asks for it.
    slow(&server, [tenant, server.tenant], 10).await;
    assert_eq!(used().await, 10);
    server.db.sql("delete from task").await.unwrap();
    assert_eq!(used().await, 0);
}

#[tokio::test]
async fn a_shorter_retention_hides_older_tasks_and_nobody_elses() {
    let server = Server::start().await;
    let limits = PlanLimits { retention_days: 3, ..PlanLimits::default() };
    let (_, key) = tenant_on(&server, limits).await;
    let mut ids = Vec::new();
    for key in [&key, &server.key] {
        let id = server.post_as(key, "/v1/tasks", &[], NOOP).await.json()["id"].clone();
        let path = format!("/v1/tasks/{}", id.as_str().unwrap());
        assert_eq!(server.post_as(key, &format!("{path}/cancel"), &[], "").await.status, 200);
        assert_eq!(server.get_as(key, &path).await.status, 200);
        ids.push(path);
    }
    server.db.sql("update task_history set finished_at = now() - interval '4 days'").await.unwrap();
    let listed = async |key: &str| {
        server.get_as(key, "/v1/tasks").await.json()["data"].as_array().unwrap().len()
    };
    assert_eq!(
        (server.get_as(&key, &ids[0]).await.code().as_str(), listed(&key).await),
        ("not_found", 0)
    );
    assert_eq!((server.get(&ids[1]).await.status, listed(&server.key).await), (200, 1));
}
