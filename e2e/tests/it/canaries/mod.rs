//! No secret leaves by a side door (C19): canaries in every place where a secret comes in, and a search through all that goes out.
//!
//! Every role at trace level, with an OpenTelemetry collector; everything that works, every kind of refusal, and an api whose
//! database is not there. What is excepted: the answer that shows a new secret once, and what customers stored for themselves
//! (specs and output of their tasks).

mod caller;
mod errands;

use caller::{Caller, secret_of};
use e2e::{Cluster, KEY_HASH_SECRET, Role, Shape};
use runtime::tasks::TaskGroup;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use testkit::collector::Collector;
use testkit::db::TestDatabase;
use testkit::poll;
use testkit::services::{TestBroker, TestRedis};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SOON: Duration = Duration::from_secs(30);
/// In everything that is secret here and may be chosen.
const CANARY: &str = "c4n4ry";
const PASSWORD: &str = "c4n4ry horse battery staple";

fn shape(database_url: &str, redis: &TestRedis, collector: &Collector) -> Shape {
    Role::ALL
        .into_iter()
        .fold(Shape::default(), |shape, role| shape.with(role, 1))
        .set("BERTH_DATABASE__URL", database_url)
        .set("BERTH_REDIS__URL", redis.url())
        .set("BERTH_REDIS__KEY_PREFIX", redis.key_prefix())
        .set("BERTH_AUTH__JWT_KEY", "c4n4ry-jwt-key-0123456789abcdef-0123")
        .set("BERTH_AUTH__JWT_PREVIOUS_KEY", "c4n4ry-old-jwt-key-0123456789abcdef")
        .set("BERTH_AUTH__EXECUTOR_SECRET", "c4n4ry-executor-secret-0123456789abcdef")
        .set("BERTH_TELEMETRY__LOG", "trace")
        .set("BERTH_TELEMETRY__OTLP_ENDPOINT", collector.endpoint())
        .set("BERTH_TELEMETRY__OTLP_HEADERS", "authorization=c4n4ry-collector")
        .set("BERTH_TELEMETRY__OTLP_METRICS_INTERVAL", "1s")
}

/// The password of a URL.
fn password_of(url: &str) -> String {
    let user = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    let password = user.and_then(|(user, _)| user.split_once(':'));
    password.map(|(_, password)| password.to_owned()).unwrap_or_default()
}

/// A server that tasks ask: `/bad` gets a 500, `/cut` no answer, all else a 200.
async fn server(tasks: &TaskGroup) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tasks.spawn_detached("server", async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let status = match head.get(..9) {
                Some(b"POST /cut") => continue,
                Some(b"POST /bad") => "500 Bad",
                _ => "200 OK",
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\nSet-Cookie: c4n4ry-cookie\r\nContent-Length: 6\r\n\r\n{CANARY}"
            );
            stream.write_all(answer.as_bytes()).await.ok();
            stream.shutdown().await.ok();
        }
    });
    Ok(url)
}

/// All files below a folder, as text, with their names.
fn files(folder: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() {
            found.extend(files(&path)?);
        } else if kind.is_file() {
            let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
            found.push((path.display().to_string(), text));
        }
    }
    Ok(found)
}

/// Every place where a secret is, with what is around it.
fn hits(places: &[(String, String)], secrets: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, text) in places {
        for secret in secrets {
            found.extend(text.match_indices(secret.as_str()).map(|(at, _)| {
                let from = text.floor_char_boundary(at.saturating_sub(200));
                let to = text.ceil_char_boundary((at + 60).min(text.len()));
                format!("{secret} in {place}: …{}…", &text[from..to])
            }));
        }
    }
    found
}

/// An api whose database is not there: what the driver says of that is told at trace level.
async fn without_a_database(cluster: &mut Cluster, key: &str) -> anyhow::Result<Vec<String>> {
    cluster.set("BERTH_DATABASE__URL", "postgres://owner:c4n4ry-owner@127.0.0.1:1/none");
    cluster.set("BERTH_DATABASE__ACQUIRE_TIMEOUT", "1s");
    cluster.join(Role::Api).await?;
    let url = cluster.api_urls().last().cloned().unwrap_or_default();
    let mut caller = Caller::at(&url, SOON)?;
    let status = caller.ask(("GET", "/v1/tasks"), key, None).await?;
    anyhow::ensure!(status == 503, "without a database: {status}");
    let sign_in = json!({"tenant": "acme", "email": "a@b", "password": PASSWORD}).to_string();
    caller.ask(("POST", "/v1/sessions"), "", Some(&sign_in)).await?;
    caller.ask(("GET", "/readyz"), "", None).await?;
    Ok(caller.answers)
}

/// Waits until every role has exported what it said and counted, and one of them a span.
async fn exported(collector: &Collector) -> anyhow::Result<()> {
    let services = ["berth-api", "berth-scheduler", "berth-resource-manager", "berth-executor"];
    poll::until("lines, metrics and spans of every role", SOON, || async {
        let received = collector.received();
        !received.spans.is_empty()
            && services.iter().all(|service| {
                received.metrics.iter().any(|(from, _)| from == service)
                    && received.lines.iter().any(|(from, _)| from == service)
            })
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_a_side_door_at_trace_level() -> anyhow::Result<()> {
    let (tasks, collector) = (TaskGroup::new(), Collector::start().await?);
    let (database, broker) = (TestDatabase::new().await?, TestBroker::new().await?);
    let redis = TestRedis::new().await?;
    // Services come with a password of their own: the owner's is only carried along.
    let owner = password_of(database.owner_url());
    let url = database.owner_url().replace(&owner, "c4n4ry-owner");
    let passwords = [broker.url(), redis.url()].map(password_of);
    let mut cluster = Cluster::on(shape(&url, &redis, &collector), database, broker, None).await?;
    cluster.berth(&["admin", "tenant", "create", "acme"]).await?;
    cluster.berth(&["admin", "pool", "set", "default", "--private-targets", "on"]).await?;
    let scopes = ["--scope", "read", "--scope", "submit", "--scope", "approve", "--scope", "admin"];
    let make_key = ["admin", "key", "create", "--tenant", "acme", "--name", "test"];
    let key = cluster.berth(&[&make_key[..], &scopes[..]].concat()).await?.trim().to_owned();
    let make_operator = ["admin", "operator-key", "create", "--name", "ann", "--scope", "read"];
    let operator = cluster.berth(&make_operator).await?.trim().to_owned();

    let mut caller = Caller::at(cluster.api_urls().first().map_or("", String::as_str), SOON)?;
    let mut secrets = errands::access(&mut caller, &key).await?;
    errands::tasks(&mut caller, &key, &server(&tasks).await?).await?;
    errands::refused(&mut caller, &key, &operator).await?;
    let strays = without_a_database(&mut cluster, &key).await?;
    poll::until("the scheduler to seal the audit within 10 s", Duration::from_secs(10), || async {
        cluster
            .database()
            .sql("select count(*) from audit_pending")
            .await
            .is_ok_and(|left| left.trim() == "0")
    })
    .await?;
    exported(&collector).await?;
    for at in Role::ALL.into_iter().flat_map(|role| cluster.of(role)).collect::<Vec<_>>() {
        cluster.process(at)?.term()?;
        cluster.process(at)?.wait(SOON).await?;
    }

    secrets.extend([CANARY.to_owned(), KEY_HASH_SECRET.to_owned(), secret_of(&operator)]);
    secrets.extend(passwords);
    anyhow::ensure!(secrets.len() >= 12 && secrets.iter().all(|secret| secret.len() >= 6));
    let audit = cluster.database().sql("select a::text from audit a").await?;
    anyhow::ensure!(audit.contains("session.refused") && audit.contains("key.rotate"), "{audit}");
    let mut places = files(&cluster.folder())?;
    let logs: Vec<_> = places.iter().filter(|(name, _)| name.ends_with(".log")).collect();
    anyhow::ensure!(logs.len() == 5 && logs.iter().all(|(_, log)| log.contains("TRACE")));
    places.push(("answers".to_owned(), [caller.answers, strays].concat().join("\n")));
    places.push(("exports".to_owned(), collector.received().exports.join("\n")));
    places.push(("the audit".to_owned(), audit));
    // That the search finds what is there: where customers store it, it stays.
    let stored = cluster.database().sql("select run from task_spec").await?;
    anyhow::ensure!(hits(&[("specs".to_owned(), stored)], &secrets).len() >= 10);
    let found = hits(&places, &secrets);
    let bytes: usize = places.iter().map(|(_, text)| text.len()).sum();
    println!("{} secrets, {bytes} bytes of {} places", secrets.len(), places.len());
    let shown = found.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(found.is_empty(), "{} times:\n{shown}", found.len());
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}
