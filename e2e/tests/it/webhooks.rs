//! Webhooks through all of Berth: what happens is told to those who ask for it, signed, in order where that is asked for, at least once
//! whoever dies, and never to an address that customers must not reach.

use domain::webhook::SigningSecret;
use e2e::{Cluster, Customer, Manner, Received, Receiver, Role, Shape};
use runtime::clock;
use runtime::tasks::TaskGroup;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use testkit::{poll, psql};

const SOON: Duration = Duration::from_secs(30);

struct World {
    cluster: Cluster,
    customer: Customer,
    receiver: Receiver,
    tasks: TaskGroup,
}

/// One of each role, and a customer who may manage webhooks.
async fn world(shape: Shape) -> anyhow::Result<World> {
    let shape = Role::ALL.into_iter().fold(shape, |shape, role| shape.with(role, 1));
    let cluster = Cluster::start(shape.with(Role::Notifier, 1)).await?;
    let customer = Customer::sign_up_with(&cluster, "acme", &["read", "submit", "admin"]).await?;
    let tasks = TaskGroup::new();
    let receiver = Receiver::start(&tasks).await?;
    Ok(World { cluster, customer, receiver, tasks })
}

/// Receivers may be on this machine, and a failed try is soon followed by the next.
fn local() -> Shape {
    Shape::default().set("BERTH_NOTIFIER__PRIVATE_TARGETS", "true")
}

impl World {
    async fn put(&self, name: &str, webhook: Value) -> anyhow::Result<Value> {
        let path = format!("/v1/webhooks/{name}");
        let (status, stored) = self.customer.call("PUT", &path, Some(&webhook), None).await?;
        anyhow::ensure!(status < 300, "{status}: {stored}");
        Ok(stored)
    }

    async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        let (status, answer) = self.customer.call("POST", path, Some(&body), None).await?;
        anyhow::ensure!(status < 300, "{status}: {answer}");
        Ok(answer)
    }

    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let (status, answer) = self.customer.call("GET", path, None, None).await?;
        anyhow::ensure!(status == 200, "{status}: {answer}");
        Ok(answer)
    }

    /// Submits tasks that do nothing; their ids.
    async fn submit(&self, count: usize) -> anyhow::Result<Vec<String>> {
        let task = json!({"name": "nothing", "labels": {"team": "data"}, "run": {"noop": {}}});
        self.customer.submit_batch(&vec![task; count], &format!("many-{count}")).await
    }

    /// Waits until the receiver has taken so many different deliveries.
    async fn taken(&self, count: usize) -> anyhow::Result<Vec<Received>> {
        poll::until("the deliveries", SOON, || async {
            let taken = self.receiver.taken();
            taken.iter().map(|one| one.header("webhook-id")).collect::<BTreeSet<_>>().len() >= count
        })
        .await?;
        Ok(self.receiver.taken())
    }
}

fn subject(received: &Received) -> String {
    received.json()["subject"].as_str().unwrap_or_default().to_owned()
}

fn verifies(received: &Received, secret: &SigningSecret) -> bool {
    let timestamp = received.header("webhook-timestamp").parse().unwrap_or(0);
    let wanted = secret.sign(received.header("webhook-id"), timestamp, &received.body);
    received.header("webhook-signature").split(' ').any(|signature| signature == wanted)
}

fn secret_of(webhook: &Value) -> anyhow::Result<SigningSecret> {
    Ok(webhook["secret"].as_str().unwrap_or_default().parse()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_end_is_told_signed_and_logged_and_only_what_is_asked_for() -> anyhow::Result<()> {
    let world = world(local()).await?;
    let ends = json!({"url": world.receiver.url("/ends"), "events": ["berth.task.succeeded"], "labels": {"team": "data"},
        "headers": {"X-Key": "hunter2"}});
    let made = world.put("ends", ends).await?;
    let secret = secret_of(&made)?;
    let none = json!({"url": world.receiver.url("/none"), "labels": {"team": "other"}});
    world.put("none", none).await?;
    let text = json!({"url": world.receiver.url("/text"), "events": ["berth.task.succeeded"],
        "payload": {"text": {"$event": "/data/name"}, "fixed": "nächtlich"}});
    world.put("text", text).await?;
    let ids = world.submit(20).await?;
    let received = world.taken(40).await?;
    let at = |path: &str| received.iter().filter(|one| one.path == path).collect::<Vec<_>>();
    let told: BTreeSet<_> = at("/ends").iter().map(|one| subject(one)).collect();
    assert_eq!(told, ids.into_iter().collect());
    assert_eq!((at("/ends").len(), at("/text").len(), at("/none").len()), (20, 20, 0));
    for one in at("/ends") {
        assert!(verifies(one, &secret), "{one:?}");
        let event = one.json();
        assert_eq!(
            (&event["specversion"], &event["type"]),
            (&json!("1.0"), &json!("berth.task.succeeded"))
        );
        assert_eq!(
            (&event["data"]["name"], &event["data"]["state"]),
            (&json!("nothing"), &json!("succeeded"))
        );
        assert_eq!(one.header("content-type"), "application/cloudevents+json");
        assert_eq!(one.header("x-key"), "hunter2");
        let sent: i64 = one.header("webhook-timestamp").parse()?;
        assert!((clock::wall().timestamp() - sent).abs() < 60);
    }
    assert_eq!(at("/text")[0].json(), json!({"text": "nothing", "fixed": "nächtlich"}));

    // The log says the same as the receiver's own ledger.
    poll::until("the log", SOON, || async {
        let path = "/v1/webhooks/ends/deliveries?state=delivered&limit=200";
        world.get(path).await.is_ok_and(|page| page["data"].as_array().unwrap().len() == 20)
    })
    .await?;
    let page = world.get("/v1/webhooks/ends/deliveries?limit=200").await?;
    for delivery in page["data"].as_array().unwrap() {
        let id = delivery["id"].as_str().unwrap();
        let own: Vec<_> = received.iter().filter(|one| one.header("webhook-id") == id).collect();
        assert_eq!(
            (own.len(), &delivery["tries"], &delivery["log"][0]["status"]),
            (1, &json!(1), &json!(200))
        );
        assert_eq!(delivery["log"][0]["answer"], "done");
        let whole = world.get(&format!("/v1/webhooks/ends/deliveries/{id}")).await?;
        assert_eq!(whole["body"].as_str().unwrap().as_bytes(), own[0].body);
    }
    drop(world.tasks);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_a_replay_and_two_secrets() -> anyhow::Result<()> {
    let world = world(local()).await?;
    let made = world.put("all", json!({"url": world.receiver.url("/")})).await?;
    let old = secret_of(&made)?;
    world.post("/v1/webhooks/all/test", json!({})).await?;
    let first = world.taken(1).await?.remove(0);
    assert_eq!(first.json()["type"], "berth.webhook.test");
    assert!(verifies(&first, &old));
    let rotated = world.post("/v1/webhooks/all/rotate", json!({"keep_old": "1h"})).await?;
    let new = secret_of(&rotated)?;
    assert!(rotated["old_secret_until"].is_string(), "{rotated}");
    poll::until("the first to be logged", SOON, || async {
        let log = world.get("/v1/webhooks/all/deliveries?state=delivered").await;
        log.is_ok_and(|page| page["data"].as_array().unwrap().len() == 1)
    })
    .await?;
    let id = first.header("webhook-id");
    world.post(&format!("/v1/webhooks/all/deliveries/{id}/replay"), json!({})).await?;
    poll::until("the replay", SOON, || async { world.receiver.taken().len() == 2 }).await?;
    let again = world.receiver.taken().remove(1);
    assert_eq!((again.header("webhook-id"), &again.body), (id, &first.body));
    assert!(verifies(&again, &old) && verifies(&again, &new), "both sign");
    poll::until("it to be logged", SOON, || async {
        let log = world.get("/v1/webhooks/all/deliveries?state=delivered").await;
        log.is_ok_and(|page| page["data"].as_array().unwrap().len() == 1)
    })
    .await?;
    let all = world
        .post("/v1/webhooks/all/replay", json!({"from": "2020-01-01T00:00:00Z", "only": "all"}))
        .await?;
    assert_eq!(all["deliveries"], 1);
    poll::until("the third", SOON, || async { world.receiver.taken().len() == 3 }).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_and_order_is_kept_while_receiver_and_notifier_fail() -> anyhow::Result<()>
{
    // What a killed notifier had claimed is due again soon.
    let mut world = world(local().set("BERTH_NOTIFIER__TIMEOUT", "1s")).await?;
    let url = world.receiver.url("/");
    world.put("ordered", json!({"url": url, "events": ["berth.task.*"], "ordered": true})).await?;
    world.receiver.answer(Manner {
        status: 503,
        head: "Retry-After: 0\r\n".into(),
        ..Manner::default()
    });
    let ids = world.submit(60).await?;
    let notifier = world.cluster.of(Role::Notifier)[0];
    for round in 0..3 {
        poll::until("tries", SOON, || async { world.receiver.received().len() > round * 10 })
            .await?;
        world.cluster.kill9(notifier)?;
        world.cluster.launch(notifier)?;
        world.cluster.ready(notifier).await?;
    }
    world.receiver.answer(Manner::default());
    let ended = || {
        let taken = world.receiver.taken();
        let ended = taken.iter().filter(|one| one.json()["type"] == "berth.task.succeeded");
        ended.map(subject).collect::<BTreeSet<_>>()
    };
    poll::until("all ends", Duration::from_secs(90), || async { ended().len() == ids.len() })
        .await?;
    let mut last: BTreeMap<String, (String, String)> = BTreeMap::new();
    for one in world.receiver.taken() {
        let event = one.json();
        let subject = event["subject"].as_str().unwrap().to_owned();
        let (sequence, id) =
            (event["sequence"].as_str().unwrap().to_owned(), one.header("webhook-id").to_owned());
        if let Some((before, of)) = last.get(&subject) {
            assert!(
                *before < sequence || *of == id,
                "{subject}: {before} was taken before {sequence}"
            );
        }
        last.insert(subject, (sequence, id));
    }
    assert_eq!(world.cluster.panicked(), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_fails_for_long_is_disabled_told_and_resumed() -> anyhow::Result<()> {
    let shape = local()
        .set("BERTH_NOTIFIER__DISABLE_FAILURES", "3")
        .set("BERTH_NOTIFIER__DISABLE_AFTER", "0s");
    let world = world(shape).await?;
    world
        .put(
            "broken",
            json!({"url": world.receiver.url("/broken"), "events": ["berth.task.succeeded"]}),
        )
        .await?;
    world.receiver.answer(Manner { status: 500, ..Manner::default() });
    world.submit(5).await?;
    poll::until("it to be disabled", SOON, || async {
        world.get("/v1/webhooks/broken").await.is_ok_and(|one| one["disabled_at"].is_string())
    })
    .await?;
    let events =
        world.customer.answer("GET", "/v1/events?type=berth.webhook.*", None, None).await?;
    assert!(format!("{events:?}").contains("berth.webhook.disabled"), "{events:?}");
    // Each was tried; none is tried again.
    let tried = world.receiver.received().len();
    world.receiver.answer(Manner::default());
    world.submit(1).await?;
    world
        .put(
            "after",
            json!({"url": world.receiver.url("/after"), "events": ["berth.task.succeeded"]}),
        )
        .await?;
    world.post("/v1/webhooks/after/test", json!({})).await?;
    poll::until("another webhook's delivery", SOON, || async {
        !world.receiver.taken().is_empty()
    })
    .await?;
    let to_broken = |all: Vec<Received>| all.iter().filter(|one| one.path == "/broken").count();
    assert_eq!(to_broken(world.receiver.received()), tried);
    let resumed = world.post("/v1/webhooks/broken/resume", json!({})).await?;
    assert_eq!((&resumed["disabled_at"], &resumed["failures"]), (&Value::Null, &json!(0)));
    poll::until("all six", SOON, || async { to_broken(world.receiver.taken()) == 6 }).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn inner_addresses_are_refused_redirects_lead_nowhere_and_gone_is_gone() -> anyhow::Result<()>
{
    let world = world(Shape::default()).await?;
    for (name, host) in
        [("loopback", "127.0.0.1"), ("named", "localhost"), ("mapped", "[::ffff:127.0.0.1]")]
    {
        let url = format!("http://{host}:{}/", world.receiver.address.port());
        world.put(name, json!({"url": url})).await?;
        let delivery = world.post(&format!("/v1/webhooks/{name}/test"), json!({})).await?;
        let path = format!("/v1/webhooks/{name}/deliveries/{}", delivery["id"].as_str().unwrap());
        poll::until("the refusal", SOON, || async {
            let log = world.get(&path).await.unwrap_or_default();
            log["log"][0]["error"].as_str().is_some_and(|error| error.contains("refused"))
        })
        .await?;
    }
    assert_eq!(world.receiver.connections(), 0, "nothing was connected to");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_a_failure_and_who_is_gone_is_disabled_at_once() -> anyhow::Result<()> {
    let world = world(local()).await?;
    world.put("all", json!({"url": world.receiver.url("/")})).await?;
    let head = format!("Location: {}\r\n", world.receiver.url("/elsewhere"));
    world.receiver.answer(Manner { status: 307, head, ..Manner::default() });
    world.post("/v1/webhooks/all/test", json!({})).await?;
    poll::until("the redirect", SOON, || async {
        let log = world.get("/v1/webhooks/all/deliveries").await.unwrap_or_default();
        log["data"][0]["log"][0]["status"] == 307
    })
    .await?;
    assert!(world.receiver.received().iter().all(|one| one.path == "/"));
    world.receiver.answer(Manner { status: 410, ..Manner::default() });
    world.post("/v1/webhooks/all/test", json!({})).await?;
    poll::until("it to be disabled", SOON, || async {
        let one = world.get("/v1/webhooks/all").await.unwrap_or_default();
        one["disabled_reason"].as_str().is_some_and(|reason| reason.contains("410"))
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_hangs_holds_up_no_other() -> anyhow::Result<()> {
    let world = world(local()).await?;
    let slow = Receiver::start(&world.tasks).await?;
    slow.answer(Manner { wait: Duration::from_secs(600), ..Manner::default() });
    let events = json!(["berth.task.succeeded"]);
    world.put("a-slow", json!({"url": slow.url("/"), "events": events})).await?;
    world.put("fast", json!({"url": world.receiver.url("/"), "events": events})).await?;
    world.submit(300).await?;
    let began = clock::monotonic();
    world.taken(300).await?;
    // The first tries of the other have not even timed out.
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    assert!(slow.received().len() <= 64, "it has its share of connections and no more");
    Ok(())
}

/// Verifies each case of the file named first, and that another byte is refused.
const PYTHON: &str = r#"
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
for case in json.load(open(sys.argv[1])):
    webhook, body = Webhook(case["secret"]), case["body"].encode()
    webhook.verify(body, case["headers"], json_parse=False)
    try:
        webhook.verify(body + b" ", case["headers"], json_parse=False)
    except WebhookVerificationError:
        continue
    sys.exit("a changed body was accepted")
"#;

/// The same.
const NODE: &str = r#"
const { Webhook } = require("standardwebhooks");
for (const one of JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"))) {
    const webhook = new Webhook(one.secret);
    webhook.verify(Buffer.from(one.body), one.headers, { jsonParse: false });
    let accepted = true;
    try { webhook.verify(Buffer.from(one.body + " "), one.headers, { jsonParse: false }); } catch { accepted = false; }
    if (accepted) throw new Error("a changed body was accepted");
}
"#;

/// Runs a program in a folder; false where it is not there, or fails.
fn runs(folder: &Path, program: &str, arguments: &[&str]) -> bool {
    let done = Command::new(program).args(arguments).current_dir(folder).output();
    done.inspect(|done| eprint!("{}", String::from_utf8_lossy(&done.stderr)))
        .is_ok_and(|done| done.status.success())
}

#[test]
fn the_published_packages_verify_what_is_signed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (old, new) = (SigningSecret::of([7; 32]), SigningSecret::of([9; 32]));
    let now = clock::wall().timestamp();
    let long = format!("{{\"text\": \"{}\"}}", "ü€🛶".repeat(600_000));
    let case = |secret: &SigningSecret, body: &str| {
        let signatures = [&new, &old].map(|one| one.sign("delivery_1", now, body.as_bytes()));
        json!({"secret": secret.reveal(), "body": body, "headers": {"webhook-id": "delivery_1", "webhook-timestamp": now.to_string(),
            "webhook-signature": signatures.join(" ")}})
    };
    let bodies = ["", r#"{"a": 1}"#, r#"{"name": "nächtlich 夜"}"#, long.as_str()];
    let cases: Vec<_> =
        bodies.iter().flat_map(|body| [case(&old, body), case(&new, body)]).collect();
    std::fs::write(at.join("cases.json"), json!(cases).to_string()).unwrap();
    let mut checked = 0;
    let python = runs(at, "python3", &["-m", "venv", "venv"])
        && runs(
            at,
            "venv/bin/python",
            &["-m", "pip", "install", "--quiet", "standardwebhooks==1.1.0"],
        );
    if python {
        assert!(runs(at, "venv/bin/python", &["-c", PYTHON, "cases.json"]), "the package of PyPI");
        checked += 1;
    } else {
        println!("SKIPPED: no Python 3 with venv, or PyPI cannot be reached");
    }
    std::fs::write(at.join("verify.js"), NODE).unwrap();
    if runs(at, "npm", &["install", "--silent", "--no-save", "standardwebhooks@1.1.1"]) {
        assert!(runs(at, "node", &["verify.js", "cases.json"]), "the package of npm");
        checked += 1;
    } else {
        println!("SKIPPED: no npm, or its registry cannot be reached");
    }
    println!("{checked} packages verify {} deliveries", cases.len());
}

/// What is promised of pace and memory, measured on the programs of the release: `make chaos ROW=webhooks`.
mod chaos {
    use super::*;

    /// Milliseconds from the end of each task to the first byte at the receiver, sorted.
    async fn from_end_to_first_byte(world: &World) -> anyhow::Result<Vec<f64>> {
        let sql = "select id, extract(epoch from finished_at) * 1000 from task_history";
        let ended = psql::run(world.cluster.database().owner_url(), sql).await?;
        let ended: BTreeMap<String, f64> = ended
            .lines()
            .filter_map(|line| line.split_once('|'))
            .filter_map(|(id, at)| {
                Some((format!("task_{}", id.replace('-', "")), at.parse().ok()?))
            })
            .collect();
        let mut all: Vec<f64> = world
            .receiver
            .taken()
            .iter()
            .filter_map(|one| {
                let micros = one.at.timestamp_micros() as f64;
                Some(micros / 1000.0 - ended.get(&subject(one))?)
            })
            .collect();
        all.sort_by(f64::total_cmp);
        Ok(all)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_end_is_told_within_fifty_milliseconds_at_five_hundred_a_second()
    -> anyhow::Result<()> {
        let world = world(local()).await?;
        let ends = json!({"url": world.receiver.url("/"), "events": ["berth.task.succeeded"]});
        world.put("ends", ends).await?;
        let (batches, each) = (200, 50);
        let began = clock::monotonic();
        for number in 0..batches {
            clock::sleep_until(began + Duration::from_millis(100) * number).await;
            let task = json!({"name": "nothing", "run": {"noop": {}}});
            let tag = format!("paced-{number}");
            world.customer.submit_batch(&vec![task; each], &tag).await?;
        }
        world.taken(batches as usize * each).await?;
        let all = from_end_to_first_byte(&world).await?;
        let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
        println!(
            "{} ends at 500/s: p50 {:.1} ms, p99 {:.1} ms, last {:.1} ms",
            all.len(),
            at(0.5),
            at(0.99),
            at(1.0)
        );
        assert!(at(0.99) <= 50.0, "p99 {:.1} ms", at(0.99));
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_undelivered_events_are_caught_up_with_in_little_memory() -> anyhow::Result<()> {
        let events: usize = if std::env::var_os("SCALE").is_some() { 1_000_000 } else { 50_000 };
        let mut world = world(local()).await?;
        let all =
            json!({"url": world.receiver.url("/"), "events": ["berth.quota.*"], "paused": true});
        world.put("all", all.clone()).await?;
        let database = world.cluster.database().owner_url().to_owned();
        let sql = format!(
            "insert into task_event (tenant_id, kind, detail)
                select t.id, 'quota_nearly_used', jsonb_build_object('quota', 'backlog', 'n', n)
                from tenant t, generate_series(1, {events}) n where t.name = 'acme'"
        );
        psql::run(&database, &sql).await?;
        let mut going = all;
        going["paused"] = json!(false);
        world.put("all", going).await?;
        let began = clock::monotonic();
        let notifier = world.cluster.of(Role::Notifier)[0];
        let pid = world.cluster.process(notifier)?.pid();
        let mut most = 0;
        while world.receiver.count() < events {
            most = most.max(testkit::memory::resident_kib(pid)?);
            anyhow::ensure!(began.elapsed() < Duration::from_secs(1200), "it does not catch up");
            clock::sleep(Duration::from_millis(100)).await;
        }
        let rate = events as f64 / began.elapsed().as_secs_f64();
        println!("{events} deliveries at {rate:.0}/s, {} MiB at most", most / 1024);
        assert!(most <= 80 * 1024, "{most} KiB");
        assert!(rate >= 2000.0, "{rate:.0}/s");
        Ok(())
    }
}
