//! Schedules over HTTP: stored by name, changed by version, read back, previewed. What fires is the scheduler's and tested there.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, SCHEDULE, Server};
use serde_json::{Value, json};

async fn put(server: &Server, name: &str, body: &Value) -> Answer {
    server.put_as(&server.key, &format!("/v1/schedules/{name}"), &[], body.to_string()).await
}

async fn send(server: &Server, verb: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let mut all = vec![("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    all.extend_from_slice(headers);
    request(server.addr, verb, path, &all, b"").await
}

fn noop(timing: Value) -> Value {
    json!({"timing": timing, "task": {"run": {"noop": {}}}})
}

/// What is said of the first mistake.
fn detail(answer: &Answer) -> String {
    answer.json()["errors"][0]["detail"].as_str().unwrap_or_default().to_owned()
}

/// Due each 29 February from 2090 on.
fn rare() -> Value {
    serde_json::from_str(SCHEDULE).unwrap()
}

#[tokio::test]
async fn a_schedule_is_stored_as_it_was_said_and_can_be_put_back_as_it_is_read() {
    let server = Server::start().await;
    let said = json!({
        "timing": {
            "specs": [
                {"cron": "30 2 * * mon-fri"},
                {"every": {"every": "90s", "anchor": "2027-01-01T00:00:00Z"}},
                {"monthly": {"on": [1, "last"], "at": ["09:00"]}}],
            "zone": "Europe/Berlin", "start_at": "2090-01-01T00:00:00+01:00", "max_fires": 7, "exclude": ["2090-12-24"],
            "jitter": "5m", "repeat": "both"},
        "task": {"name": "report", "tier": "regular", "delay_tolerance": "5m", "labels": {"team": "media"},
            "run": {"command": {"argv": ["bash", "-c", "echo hi"], "env": {"A": "1"}}}},
        "overlap": "buffer_one",
        "misfire": {"catch_up": {"count": 3, "max_age": "24h"}}});
    let made = put(&server, "report", &said).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{made:?}");
    let made = made.kept();
    assert_eq!(
        (&made["name"], &made["version"], &made["state"]),
        (&json!("report"), &json!(1), &json!("active"))
    );
    assert_eq!(
        made["timing"]["specs"][1],
        json!({"every": {"every": "1m30s", "anchor": "2027-01-01T00:00:00Z", "counting": "fixed_rate"}})
    );
    assert_eq!(made["timing"]["start_at"], "2089-12-31T23:00:00Z");
    assert_eq!(
        (&made["timing"]["gap"], &made["timing"]["repeat"]),
        (&json!("next_valid"), &json!("both"))
    );
    assert_eq!(
        (&made["task"]["name"], &made["task"]["tier"], &made["task"]["pool"]),
        (&json!("report"), &json!("regular"), &json!("default"))
    );
    assert_eq!(made["task"]["run"], said["task"]["run"]);
    assert_eq!((&made["overlap"], &made["misfire"]), (&said["overlap"], &said["misfire"]));
    assert_eq!((&made["paused"], &made["fires"]), (&Value::Null, &json!(0)));
    assert!(made["next_due_at"].as_str().unwrap() >= "2089-12-31T23:00:00Z", "{made}");
    assert!(made["tzdb"].as_str().is_some_and(|release| release.len() >= 5), "{made}");

    let read = server.get("/v1/schedules/report").await;
    assert_eq!((read.status, read.header("etag")), (200, Some("\"1\"")));
    assert_eq!(read.json(), made);
    let back = json!({"timing": made["timing"], "task": made["task"], "overlap": made["overlap"], "misfire": made["misfire"]});
    let again = put(&server, "report", &back).await;
    assert_eq!((again.status, again.kept()), (200, made), "the same in its own words");
}

#[tokio::test]
async fn the_same_again_changes_nothing_and_a_change_is_a_version() {
    let server = Server::start().await;
    let first = put(&server, "s", &rare()).await;
    assert_eq!(first.status, 201);
    let again = put(&server, "s", &rare()).await;
    assert_eq!((again.status, again.json()), (200, first.json()));
    let mut other = rare();
    other["overlap"] = json!("allow");
    let changed = put(&server, "s", &other).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"2\"")));
    let changed = changed.json();
    assert_eq!((&changed["id"], &changed["overlap"]), (&first.json()["id"], &json!("allow")));
    assert_eq!(changed["created_at"], first.json()["created_at"]);
}

#[tokio::test]
async fn only_the_version_that_was_asked_for_is_changed_or_deleted() {
    let server = Server::start().await;
    let path = "/v1/schedules/s";
    let mut body = rare();
    let put = async |headers: &[(&str, &str)], body: &Value| {
        server.put_as(&server.key, path, headers, body.to_string()).await
    };
    let none = put(&[("If-Match", "\"1\"")], &body).await;
    assert_eq!((none.status, none.code().as_str()), (412, "version_mismatch"), "{none:?}");
    assert_eq!(put(&[("If-None-Match", "*")], &body).await.status, 201);
    body["overlap"] = json!("allow");
    assert_eq!(put(&[("If-None-Match", "*")], &body).await.status, 412);
    assert_eq!(put(&[("If-Match", "\"2\"")], &body).await.status, 412);
    assert_eq!(put(&[("If-Match", "\"1\"")], &body).await.json()["version"], 2);
    for bad in ["2", "*", "\"x\""] {
        let wrong = put(&[("If-Match", bad)], &body).await;
        assert_eq!(wrong.pointers(), ["header:If-Match"], "{bad}");
    }
    let stale = send(&server, "DELETE", path, &[("If-Match", "\"1\"")]).await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "version_mismatch"));
    assert!(stale.json()["detail"].as_str().unwrap().contains("version 2"), "{stale:?}");
    let gone = send(&server, "DELETE", path, &[("If-Match", "\"2\"")]).await;
    assert_eq!((gone.status, gone.json()), (200, json!({"name": "s", "deleted": true})));
    assert_eq!(send(&server, "DELETE", path, &[]).await.status, 404);
    assert_eq!(server.get(path).await.code(), "not_found");
    let anew = put(&[], &body).await;
    assert_eq!((anew.status, &anew.json()["version"]), (201, &json!(1)));
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once_where_it_is() {
    let server = Server::start().await;
    let wrong = json!({
        "timing": {"specs": [{"cron": "61 * * * *"}, {"every": {"every": "1ms"}}, {}], "zone": "Mars/Olympus", "jitter": "25h"},
        "task": {"name": "", "run_at": "2030-01-31T12:00:00Z", "run": {"command": {"argv": []}}},
        "misfire": {"catch_up": {"count": 0, "max_age": "1h"}}});
    let refused = put(&server, "s", &wrong).await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "validation_failed"));
    let pointers = refused.pointers();
    for place in [
        "/timing/specs/1/every/every",
        "/timing/specs/2",
        "/timing/jitter",
        "/task/name",
        "/task/run_at",
        "/task/run/command/argv",
        "/misfire/catch_up/count",
    ] {
        assert!(pointers.contains(&place.to_owned()), "{place}: {pointers:?}");
    }
    let unknown = noop(json!({"specs": [{"cron": "61 * * * *"}], "zone": "Mars/Olympus"}));
    let pointers = put(&server, "s", &unknown).await.pointers();
    assert_eq!(pointers, ["/timing/specs/0/cron", "/timing/zone"]);
    for (body, pointer) in [
        (noop(json!({"specs": [{"hourly": {}}]})), "/timing/specs/0/hourly"),
        (noop(json!({"specs": [], "tz": "UTC"})), "/timing/tz"),
        (
            json!({"timing": {"specs": [{"cron": "@daily"}]}, "task": {"run": {"noop": {}}}, "overlap": "queue"}),
            "/overlap",
        ),
        (json!({"task": {"run": {"noop": {}}}}), "/timing"),
    ] {
        let refused = put(&server, "s", &body).await;
        assert_eq!((refused.status, refused.pointers()), (422, vec![pointer.to_owned()]), "{body}");
    }
    assert_eq!(server.get("/v1/schedules").await.json(), json!({"data": [], "next_cursor": null}));
}

#[tokio::test]
async fn a_pattern_that_does_not_mean_what_it_says_is_refused_but_where_it_is_stored_so() {
    let server = Server::start().await;
    let odd = |pattern: &str| json!({"specs": [{"cron": pattern}], "zone": "Europe/Berlin"});
    for (pattern, write) in [
        ("*/90 * * * *", r#"{"every": {"every": "90m"}}"#),
        ("0 0 * * MON#TUE", "`MON#2`"),
        ("0 0 * * FRI-MON", "`FRI-SUN,MON`"),
        ("1/15 * * * *", "`1-59/15`"),
        ("CRON_TZ=Asia/Tokyo 0 9 * * *", r#"{"zone": "Asia/Tokyo"}"#),
        ("@every 5m", r#"{"every": {"every": "5m"}}"#),
    ] {
        let preview = json!({"timing": odd(pattern)}).to_string();
        for refused in [
            put(&server, "s", &noop(odd(pattern))).await,
            server.post("/v1/schedules/preview", preview).await,
        ] {
            assert_eq!(refused.pointers(), ["/timing/specs/0/cron"], "{pattern} {refused:?}");
            assert!(detail(&refused).contains(write), "{pattern} {refused:?}");
        }
    }
    let mut nothing = odd("*/15 * * * *");
    nothing["gap"] = "skip".into();
    nothing["repeat"] = "last".into();
    let refused = put(&server, "s", &noop(nothing)).await;
    assert_eq!(
        (refused.status, refused.pointers()),
        (422, vec!["/timing/gap".into(), "/timing/repeat".into()])
    );
    assert_eq!(server.get("/v1/schedules/s").await.status, 404);

    // As a release has stored it that took more.
    put(&server, "s", &noop(odd("0 0 * * *"))).await;
    let sql = "update schedule set timing = replace(timing, '0 0 * * *', '*/90 * * * *') where name = 's'";
    server.db.sql(sql).await.unwrap();
    let mut same = noop(odd("*/90 * * * *"));
    assert_eq!(put(&server, "s", &same).await.status, 200);
    same["overlap"] = "allow".into();
    let changed = put(&server, "s", &same).await;
    assert_eq!((changed.status, &changed.json()["version"]), (200, &json!(2)), "{changed:?}");
    let due = server.get("/v1/schedules/s/preview?count=2").await.json();
    assert_eq!(due["due"].as_array().unwrap().len(), 2, "{due}");
    same["timing"]["jitter"] = "1s".into();
    assert_eq!(put(&server, "s", &same).await.pointers(), ["/timing/specs/0/cron"]);
}

#[tokio::test]
async fn a_value_of_the_wrong_kind_is_answered_with_the_form_it_has() {
    let server = Server::start().await;
    for (when, pointer, says) in [
        (json!({"every": "90s"}), "/every", r#"must be an object such as {"every": "90s"}"#),
        (json!({"daily": "09:00"}), "/daily", r#"must be an object such as {"at": ["09:00"]}"#),
        (json!("@daily"), "", r#"must be an object of one kind, such as {"cron""#),
    ] {
        let refused = put(&server, "s", &noop(json!({"specs": [when]}))).await;
        assert_eq!(refused.pointers(), [format!("/timing/specs/0{pointer}")], "{refused:?}");
        assert!(detail(&refused).contains(says), "{refused:?}");
    }
    let whole = json!({"timing": "30 2 * * *", "task": {"run": {"noop": {}}}});
    let refused = put(&server, "s", &whole).await;
    assert!(detail(&refused).contains(r#"must be an object such as {"specs""#), "{refused:?}");
}

#[tokio::test]
async fn a_fixed_delay_that_starts_later_is_due_first_when_it_starts() {
    let server = Server::start().await;
    let delay = json!({"specs": [{"every": {"every": "10m", "counting": "fixed_delay"}}], "start_at": "2090-01-01T08:00:00Z"});
    let made = put(&server, "s", &noop(delay.clone())).await;
    assert_eq!(
        (made.status, &made.json()["next_due_at"]),
        (201, &json!("2090-01-01T08:00:00Z")),
        "{made:?}"
    );
    let preview = server.post("/v1/schedules/preview", json!({"timing": delay}).to_string()).await;
    assert_eq!(preview.json()["due"][0]["at"], "2090-01-01T08:00:00Z", "{preview:?}");
}

#[tokio::test]
async fn an_old_schedule_that_becomes_a_fixed_delay_is_due_so_long_after_the_change() {
    let server = Server::start().await;
    put(&server, "s", &rare()).await;
    let sql = "update schedule set created_at = created_at - interval '1 day' where name = 's'";
    server.db.sql(sql).await.unwrap();
    let delay = json!({"specs": [{"every": {"every": "10m", "counting": "fixed_delay"}}]});
    let changed = put(&server, "s", &noop(delay)).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let time = |field: &str| -> chrono::DateTime<chrono::Utc> {
        changed.json()[field].as_str().unwrap().parse().unwrap()
    };
    let wait = time("next_due_at") - time("updated_at");
    assert!((590..=610).contains(&wait.num_seconds()), "{changed:?}");
}

#[tokio::test]
async fn what_can_never_fire_is_refused_at_once_with_its_place() {
    let server = Server::start().await;
    for (timing, pointer) in [
        (json!({"specs": [{"cron": "0 0 30 2 *"}]}), "/timing"),
        (json!({"specs": [{"at": "2020-01-01T00:00:00Z"}]}), "/timing"),
        (json!({"specs": [{"cron": "@daily"}], "end_at": "2020-01-01T00:00:00Z"}), "/timing"),
        (json!({"specs": [{"at": "2090-12-24T12:00:00Z"}], "exclude": ["2090-12-24"]}), "/timing"),
    ] {
        let began = runtime::clock::monotonic();
        let refused = put(&server, "s", &noop(timing.clone())).await;
        let took = began.elapsed();
        assert_eq!(refused.status, 422, "{timing} {refused:?}");
        assert!(refused.pointers()[0].starts_with(pointer), "{timing} {refused:?}");
        assert!(took.as_millis() < 1000, "{timing} took {took:?}");
        let preview = json!({"timing": timing}).to_string();
        assert_eq!(server.post("/v1/schedules/preview", preview).await.status, 422, "{timing}");
    }
}

#[tokio::test]
async fn a_name_is_plain_and_lists_are_by_name() {
    let server = Server::start().await;
    let long = "x".repeat(101);
    for name in ["-x", ".x", "a%20b", "a%2Fb", "%C3%A4", long.as_str()] {
        for verb in ["GET", "PUT", "DELETE"] {
            let refused = send(&server, verb, &format!("/v1/schedules/{name}"), &[]).await;
            assert_eq!(refused.pointers(), ["path:name"], "{verb} {name} {refused:?}");
        }
    }
    assert_eq!(send(&server, "PUT", "/v1/schedules/preview", &[]).await.status, 405);
    for name in ["b", "a.2", "a-1"] {
        assert_eq!(put(&server, name, &rare()).await.status, 201);
    }
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/schedules?limit=1{cursor}")).await.json();
        names.push(page["data"][0]["name"].as_str().unwrap().to_owned());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(names, ["a-1", "a.2", "b"]);
}

#[tokio::test]
async fn a_pause_says_who_and_why_and_both_ways_may_be_repeated() {
    let server = Server::start().await;
    put(&server, "s", &rare()).await;
    let pause = async |key: &str, reason: Value| {
        let headers = [("Idempotency-Key", key)];
        let body = json!({"reason": reason}).to_string();
        server.post_with("/v1/schedules/s/pause", &headers, body).await
    };
    let paused = pause("one", json!("holidays")).await;
    assert_eq!(paused.status, 200, "{paused:?}");
    let shown = paused.json();
    assert_eq!(
        (&shown["state"], &shown["paused"]["reason"]),
        (&json!("paused"), &json!("holidays"))
    );
    assert!(shown["paused"]["by"].as_str().is_some_and(|by| !by.is_empty()), "{shown}");
    let again = pause("two", json!("other")).await.json();
    assert_eq!(again["paused"], shown["paused"], "the first reason stays");
    let replayed = pause("one", json!("holidays")).await;
    assert_eq!((replayed.header("idempotency-replayed"), replayed.json()), (Some("true"), shown));
    assert_eq!(pause("one", json!("x")).await.code(), "idempotency_key_reuse");
    assert_eq!(pause("three", json!("x".repeat(501))).await.pointers(), ["/reason"]);
    let resume = async || server.post("/v1/schedules/s/resume", "").await.json();
    let resumed = resume().await;
    assert_eq!((&resumed["state"], &resumed["paused"]), (&json!("active"), &Value::Null));
    assert_eq!(resume().await["state"], "active");
    // Put says so, too: and leaves it as it is where it says nothing.
    let mut body = rare();
    body["paused"] = json!(true);
    assert_eq!(put(&server, "s", &body).await.json()["state"], "paused");
    assert_eq!(put(&server, "s", &rare()).await.json()["state"], "paused");
    body["paused"] = json!(false);
    assert_eq!(put(&server, "s", &body).await.json()["state"], "active");
}

#[tokio::test]
async fn a_trigger_fires_once_for_each_key_and_is_in_the_ledger() {
    let server = Server::start().await;
    put(&server, "s", &rare()).await;
    let trigger = async |key: &str| {
        server.post_with("/v1/schedules/s/trigger", &[("Idempotency-Key", key)], "").await
    };
    let fired = trigger("one").await;
    assert_eq!(fired.status, 201, "{fired:?}");
    let again = trigger("one").await;
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), fired.json()));
    let fire = fired.json();
    assert_eq!(
        (&fire["outcome"], &fire["kind"], &fire["version"]),
        (&json!("fired"), &json!("trigger"), &json!(1))
    );
    let task = server.get(&format!("/v1/tasks/{}", fire["task"].as_str().unwrap())).await;
    assert_eq!((task.status, &task.json()["run"]), (200, &json!({"noop": {"sleep": "0s"}})));
    assert_eq!(trigger("two").await.status, 201);
    let fires = async |query: &str| server.get(&format!("/v1/schedules/s/fires?{query}")).await;
    let page = fires("limit=1").await.json();
    let rest =
        fires(&format!("limit=1&cursor={}", page["next_cursor"].as_str().unwrap())).await.json();
    assert_eq!((&rest["data"][0], &rest["next_cursor"]), (&fire, &Value::Null), "newest first");
    assert_eq!(fires("outcome=fired,late").await.json()["data"].as_array().unwrap().len(), 2);
    assert_eq!(fires("outcome=paused").await.json()["data"], json!([]));
    assert_eq!(fires("outcome=gone").await.pointers(), ["query:outcome"]);
    let carried =
        fires(&format!("outcome=late&cursor={}", page["next_cursor"].as_str().unwrap())).await;
    assert_eq!(carried.code(), "invalid_cursor");
    assert_eq!(server.get("/v1/schedules/s").await.json()["fires"], 0, "by hand it does not count");
}

#[tokio::test]
async fn a_backfill_says_what_it_would_do_and_what_it_will() {
    let server = Server::start().await;
    put(
        &server,
        "s",
        &noop(json!({"specs": [{"cron": "0 12 * * *"}], "start_at": "2020-01-01T00:00:00Z"})),
    )
    .await;
    let backfill = async |more: Value| {
        let mut body = json!({"from": "2025-01-01T00:00:00Z", "to": "2025-02-01T00:00:00Z"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/schedules/s/backfill", body.to_string()).await
    };
    let dry = backfill(json!({"dry_run": true, "per_second": 0.5})).await;
    assert_eq!(dry.status, 200, "{dry:?}");
    assert_eq!(
        dry.json(),
        json!({"due": 31, "to_fire": 31, "first": "2025-01-01T12:00:00Z", "last": "2025-01-31T12:00:00Z", "per_second": 0.5,
            "dry_run": true})
    );
    assert_eq!(backfill(json!({"to": "2100-01-01T00:00:00Z"})).await.pointers(), ["/to"]);
    assert_eq!(backfill(json!({"per_second": 0})).await.pointers(), ["/per_second"]);
    let begun = backfill(json!({})).await;
    assert_eq!((begun.status, &begun.json()["dry_run"]), (202, &json!(false)));
    let busy = backfill(json!({})).await;
    assert_eq!((busy.status, busy.code().as_str()), (409, "conflict"), "{busy:?}");
    put(&server, "each-second", &noop(json!({"specs": [{"cron": "* * * * * *"}]}))).await;
    let range = json!({"from": "2025-01-01T00:00:00Z", "to": "2025-01-02T00:00:00Z"}).to_string();
    let many = server.post("/v1/schedules/each-second/backfill", range).await;
    assert_eq!((many.status, many.pointers()), (422, vec!["/to".to_owned()]), "{many:?}");
}

#[tokio::test]
async fn what_is_fired_next_is_the_first_to_fire_and_in_the_preview() {
    let server = Server::start().await;
    for at in 0..10 {
        let name = format!("s{at}");
        let wide = json!({"specs": [{"every": {"every": "1h"}}], "jitter": "24h"});
        let made = put(&server, &name, &noop(wide)).await.json();
        let preview = server.get(&format!("/v1/schedules/{name}/preview?count=100")).await.json();
        let due: Vec<_> = preview["due"]
            .as_array()
            .unwrap()
            .iter()
            .map(|due| due["at"].as_str().unwrap())
            .collect();
        assert_eq!((due.len(), &preview["more"]), (100, &json!(true)));
        assert!(due.is_sorted(), "{due:?}");
        let [next, fires] = ["next_due_at", "next_fire_at"].map(|at| made[at].as_str().unwrap());
        assert!(due.contains(&next) && next <= fires, "{made} {due:?}");
        // Of a day of due times the one that waits least is not fired after a day.
        assert!(fires < due[24], "{fires} {due:?}");
    }
}

#[tokio::test]
async fn a_preview_says_what_the_clocks_do() {
    let server = Server::start().await;
    let ask = async |timing: Value, from: &str, count: u32| {
        let body = json!({"timing": timing, "from": from, "count": count}).to_string();
        let answer = server.post("/v1/schedules/preview", body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let new_york =
        |pattern: &str| json!({"specs": [{"cron": pattern}], "zone": "America/New_York"});
    let gap = ask(new_york("30 2 * * *"), "2027-03-13T00:00:00Z", 3).await;
    let local = |preview: &Value| -> Vec<String> {
        let due = preview["due"].as_array().unwrap().iter();
        due.map(|due| due["local"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        local(&gap),
        ["2027-03-13T02:30:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-15T02:30:00-04:00"]
    );
    assert_eq!(gap["due"][1]["marks"], json!(["shifted", "change_day"]));
    assert_eq!((&gap["zone"], &gap["more"]), (&json!("America/New_York"), &json!(true)));
    let overlap = ask(new_york("30 1 * * *"), "2026-11-01T04:00:00Z", 2).await;
    assert_eq!(local(&overlap), ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"]);
    let each = ask(new_york("*/30 * * * *"), "2026-11-01T03:59:00Z", 60).await;
    let that_day = local(&each).iter().filter(|due| due.starts_with("2026-11-01")).count();
    assert_eq!(that_day, 50);
    let once = ask(json!({"specs": [{"after": "10m"}]}), "2020-01-01T00:00:00Z", 5).await;
    assert_eq!((once["due"].as_array().unwrap().len(), &once["more"]), (1, &json!(false)));
    for (body, pointer) in [
        (json!({}), "/timing"),
        (json!({"timing": {"specs": [{"cron": "@daily"}]}, "count": 1000}), "/count"),
        (json!({"timing": {"specs": [{"cron": "@daily"}]}, "from": "now"}), "/from"),
    ] {
        let refused = server.post("/v1/schedules/preview", body.to_string()).await;
        assert_eq!((refused.status, refused.pointers()), (422, vec![pointer.to_owned()]), "{body}");
    }

    put(&server, "s", &rare()).await;
    let stored = server.get("/v1/schedules/s/preview?count=2").await.json();
    assert_eq!(stored["due"][0]["at"], server.get("/v1/schedules/s").await.json()["next_due_at"]);
    assert_eq!(local(&stored), ["2092-02-29T12:00:00+00:00", "2096-02-29T12:00:00+00:00"]);
    let later =
        server.get("/v1/schedules/s/preview?count=1&from=2100-01-01T00:00:00Z").await.json();
    assert_eq!(local(&later), ["2104-02-29T12:00:00+00:00"]);
    assert_eq!(server.get("/v1/schedules/s/preview?count=0").await.pointers(), ["query:count"]);
    assert_eq!(server.get("/v1/schedules/none/preview").await.code(), "not_found");
}

#[tokio::test]
async fn a_plan_allows_so_many_live_schedules_and_a_suspended_tenant_stores_none() {
    let server = Server::start().await;
    let tenant = server.new_tenant("small").await;
    let of_plan = format!(
        r#"insert into plan (name, limits) select 'two', limits || '{{"schedules": 2}}' from plan where name = 'free';
            update tenant set plan = 'two' where id = '{}'"#,
        tenant.uuid()
    );
    server.db.sql(&of_plan).await.unwrap();
    let key = server.new_key(tenant, &ALL_SCOPES).await;
    let put = async |name: &str| {
        server.put_as(&key, &format!("/v1/schedules/{name}"), &[], SCHEDULE).await
    };
    assert_eq!((put("a").await.status, put("b").await.status), (201, 201));
    let third = put("c").await;
    assert_eq!((third.status, third.code().as_str()), (429, "quota_exceeded"), "{third:?}");
    assert!(third.json()["detail"].as_str().unwrap().contains("schedules"), "{third:?}");
    assert_eq!(put("a").await.status, 200, "what is there may be put again");
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str())];
    assert_eq!(request(server.addr, "DELETE", "/v1/schedules/b", &headers, b"").await.status, 200);
    assert_eq!(put("c").await.status, 201);

    let operator = server.new_operator("ann", &["admin"]).await;
    let suspend = format!("/v1/admin/tenants/{tenant}/suspend");
    assert_eq!(server.post_as(&operator, &suspend, &[], "").await.status, 200);
    let suspended = async || (put("a").await.status == 403).then_some(());
    testkit::poll::until_some(
        "the suspension to be felt",
        std::time::Duration::from_secs(3),
        suspended,
    )
    .await
    .unwrap();
    let trigger = server.post_as(&key, "/v1/schedules/a/trigger", &[], "").await;
    assert_eq!(trigger.code(), "tenant_suspended");
    assert_eq!(server.get_as(&key, "/v1/schedules/a").await.status, 200);
    assert_eq!(server.post_as(&key, "/v1/schedules/a/pause", &[], "{}").await.status, 200);
}

#[tokio::test]
async fn a_body_over_its_limit_is_refused_before_it_is_read() {
    let server = Server::start_with(&[("BERTH_API__MAX_TASK_BYTES", "2048")]).await;
    let mut body = rare();
    body["task"]["run"] = json!({"command": {"argv": ["x".repeat(3000)]}});
    let refused = put(&server, "s", &body).await;
    assert_eq!((refused.status, refused.code().as_str()), (413, "payload_too_large"));
    let many: Vec<Value> = (0..17).map(|_| json!({"cron": "@daily"})).collect();
    assert_eq!(
        put(&server, "s", &noop(json!({"specs": many}))).await.pointers(),
        ["/timing/specs"]
    );
}

#[tokio::test]
async fn a_schedule_that_is_read_while_all_are_held_after_a_restore_says_so() {
    let server = Server::start().await;
    assert_eq!(put(&server, "rare", &noop(rare()["timing"].clone())).await.status, 201);
    let get = async || send(&server, "GET", "/v1/schedules/rare", &[]).await.json();
    assert_eq!(get().await["warnings"], Value::Null);
    let hold = "update installation set held_since = now(), held_because = 'restored'";
    server.db.sql(hold).await.unwrap();
    assert_eq!(get().await["warnings"][0]["code"], "schedules_held");
}
