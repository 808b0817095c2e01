//! What is asked for: everything that takes or makes a secret and works, and every refusal with one on board.

use super::caller::{Caller, secret_of, text};
use super::{CANARY, PASSWORD, SOON};
use serde_json::{Value, json};

/// Keys, users and sign-ins; the secrets that were shown once.
pub async fn access(caller: &mut Caller, key: &str) -> anyhow::Result<Vec<String>> {
    let mut secrets = vec![secret_of(key)];
    let spec = json!({"name": "ci", "scopes": ["read"]});
    let made = caller.shown(("POST", "/v1/keys"), key, &spec).await?;
    secrets.push(secret_of(&text(&made, "key")?));
    let rotate = format!("/v1/keys/{}/rotate", text(&made, "id")?);
    let rotated = caller.shown(("POST", &rotate), key, &json!({})).await?;
    secrets.push(secret_of(&text(&rotated["new"], "key")?));
    let invite = json!({"email": "ann@example.com", "role": "admin"});
    let token = text(&caller.shown(("POST", "/v1/users"), key, &invite).await?, "invite_token")?;
    secrets.push(secret_of(&token));
    let accept = json!({"token": token, "password": PASSWORD}).to_string();
    let status = caller.ask(("POST", "/v1/sessions/accept"), "", Some(&accept)).await?;
    anyhow::ensure!(status == 200, "accepting: {status}");
    let user = json!({"email": "bob@example.com", "role": "viewer", "password": PASSWORD});
    caller.ask(("POST", "/v1/users"), key, Some(&user.to_string())).await?;
    let sign_in = json!({"tenant": "acme", "email": "ann@example.com", "password": PASSWORD});
    let session = caller.shown(("POST", "/v1/sessions"), "", &sign_in).await?;
    let (access, refresh) = (text(&session, "access_token")?, text(&session, "refresh_token")?);
    secrets.extend([secret_of(&access), secret_of(&refresh)]);
    let again = json!({"refresh_token": refresh});
    let renewed = caller.shown(("POST", "/v1/sessions/refresh"), "", &again).await?;
    let next = text(&renewed, "refresh_token")?;
    let renewed = json!({"refresh_token": next});
    let renewed = caller.shown(("POST", "/v1/sessions/refresh"), "", &renewed).await?;
    secrets.extend([secret_of(&next), secret_of(&text(&renewed, "refresh_token")?)]);
    for path in [
        "/v1/audit",
        "/v1/sessions",
        "/v1/users",
        "/v1/keys",
        "/v1/usage",
        "/v1/limits",
        "/v1/overview",
    ] {
        let status = caller.ask(("GET", path), &access, None).await?;
        anyhow::ensure!(status == 200, "{path}: {status}");
    }
    // A second time, and its successor was used meanwhile: stolen.
    let reused = ("POST", "/v1/sessions/refresh");
    let status = caller.ask(reused, "", Some(&again.to_string())).await?;
    anyhow::ensure!(status == 401, "a token that was used: {status}");
    Ok(secrets)
}

/// Tasks that hold secrets and run: `server` answers requests over HTTP.
pub async fn tasks(caller: &mut Caller, key: &str, server: &str) -> anyhow::Result<()> {
    let command = |script: &str| {
        json!({"name": "t", "max_attempts": 1, "run": {"command": {"argv": ["sh", "-c", script, "c4n4ry-argument"],
            "env": {"TOKEN": "c4n4ry-in-the-environment"}, "stdin": "c4n4ry-on-standard-input"}}})
    };
    let request = |path: &str| {
        json!({"max_attempts": 1, "run": {"http": {"method": "POST", "url": format!("{server}{path}"),
            "headers": {"Authorization": "Bearer c4n4ry-in-a-header"}, "body": "c4n4ry-in-a-body"}}})
    };
    for task in [
        command("echo $TOKEN; cat"),
        command("echo $TOKEN >&2; exit 3"),
        command("kill -9 $$"),
        json!({"max_attempts": 1, "run": {"command": {"argv": ["/c4n4ry/no/such/program"]}}}),
        request("/good?token=c4n4ry-in-a-query"),
        request("/bad?token=c4n4ry-in-a-query"),
        request("/cut?token=c4n4ry-in-a-query"),
    ] {
        caller.run(key, &task, SOON).await?;
    }
    Ok(())
}

/// Every refusal that can be reached, each with a secret on board.
pub async fn refused(caller: &mut Caller, key: &str, operator: &str) -> anyhow::Result<()> {
    credentials(caller, key, operator).await?;
    for body in bad_tasks() {
        let status = caller.ask(("POST", "/v1/tasks"), key, Some(&body.to_string())).await?;
        anyhow::ensure!((400..500).contains(&status), "{body}: {status}");
        let batch = json!({"tasks": [body]}).to_string();
        caller.ask(("POST", "/v1/tasks/batch"), key, Some(&batch)).await?;
    }
    for (path, body) in BAD_BODIES {
        let status = caller.ask(("POST", path), key, Some(body)).await?;
        anyhow::ensure!((400..500).contains(&status), "{path} {body}: {status}");
    }
    for path in ["/metrics", "/readyz", "/healthz", "/openapi.json", "/v1/nothing"] {
        caller.ask(("GET", path), key, None).await?;
    }
    Ok(())
}

async fn credentials(caller: &mut Caller, key: &str, operator: &str) -> anyhow::Result<()> {
    let tail = "c4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ry";
    let mut wrong_secret = key.to_owned();
    wrong_secret.truncate(wrong_secret.len() - CANARY.len());
    wrong_secret.push_str(CANARY);
    for credential in [
        format!("berth_live_abcdefghijkl_{tail}"),
        format!("berthop_live_abcdefghijkl_{tail}"),
        format!("eyJhbGciOiJub25lIn0.{tail}.{tail}"),
        tail.to_owned(),
        wrong_secret,
        operator.to_owned(),
    ] {
        for path in ["/v1/tasks", "/v1/admin/operator", "/v1/audit", "/v1/keys/nothing"] {
            caller.ask(("GET", path), &credential, None).await?;
        }
    }
    Ok(())
}

fn bad_tasks() -> Vec<Value> {
    vec![
        json!({"run": {"command": {"argv": "c4n4ry-argv"}}}),
        json!({"run": "c4n4ry-run"}),
        json!({"run": {"command": {"argv": ["a"], "env": "c4n4ry-env"}}}),
        json!({"run": {"command": {"argv": ["a"], "env": {"A=B": "c4n4ry-env"}}}}),
        json!({"run": {"command": {"argv": ["a\u{0}c4n4ry-argv"]}}}),
        json!({"run": {"http": {"method": "c4n4ry-method", "url": "https://x/"}}}),
        json!({"run": {"http": {"url": "https://user:c4n4ry-url@example.com/"}}}),
        json!({"run": {"http": {"url": "https://example.com/", "headers": {"a b": "c4n4ry-header"}}}}),
        json!({"run": {"http": {"url": "https://example.com/", "headers": {"Authorization": "c4n4ry\r\nheader"}}}}),
        json!({"run": {"noop": {}}, "tier": "c4n4ry-tier", "retry": "c4n4ry-retry"}),
        json!({"run": {"noop": {}}, "delay": "c4n4ry-delay"}),
        json!({"run": {"noop": {}}, "max_attempts": "c4n4ry"}),
    ]
}

const BAD_BODIES: [(&str, &str); 17] = [
    ("/v1/tasks", r#"{"run": {"command": {"argv": ["c4n4ry"#),
    ("/v1/tasks", "c4n4ry"),
    ("/v1/keys", r#"{"name": "n", "scopes": ["c4n4ry"]}"#),
    ("/v1/keys", r#"{"name": "n", "scopes": "c4n4ry"}"#),
    ("/v1/users", r#"{"email": "x@y", "role": "c4n4ry", "password": "c4n4ry"}"#),
    ("/v1/users", r#"{"email": "x@y", "role": "viewer", "password": ["c4n4ry"]}"#),
    ("/v1/users", r#"{"email": "x@y", "role": "viewer", "password": "c4n4ry"}"#),
    ("/v1/users", r#"{"email": "c4n4ry", "role": "viewer"}"#),
    ("/v1/users", r#""c4n4ry""#),
    ("/v1/sessions", r#"{"tenant": "acme", "email": "c4n4ry", "password": "c4n4ry wrong"}"#),
    (
        "/v1/sessions",
        r#"{"tenant": "acme", "email": "ann@example.com", "password": "c4n4ry wrong"}"#,
    ),
    (
        "/v1/sessions",
        r#"{"tenant": "acme", "email": "ann@example.com", "password": {"a": "c4n4ry"}}"#,
    ),
    ("/v1/sessions", "c4n4ry"),
    ("/v1/sessions/refresh", r#"{"refresh_token": "c4n4ry"}"#),
    ("/v1/sessions/refresh", r#"{"refresh_token": ["c4n4ry"]}"#),
    ("/v1/sessions/accept", r#"{"token": "c4n4ry", "password": "c4n4ry"}"#),
    ("/v1/sessions/accept", r#"{"token": "c4n4ry", "password": "c4n4ry horse battery"}"#),
];
