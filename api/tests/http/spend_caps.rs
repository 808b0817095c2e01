//! Spend caps over HTTP: what is wrong with one is said by pointer, and what would pass one is refused with what to do.

use crate::client::{Answer, request};
use crate::matrix::SPEND_CAP;
use crate::server::{Server, config};
use domain::id::TaskId;
use serde_json::{Value, json};
use store::connect::SchedulerDb;
use store::workflow::gate::open_gates;

/// A core for an hour costs 3.60 units, and each task 1000 micro-units.
async fn billed(server: &Server) {
    let sql = r#"insert into price_book (name, document) values ('eur',
            '{"currency": "EUR", "prices": [{"effective_from": "2020-01-01T00:00:00Z", "rates": {"cpu_core": 3600000}, "each": {"task": 1000}}]}');
        update plan set billing = '{"price_book": "eur"}' where name = 'default'"#;
    server.db.sql(sql).await.unwrap();
}

async fn put(server: &Server, name: &str, headers: &[(&str, &str)], cap: &Value) -> Answer {
    let path = format!("/v1/spend-caps/{name}");
    server.put_as(&server.key, &path, headers, &cap.to_string()).await
}

async fn delete(server: &Server, path: &str) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    request(server.addr, "DELETE", path, &[("Authorization", bearer.as_str())], b"").await
}

/// A task that can cost 6000 micro-units: two attempts of ten seconds of a quarter of a core, and 1000.
const TASK: &str = r#"{"run":{"noop":{}},"execution_cap":"10s","max_attempts":2}"#;

#[tokio::test]
async fn a_cap_is_stored_shown_changed_in_its_amount_and_deleted() {
    let server = Server::start().await;
    let cap: Value = serde_json::from_str(SPEND_CAP).unwrap();
    let made = put(&server, "ml", &[("If-None-Match", "*")], &cap).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{made:?}");
    let shown = made.json();
    assert_eq!(
        (&shown["free"], &shown["spent"], &shown["reserved"]),
        (&json!(5_000_000), &json!(0), &json!(0))
    );
    assert_eq!((&shown["zone"], &shown["alerts"]), (&json!("UTC"), &json!([])));
    assert!(shown["resets_at"].as_str().unwrap().ends_with("T00:00:00Z"), "{shown}");
    assert_eq!(server.get("/v1/spend-caps/ml").await.json(), shown);
    assert_eq!(server.get("/v1/spend-caps").await.json()["data"], json!([shown]));
    assert_eq!(put(&server, "ml", &[], &cap).await.header("etag"), Some("\"1\""), "as it was");

    let mut raised = cap.clone();
    raised["amount"] = json!(9);
    let stale = put(&server, "ml", &[("If-Match", "\"7\"")], &raised).await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "version_mismatch"));
    let changed = put(&server, "ml", &[("If-Match", "\"1\"")], &raised).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"2\"")), "{changed:?}");
    assert_eq!(changed.json()["free"], json!(9));
    let mut other = raised.clone();
    (other["period"], other["label"]) = (json!("month"), json!({"key": "team", "value": "web"}));
    let refused = put(&server, "ml", &[], &other).await;
    assert_eq!(
        (refused.status, refused.pointers()),
        (422, vec!["/period".to_owned(), "/label".to_owned()])
    );

    for (pointer, wrong) in [
        ("/amount", json!(-1)),
        ("/amount", json!(0.5)),
        ("/currency", json!("EURO")),
        ("/period", json!("week")),
        ("/zone", json!("Europe/Nowhere")),
        ("/label/key", json!("")),
        ("/schedule", json!("nightly")),
        ("/limit", json!(1)),
    ] {
        let mut bad = cap.clone();
        match bad.pointer_mut(pointer) {
            Some(place) => *place = wrong.clone(),
            None => bad[&pointer[1..]] = wrong.clone(),
        }
        let answer = put(&server, "bad", &[], &bad).await;
        assert_eq!(answer.status, 422, "{pointer}: {answer:?}");
        assert_eq!(answer.pointers(), [pointer.to_owned()], "{answer:?}");
    }
    assert_eq!(server.get("/v1/spend-caps/bad").await.status, 404);
    assert_eq!(put(&server, "Not%20a%20name", &[], &cap).await.status, 400);
    let deleted = delete(&server, "/v1/spend-caps/ml").await;
    assert_eq!(deleted.json(), json!({"name": "ml", "deleted": true}));
    assert_eq!(delete(&server, "/v1/spend-caps/ml").await.status, 404);
}

#[tokio::test]
async fn what_would_pass_a_cap_is_refused_with_what_is_left_and_who_can_raise_it() {
    let server = Server::start().await;
    billed(&server).await;
    let cap =
        json!({"amount": 20_000, "currency": "EUR", "period": "month", "zone": "Europe/Berlin"});
    assert_eq!(put(&server, "all", &[], &cap).await.status, 201);
    assert_eq!(server.post("/v1/tasks", TASK).await.status, 201);
    let batch = format!(r#"{{"tasks":[{TASK},{TASK},{TASK}]}}"#);
    let answer = server.post("/v1/tasks/batch", &*batch).await.json();
    assert_eq!((&answer["accepted"], &answer["rejected"]), (&json!(2), &json!(1)), "{answer}");
    assert_eq!(answer["results"][2]["error"]["code"], "spend_cap_reached", "{answer}");
    let refused = server.post("/v1/tasks", TASK).await;
    assert_eq!((refused.status, refused.code().as_str()), (402, "spend_cap_reached"));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    for part in
        ["`all`", "0.02 EUR", "0.002 EUR left", "up to 0.006 EUR", "berth cap set all", "owners"]
    {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    // Of a month that begins where the cap's clock says.
    let resets_at = server.get("/v1/spend-caps/all").await.json()["resets_at"].clone();
    assert!(detail.contains(resets_at.as_str().unwrap()), "{detail}");
    // Tasks that wait for each other come together, or not at all.
    let cheap = r#"{"ref":"a","run":{"noop":{}},"execution_cap":"1s","max_attempts":1}"#;
    let linked = format!(
        r#"{{"tasks":[{cheap},{{"run":{{"noop":{{}}}},"execution_cap":"10s","retry":{{"max_attempts":2}},"depends_on":["a"]}}]}}"#
    );
    let answer = server.post("/v1/tasks/batch", &*linked).await;
    let count = server.db.sql("select count(*) from task").await.unwrap();
    assert_eq!(count.trim(), "3", "{answer:?}");
    // The cheap one alone has room.
    let alone = cheap.replace(r#""ref":"a","#, "");
    assert_eq!(server.post("/v1/tasks", &*alone).await.status, 201);

    // A plan with another currency.
    let dollars = r#"update price_book set document = jsonb_set(document, '{currency}', '"USD"')"#;
    server.db.sql(dollars).await.unwrap();
    let refused = server.post("/v1/tasks", TASK).await;
    assert_eq!(refused.status, 402);
    assert!(refused.json()["detail"].as_str().unwrap().contains("billed in USD"), "{refused:?}");
}

#[tokio::test]
async fn a_task_shows_what_it_reserves_and_of_which_caps_until_it_ends() {
    let server = Server::start().await;
    billed(&server).await;
    let before = server.post("/v1/tasks", TASK).await.json();
    let task =
        async |id: &Value| server.get(&format!("/v1/tasks/{}", id.as_str().unwrap())).await.json();
    assert_eq!(task(&before["id"]).await.get("reservation"), None, "accepted without caps");
    let all = json!({"amount": 1_000_000, "currency": "EUR", "period": "month"});
    assert_eq!(put(&server, "all", &[], &all).await.status, 201);
    let mut ml = all.clone();
    ml["label"] = json!({"key": "team", "value": "ml"});
    assert_eq!(put(&server, "ml", &[], &ml).await.status, 201);
    let of_ml = TASK.replacen('{', r#"{"labels":{"team":"ml"},"#, 1);
    let once = [("Idempotency-Key", "k")];
    let made = server.post_with("/v1/tasks", &once, &*of_ml).await.json();
    let again = server.post_with("/v1/tasks", &once, &*of_ml).await;
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), made.clone()));
    let mut wanted = json!({"amount": 6000, "spent": 0, "currency": "EUR", "price_book": "eur", "caps": ["all", "ml"]});
    assert_eq!(task(&made["id"]).await["reservation"], wanted);
    let of_one = server.post("/v1/tasks", TASK).await.json();
    assert_eq!(task(&of_one["id"]).await["reservation"]["caps"], json!(["all"]));
    let listed = server.get("/v1/tasks").await.json();
    let shown = listed["data"].as_array().unwrap();
    assert!(shown.iter().all(|task| task.get("reservation").is_none()), "{listed}");

    let path = format!("/v1/tasks/{}", made["id"].as_str().unwrap());
    let bearer = format!("Bearer {}", server.key);
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("If-Match", "\"1\""),
    ];
    let shorter =
        request(server.addr, "PATCH", &path, &headers, br#"{"execution_cap":"5s"}"#).await;
    wanted["amount"] = json!(3500);
    assert_eq!(shorter.json()["reservation"], wanted, "{shorter:?}");
    // As the end of an attempt writes it.
    let id = made["id"].as_str().unwrap().parse::<TaskId>().unwrap().uuid();
    server.db.sql(&format!("update task set spent = 700 where id = '{id}'")).await.unwrap();
    assert_eq!(delete(&server, "/v1/spend-caps/ml").await.status, 200);
    (wanted["spent"], wanted["caps"]) = (json!(700), json!(["all"]));
    assert_eq!(task(&made["id"]).await["reservation"], wanted);
    assert_eq!(server.post(&format!("{path}/cancel"), b"").await.status, 200);
    assert_eq!(task(&made["id"]).await.get("reservation"), None, "it has ended");
}

#[tokio::test]
async fn a_node_without_room_says_which_cap_how_much_it_needs_and_when_it_resets() {
    let server = Server::start().await;
    billed(&server).await;
    let all = json!({"amount": 10_000, "currency": "EUR", "period": "month"});
    let cap = put(&server, "all", &[], &all).await.json();
    let other = server.post("/v1/tasks", TASK).await.json();
    let node: Value = serde_json::from_str(TASK).unwrap();
    let each = |items: Value| json!({"task": node, "for_each": items});
    let definition = json!({"nodes": {
        "one": {"task": node},
        "none": each(json!([])),
        "two": each(json!([1, 2])),
        "later": {"task": node, "after": ["one"]},
    }});
    let started =
        server.post("/v1/workflow-runs", json!({"definition": definition}).to_string()).await;
    assert_eq!(started.status, 201, "{started:?}");
    let run = started.json()["id"].as_str().unwrap().to_owned();
    let graph = server.get(&format!("/v1/workflow-runs/{run}/graph")).await.json();
    let explained = async |name: &str| {
        let nodes = graph["nodes"].as_array().unwrap();
        let task =
            nodes.iter().find(|node| node["name"] == name).unwrap()["task"].as_str().unwrap();
        let told = server.get(&format!("/v1/tasks/{task}/explain")).await.json();
        (told["reasons"][0].clone(), told["eta"]["basis"].clone())
    };
    let scheduler = SchedulerDb::connect(&config(&server.db, &[]).database).unwrap();
    open_gates(&scheduler, 100).await.unwrap();
    let mut wanted = json!({
        "reason": "spend_cap", "cap": "all", "currency": "EUR", "amount": 10_000, "free": 4000, "needed": 6000,
        "resets_at": cap["resets_at"], "billed_in": null,
    });
    assert_eq!(explained("one").await, (wanted.clone(), json!("spend_cap")));
    assert_eq!(explained("none").await.0["reason"], "ended");
    assert_eq!(explained("later").await.0["reason"], "parents");
    // Its items reserve together, and would never have room.
    wanted["needed"] = json!(12_000);
    assert_eq!(explained("two").await, (wanted, json!("people")));

    let cancel = format!("/v1/tasks/{}/cancel", other["id"].as_str().unwrap());
    assert_eq!(server.post(&cancel, b"").await.status, 200);
    assert_eq!(explained("one").await.0["reason"], "due", "it is tried soon");
    server.db.sql("update task set wake_at = now() where gate = 'closed'").await.unwrap();
    open_gates(&scheduler, 100).await.unwrap();
    assert_eq!(explained("one").await.0["reason"], "no_executor");
    assert_eq!(explained("two").await.0["free"], json!(4000));
}
