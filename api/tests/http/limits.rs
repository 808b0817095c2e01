//! Rate limits of one api process: what is refused, how it is told, and what costs nothing.

use crate::client::{Answer, request};
use crate::server::{NOOP, Server};
use domain::id::PlanName;
use domain::plan::PlanLimits;
use serde_json::{Value, json};
use std::time::Duration;
use store::audit::By;
use testkit::poll::{until, until_some};
use testkit::services::PrivateRedis;

const SOON: Duration = Duration::from_secs(10);

/// A server whose tenant may submit `per_second` tasks a second, `burst` at once and `per_hour` an hour.
pub async fn limited(settings: &[(&str, &str)], rates: (u32, u32, u32)) -> Server {
    let server = Server::start_with(settings).await;
    put_on_plan(&server, rates).await;
    server
}

/// Makes the tenant's plan; one that is in use already is felt when the key's look-up is a second old.
pub async fn put_on_plan(server: &Server, (per_second, burst, per_hour): (u32, u32, u32)) {
    let limits = PlanLimits {
        submits_per_second: per_second,
        submit_burst: burst,
        submits_per_hour: per_hour,
        ..PlanLimits::default()
    };
    let plan: PlanName = "tested".parse().unwrap();
    store::plan::put(&server.admin, &plan, None, &limits, By::SYSTEM).await.unwrap();
    let id = server.tenant.uuid();
    server.db.sql(&format!("update tenant set plan = 'tested' where id = '{id}'")).await.unwrap();
}

/// A test that counts an hour must not meet its end.
pub async fn early_in_the_hour() {
    let is_early = async || {
        let now = runtime::clock::wall();
        domain::rate::Hour::of(now).left(now) >= Duration::from_secs(30)
    };
    until("the next hour", Duration::from_secs(40), is_early).await.unwrap();
}

fn batch(count: usize) -> String {
    json!({ "tasks": vec![json!({"run": {"noop": {}}}); count] }).to_string()
}

async fn lines(server: &Server, count: usize, key: Option<&str>) -> Answer {
    let body = format!("{NOOP}\n").repeat(count);
    let bearer = format!("Bearer {}", server.key);
    let mut headers =
        vec![("Authorization", bearer.as_str()), ("Content-Type", "application/x-ndjson")];
    headers.extend(key.map(|key| ("Idempotency-Key", key)));
    request(server.addr, "POST", "/v1/tasks/batch", &headers, body.as_bytes()).await
}

fn parsed(answer: &Answer) -> Vec<Value> {
    let text = std::str::from_utf8(&answer.body).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn stored_tasks(server: &Server) -> u64 {
    server.db.sql("select count(*) from task").await.unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn over_its_rate_a_tenant_is_told_which_limit_when_to_come_back_and_what_lifts_it() {
    let server = limited(&[], (1, 5, 0)).await;
    for _ in 0..5 {
        assert_eq!(server.post("/v1/tasks", NOOP).await.status, 201);
    }
    let answer = server.post("/v1/tasks", NOOP).await;
    assert_eq!((answer.status, answer.code().as_str()), (429, "rate_limited"));
    assert_eq!(answer.header("retry-after"), Some("1"));
    let problem = answer.json();
    assert_eq!(problem["limit"], "submits_per_second");
    assert_eq!(problem["retryable"], true);
    let retry_at: chrono::DateTime<chrono::Utc> =
        problem["retry_at"].as_str().unwrap().parse().unwrap();
    let ahead = retry_at - runtime::clock::wall();
    assert!(ahead <= chrono::TimeDelta::seconds(1), "{ahead}");
    // The plans of a new installation: `free` allows 10 a second, and of those that allow more the least is named.
    let named = || async {
        let answer = server.post("/v1/tasks", NOOP).await;
        (answer.status == 429 && answer.json()["lifted_by"] == "free").then_some(())
    };
    let limit = std::time::Duration::from_secs(10);
    testkit::poll::until_some("the plan that lifts it to be named", limit, named).await.unwrap();
    // Reading costs nothing, and after the named time there is room again.
    assert_eq!(server.get("/v1/tasks").await.status, 200);
    let again = || async { (server.post("/v1/tasks", NOOP).await.status == 201).then_some(()) };
    testkit::poll::until_some("a token", limit, again).await.unwrap();
}

#[tokio::test]
async fn every_answer_to_a_tenant_says_what_is_left() {
    let server = limited(&[], (2, 10, 100)).await;
    let policy = "\"default\";q=2;w=1;berth-burst=10, \"hourly\";q=100;w=3600";
    let read = server.get("/v1/tasks").await;
    assert_eq!(read.header("ratelimit-policy"), Some(policy));
    let left = read.header("ratelimit").unwrap();
    assert!(left.starts_with("\"default\";r=10;t=0, \"hourly\";r=100;t="), "{left}");
    let made = server.post("/v1/tasks", NOOP).await;
    let left = made.header("ratelimit").unwrap();
    assert!(left.starts_with("\"default\";r=9;t=1, \"hourly\";r=99;t="), "{left}");
    for (status, answer) in [
        (404, server.get(&format!("/v1/tasks/task_{}", "0".repeat(32))).await),
        (422, server.post("/v1/tasks", "{\"run\": {}}").await),
        (400, server.post("/v1/tasks", "{").await),
    ] {
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.header("ratelimit-policy"), Some(policy), "{answer:?}");
        assert!(answer.header("ratelimit").is_some());
    }
    // Nobody is told of a tenant without its key.
    for key in ["", "berth_live_x"] {
        assert_eq!(server.get_as(key, "/v1/tasks").await.header("ratelimit-policy"), None);
    }
}

#[tokio::test]
async fn a_batch_is_admitted_as_far_as_the_tokens_go_and_the_rest_is_refused_one_by_one() {
    let server = limited(&[], (1, 20, 0)).await;
    let answer = server.post("/v1/tasks/batch", batch(30)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert_eq!((&json["accepted"], &json["rejected"]), (&json!(20), &json!(10)));
    for (index, result) in json["results"].as_array().unwrap().iter().enumerate() {
        assert_eq!(result["index"], index);
        assert_eq!(result.get("task").is_some(), index < 20, "{result}");
        if index >= 20 {
            let error = &result["error"];
            assert_eq!((&error["code"], &error["status"]), (&json!("rate_limited"), &json!(429)));
            assert!(error["retry_at"].is_string() && error["limit"] == "submits_per_second");
        }
    }
    assert_eq!(stored_tasks(&server).await, 20);
    // Nothing is left: now the whole request is refused.
    let answer = server.post("/v1/tasks/batch", batch(3)).await;
    assert_eq!((answer.status, answer.code().as_str()), (429, "rate_limited"));
    assert!(answer.header("retry-after").is_some());
}

#[tokio::test]
async fn lines_are_admitted_slice_by_slice() {
    let server = limited(&[], (1, 620, 0)).await;
    let answer = lines(&server, 1200, None).await;
    assert_eq!(answer.status, 200);
    let said = parsed(&answer);
    let summary = said.last().unwrap();
    let accepted = summary["accepted"].as_u64().unwrap();
    // 500 of the first slice, the rest of the second, and what flowed in meanwhile of the third.
    assert!((620..640).contains(&accepted), "{summary}");
    assert_eq!(summary["rejected"].as_u64().unwrap(), 1200 - accepted);
    assert_eq!(stored_tasks(&server).await, accepted);
    for line in &said[1100..1150] {
        assert_eq!(line["error"]["code"], "rate_limited", "{line}");
        assert!(line["error"]["retry_at"].is_string());
    }
    let answer = lines(&server, 700, None).await;
    // A token may have flowed in; then its one line is admitted.
    let (status, admitted) = (answer.status, stored_tasks(&server).await - accepted);
    assert!(status == 429 && admitted == 0 || status == 200 && admitted > 0, "{status} {admitted}");
}

#[tokio::test]
async fn a_slice_of_which_nothing_was_admitted_can_be_sent_again_under_its_key() {
    let server = limited(&[], (1, 500, 0)).await;
    let first = parsed(&lines(&server, 520, Some("k")).await);
    let accepted = first.last().unwrap()["accepted"].as_u64().unwrap();
    assert!((500..520).contains(&accepted));
    if accepted > 500 {
        return; // Slow enough for a token to flow in: then the slice was admitted in part, and is remembered.
    }
    put_on_plan(&server, (1000, 1000, 0)).await;
    // Before there is room for all of the slice it would be admitted in part, and be remembered.
    let room = || async {
        let rates = server.get("/v1/limits").await.json()["rates"].clone();
        (rates[0]["left"].as_u64()? >= 20).then_some(())
    };
    let limit = std::time::Duration::from_secs(10);
    testkit::poll::until_some("room for the rest", limit, room).await.unwrap();
    let said = parsed(&lines(&server, 520, Some("k")).await);
    assert_eq!(said.last().unwrap()["accepted"], 520);
    assert_eq!(said[..500], first[..500], "the first slice is replayed");
    assert_eq!(stored_tasks(&server).await, 520);
}

#[tokio::test]
async fn a_repeated_request_and_one_with_mistakes_cost_nothing() {
    early_in_the_hour().await;
    let server = limited(&[], (1, 40, 40)).await;
    let key = [("Idempotency-Key", "once")];
    for n in 0..30 {
        let answer = server.post_with("/v1/tasks", &key, NOOP).await;
        assert_eq!(answer.status, 201);
        assert_eq!(answer.header("idempotency-replayed").is_some(), n > 0);
    }
    let key = [("Idempotency-Key", "batch")];
    for _ in 0..10 {
        let answer = server.post_with("/v1/tasks/batch", &key, batch(9)).await;
        assert_eq!(answer.json()["accepted"], 9, "{answer:?}");
    }
    for _ in 0..50 {
        assert_eq!(server.post("/v1/tasks", r#"{"run": {"noop": {"nap": 1}}}"#).await.status, 422);
    }
    let other = r#"{"run": {"noop": {}}, "name": "other"}"#;
    let other = server.post_with("/v1/tasks", &[("Idempotency-Key", "once")], other).await;
    assert_eq!(other.code(), "idempotency_key_reuse");
    let left = server.get("/v1/tasks").await;
    let left = left.header("ratelimit").unwrap();
    assert!(left.contains("\"hourly\";r=30;"), "1 and 9 of 40: {left}");
    assert_eq!(server.post("/v1/tasks/batch", batch(40)).await.json()["accepted"], 30);
    assert_eq!(stored_tasks(&server).await, 40);
}

#[tokio::test]
async fn at_an_exhausted_limit_a_repeated_request_is_answered_and_lets_nothing_in() {
    early_in_the_hour().await;
    let server = limited(&[], (10_000, 10_000, 612)).await;
    let (once, many) = ([("Idempotency-Key", "once")], [("Idempotency-Key", "many")]);
    let single = server.post_with("/v1/tasks", &once, NOOP).await;
    let batched = server.post_with("/v1/tasks/batch", &many, batch(11)).await;
    let lined = lines(&server, 600, Some("lines")).await;
    assert_eq!((single.status, batched.status, lined.status), (201, 200, 200));
    assert_eq!(stored_tasks(&server).await, 612);
    assert_eq!(server.post("/v1/tasks", NOOP).await.code(), "rate_limited");
    for _ in 0..20 {
        let again = server.post_with("/v1/tasks", &once, NOOP).await;
        assert_eq!((again.status, again.json()["id"].clone()), (201, single.json()["id"].clone()));
        assert!(again.header("idempotency-replayed").is_some());
    }
    let again = server.post_with("/v1/tasks/batch", &many, batch(11)).await;
    assert_eq!((again.status, again.json()), (200, batched.json()));
    let again = lines(&server, 600, Some("lines")).await;
    assert_eq!((again.status, parsed(&again)), (200, parsed(&lined)), "each of its slices");
    // Another body, another key, and a slice that was never sent are no repetition.
    let other = r#"{"run": {"noop": {}}, "name": "other"}"#;
    let other = server.post_with("/v1/tasks", &once, other).await;
    assert_eq!(other.code(), "idempotency_key_reuse");
    for key in ["new", "many"] {
        let new = server.post_with("/v1/tasks", &[("Idempotency-Key", key)], NOOP).await;
        assert_eq!(
            (new.status, new.code().as_str()),
            (429, "rate_limited"),
            "keys are apart by route"
        );
    }
    let longer = parsed(&lines(&server, 1100, Some("longer")).await);
    assert_eq!(longer[0]["code"], "rate_limited");
    assert_eq!(stored_tasks(&server).await, 612);
}

#[tokio::test]
async fn no_more_looking_up_of_keys_than_a_repeating_client_needs() {
    early_in_the_hour().await;
    let server = limited(&[], (10_000, 10_000, 1)).await;
    let key = [("Idempotency-Key", "once")];
    assert_eq!(server.post_with("/v1/tasks", &key, NOOP).await.status, 201);
    let began = runtime::clock::monotonic();
    let floods = (0..8).map(|flood| {
        let server = &server;
        async move {
            for n in 0..100 {
                let key = format!("{flood}-{n}");
                let answer =
                    server.post_with("/v1/tasks", &[("Idempotency-Key", &key)], NOOP).await;
                assert_eq!(answer.status, 429);
            }
        }
    });
    futures::future::join_all(floods).await;
    let text = runtime::metrics::render();
    let of = |line: &&str| line.contains("idempotency.stands") && line.contains("_count");
    let looked: f64 = text.lines().find(of).unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    let allowed = 200.0 + 100.0 * (began.elapsed().as_secs_f64() + 1.0);
    assert!(looked <= allowed, "{looked} of {allowed}");
}

/// What became of each task of a batch: `stored`, or the code of its error.
fn fates(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let fate = |result: &Value| result["error"]["code"].as_str().unwrap_or("stored").to_owned();
    json["results"].as_array().unwrap().iter().map(fate).collect()
}

#[tokio::test]
async fn a_mistake_in_a_batch_costs_nothing_and_leaves_its_place_to_the_next_task() {
    early_in_the_hour().await;
    let server = limited(&[], (10_000, 10_000, 3)).await;
    let (good, bad) = (json!({"run": {"noop": {}}}), json!({"run": {"noop": {"nap": 1}}}));
    let tasks = json!({"tasks": [bad, bad, good, bad, good, good, good, bad]}).to_string();
    let (stored, mistake, limited) = ("stored", "validation_failed", "rate_limited");
    let answer = server.post("/v1/tasks/batch", &tasks).await;
    let expected = [mistake, mistake, stored, mistake, stored, stored, limited, limited];
    assert_eq!(fates(&answer), expected);
    assert_eq!(server.post("/v1/tasks/batch", &tasks).await.code(), limited);
    assert_eq!(stored_tasks(&server).await, 3);
}

#[tokio::test]
async fn no_more_of_a_batch_is_looked_at_than_three_times_what_is_admitted() {
    early_in_the_hour().await;
    let server = limited(&[], (10_000, 10_000, 2)).await;
    let mut tasks = vec![json!({"run": {"noop": {"nap": 1}}}); 5];
    tasks.extend(vec![json!({"run": {"noop": {}}}); 2]);
    let answer = server.post("/v1/tasks/batch", json!({ "tasks": tasks }).to_string()).await;
    let mistakes = ["validation_failed"; 5];
    assert_eq!(fates(&answer), [&mistakes[..], &["stored", "rate_limited"]].concat());
    assert_eq!(server.post("/v1/tasks", NOOP).await.status, 201, "what was left came back");
    assert_eq!(server.post("/v1/tasks", NOOP).await.code(), "rate_limited");
}

#[tokio::test]
async fn what_is_used_of_each_rate_is_shown() {
    early_in_the_hour().await;
    let server = limited(&[], (1, 20, 100)).await;
    let rates = async || server.get("/v1/limits").await.json()["rates"].clone();
    let shown = rates().await;
    assert_eq!((&shown[0]["used"], &shown[1]["used"]), (&json!(0), &json!(0)));
    assert_eq!(server.post("/v1/tasks/batch", batch(12)).await.json()["accepted"], 12);
    let shown = rates().await;
    let (second, hour) = (&shown[0], &shown[1]);
    assert_eq!((&second["name"], &second["limit"]), (&json!("submits_per_second"), &json!(20)));
    let [used, left] = [&second["used"], &second["left"]].map(|n| n.as_u64().unwrap());
    assert!((8..=12).contains(&used) && (20..=21).contains(&(used + left)), "{second}");
    let whole_at: chrono::DateTime<chrono::Utc> =
        second["whole_at"].as_str().unwrap().parse().unwrap();
    let ahead = (whole_at - runtime::clock::wall()).num_milliseconds();
    assert!((5_000..=12_500).contains(&ahead), "{ahead}");
    assert_eq!((&hour["name"], &hour["limit"]), (&json!("submits_per_hour"), &json!(100)));
    assert_eq!((&hour["used"], &hour["left"]), (&json!(12), &json!(88)));
}

#[tokio::test]
async fn processes_without_a_redis_share_a_limit() {
    let server = limited(&[], (1, 60, 0)).await;
    let twin = server.twin().await;
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let limit = std::time::Duration::from_secs(20);
    for addr in [server.addr, twin.addr] {
        let knows = || async {
            let answer = request(addr, "GET", "/v1/tasks", &headers, b"").await;
            answer.header("ratelimit-policy")?.contains(";berth-local").then_some(())
        };
        testkit::poll::until_some("both to be known", limit, knows).await.unwrap();
    }
    for addr in [server.addr, twin.addr] {
        let body = batch(100);
        let answer = request(addr, "POST", "/v1/tasks/batch", &headers, body.as_bytes()).await;
        let accepted = answer.json()["accepted"].as_u64().unwrap();
        assert!((30..=32).contains(&accepted), "half of 60: {accepted}");
    }
}

#[tokio::test]
async fn an_hour_has_its_limit_over_a_restart() {
    early_in_the_hour().await;
    let mut server = limited(&[], (1000, 1000, 30)).await;
    assert_eq!(server.post("/v1/tasks/batch", batch(12)).await.json()["accepted"], 12);
    server.stop.shut_down();
    server.handle.take().unwrap().stopped().await.unwrap();
    let twin = server.twin().await;
    server.addr = twin.addr;
    let answer = server.post("/v1/tasks/batch", batch(30)).await;
    assert_eq!(answer.json()["accepted"], 18, "{answer:?}");
    let refused = server.post("/v1/tasks", NOOP).await;
    assert_eq!((refused.status, &refused.json()["limit"]), (429, &json!("submits_per_hour")));
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3600).contains(&seconds));
}

#[tokio::test]
async fn a_peer_has_a_limit_before_its_key_is_looked_at_whatever_its_headers_say() {
    let settings =
        [("BERTH_API__PEER_REQUESTS_PER_SECOND", "1"), ("BERTH_API__PEER_REQUEST_BURST", "5")];
    let server = Server::start_with(&settings).await;
    let mut refused = 0;
    for n in 0..10 {
        let forged = format!("192.0.2.{n}");
        let headers = [
            ("X-Forwarded-For", forged.as_str()),
            ("Forwarded", "for=198.51.100.1"),
            ("X-Real-IP", forged.as_str()),
        ];
        let answer = request(server.addr, "GET", "/v1/tasks", &headers, b"").await;
        if answer.status == 429 {
            assert_eq!(answer.json()["limit"], "peer_requests_per_second");
            assert_eq!(answer.header("ratelimit"), None);
            refused += 1;
        } else {
            assert_eq!(answer.status, 401);
        }
    }
    // One or two tokens may have come back meanwhile.
    assert!((3..=5).contains(&refused), "{refused}");
    for _ in 0..20 {
        assert_eq!(request(server.addr, "GET", "/healthz", &[], b"").await.status, 200);
    }
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_a_rate_of_its_own_and_forges_none() {
    let settings = [
        ("BERTH_API__PEER_REQUESTS_PER_SECOND", "1"),
        ("BERTH_API__PEER_REQUEST_BURST", "5"),
        ("BERTH_API__TRUSTED_PROXIES", "127.0.0.1"),
    ];
    let server = Server::start_with(&settings).await;
    for client in ["198.51.100.1", "198.51.100.2"] {
        let mut refused = 0;
        for n in 0..10 {
            // The proxy adds where the request came from; what the client wrote before that is not believed.
            let forwarded = format!("192.0.2.{n}, {client}");
            let headers = [("X-Forwarded-For", forwarded.as_str())];
            let answer = request(server.addr, "GET", "/v1/tasks", &headers, b"").await;
            assert!([401, 429].contains(&answer.status), "{answer:?}");
            refused += u32::from(answer.status == 429);
        }
        // One or two tokens may have come back meanwhile; without a rate of its own the second client would have none.
        assert!((3..=5).contains(&refused), "{client}: {refused}");
    }
}

mod own_engines {
    use super::*;

    #[tokio::test]
    async fn a_redis_that_never_served_is_named_in_the_log_and_the_metrics_and_stops_nothing() {
        let redis = PrivateRedis::start().await.unwrap();
        let password = redis.password().unwrap();
        let url = redis.url().unwrap().replace(&password, "wrong");
        let log = tempfile::NamedTempFile::new().unwrap();
        let defaults = runtime::config::load_from(None, []).unwrap();
        runtime::telemetry::init_in("test", &defaults.telemetry, log.reopen().unwrap()).unwrap();
        let server = Server::start_with(&[("BERTH_REDIS__URL", &url)]).await;
        let warning = || async {
            let text = std::fs::read_to_string(log.path()).unwrap();
            text.lines().find(|line| line.contains("held without Redis")).map(str::to_owned)
        };
        let line = until_some("a warning", SOON, warning).await.unwrap();
        assert!(line.contains("WARN") && line.contains("`redis.url`"), "{line}");
        assert!(!line.contains(&password), "{line}");
        let is = |metric: &'static str| {
            move || async move {
                runtime::metrics::render().lines().any(|line| line == metric).then_some(())
            }
        };
        let away = r#"berth_limit_redis_away{cause="password"} 1"#;
        until_some("the cause", SOON, is(away)).await.unwrap();
        assert_eq!(request(server.addr, "GET", "/readyz", &[], b"").await.status, 200);
        assert_eq!(server.post("/v1/tasks", NOOP).await.status, 201);
        // Once it takes the password it serves.
        redis.run(&["config", "set", "requirepass", "wrong"]).await.unwrap();
        let served = r#"berth_limit_redis_away{cause="password"} 0"#;
        until_some("no cause", SOON, is(served)).await.unwrap();
        until_some("Redis to count", SOON, is("berth_limit_local 0")).await.unwrap();
    }
}
