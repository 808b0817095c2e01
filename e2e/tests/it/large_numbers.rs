//! A Berth whose counters have passed 32 bits: every flow of the API goes on, ids are text, and no number is beyond what JavaScript
//! can hold.

use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::poll;
use testkit::services::TestBroker;

const SOON: Duration = Duration::from_secs(20);
/// Past what 32 bits hold.
const BEYOND: &str = "2147483653";
/// The largest whole number that JavaScript tells from its neighbours.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// What is wrong with the numbers and ids of an answer.
fn unsafe_in(path: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Number(number) if number.as_f64().is_none_or(|number| number.abs() > SAFE) => {
            vec![format!("{path} is {number}")]
        }
        Value::Array(all) => all.iter().flat_map(|one| unsafe_in(path, one)).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| {
                let mut found = unsafe_in(&format!("{path}.{name}"), value);
                let is_id = name == "id" || name.ends_with("_id");
                if is_id && !(value.is_string() || value.is_null()) {
                    found.push(format!("{path}.{name} is no text: {value}"));
                }
                found
            })
            .collect(),
        _ => Vec::new(),
    }
}

struct Caller<'a> {
    customer: &'a Customer,
    wrong: Vec<String>,
}

impl Caller<'_> {
    async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> anyhow::Result<Value> {
        let (status, answer) = self.customer.call(method, path, body.as_ref(), None).await?;
        anyhow::ensure!(
            (200..300).contains(&status),
            "{method} {path} answered {status}: {answer}"
        );
        self.wrong.extend(unsafe_in(path, &answer));
        Ok(answer)
    }
}

/// Sequences and counters of the tables, raised before any process has seen them; what is counted within one process's life is
/// raised by the tests of the store.
async fn raise(database: &TestDatabase) -> anyhow::Result<()> {
    let sql = format!(
        "do $$ declare s regclass; begin
            for s in select (schemaname || '.' || sequencename)::regclass from pg_sequences where schemaname = 'public' loop
                perform setval(s, {BEYOND});
            end loop; end $$;
        update leadership set epoch = {BEYOND};
        alter table schedule_shard alter column epoch set default {BEYOND};
        update schedule_shard set epoch = {BEYOND};
        alter table schedule alter column version set default {BEYOND};
        alter table schedule alter column fires set default {BEYOND}"
    );
    database.sql(&sql).await.map(drop)
}

/// Asks for everything that a customer can.
async fn every_flow(cluster: &Cluster) -> anyhow::Result<()> {
    let customer = Customer::sign_up(cluster, "acme").await?;
    let mut caller = Caller { customer: &customer, wrong: Vec::new() };
    let argv = ["sh", "-c", "echo hi; [ $BERTH_ATTEMPT -ge 2 ]"];
    let task = json!({ "run": { "command": { "argv": argv } }, "max_attempts": 3,
        "retry": { "backoff": "constant", "initial": "100ms", "jitter": false } });
    let made = caller.call("POST", "/v1/tasks", Some(task)).await?;
    let id = made["id"].as_str().context("no id")?.to_owned();
    let later = json!({ "run": { "noop": {} }, "delay": "1h" });
    let batch = json!({ "tasks": [{ "run": { "noop": {} } }, later] });
    let batch = caller.call("POST", "/v1/tasks/batch", Some(batch)).await?;
    let waits = batch["results"][1]["task"]["id"].as_str().context("no id")?.to_owned();
    caller.call("GET", &format!("/v1/tasks/{waits}/explain"), None).await?;
    caller.call("POST", &format!("/v1/tasks/{waits}/cancel"), None).await?;
    let every = json!({ "timing": { "specs": [{ "every": { "every": "1s" } }] }, "task": { "run": { "noop": {} } } });
    caller.call("PUT", "/v1/schedules/often", Some(every)).await?;
    let fired = "select count(*) from schedule_fire where task_id is not null";
    let oracle = Oracle::of(cluster);
    poll::until("a schedule to fire", SOON, || async {
        oracle.number(fired).await.is_ok_and(|fires| fires >= 2)
    })
    .await?;
    caller.call("POST", "/v1/schedules/often/trigger", None).await?;
    caller.call("POST", "/v1/schedules/often/pause", Some(json!({}))).await?;
    for path in [
        "/v1/schedules",
        "/v1/schedules/often",
        "/v1/schedules/often/fires",
        "/v1/limits",
        "/v1/concurrency-limits",
    ] {
        caller.call("GET", path, None).await?;
    }
    oracle.drained(SOON).await?;
    for part in ["", "/attempts", "/logs", "/explain"] {
        caller.call("GET", &format!("/v1/tasks/{id}{part}"), None).await?;
    }
    assert_eq!(customer.get(&id).await?["state"], "succeeded");
    caller.call("GET", "/v1/tasks?limit=200", None).await?;
    caller.call("GET", "/v1/usage", None).await?;
    assert_eq!(caller.wrong, Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_goes_on_when_counters_have_passed_32_bits() -> anyhow::Result<()> {
    let database = TestDatabase::new().await?;
    raise(&database).await?;
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    let mut cluster = Cluster::on(shape, database, TestBroker::new().await?, None).await?;
    Oracle::of(&cluster).free_again(64, SOON).await?;
    // A session that was adopted very often.
    let manager = *cluster.of(Role::ResourceManager).first().context("no resource manager")?;
    cluster.kill9(manager)?;
    let adopted =
        format!("update executor_session set owner_epoch = {BEYOND} where state <> 'over'");
    cluster.database().sql(&adopted).await?;
    cluster.launch(manager)?;
    cluster.ready(manager).await?;

    every_flow(&cluster).await?;
    let oracle = Oracle::of(&cluster);
    assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());

    let past = |sql: &str| format!("select count(*) from ({sql}) t(n) where n > {BEYOND}");
    for counted in [
        "select epoch from leadership",
        "select max(owner_epoch) from executor_session",
        "select max(epoch) from schedule_shard",
        "select fires from schedule",
    ] {
        assert_eq!(oracle.number(&past(counted)).await?, 1, "{counted} did not go on from there");
    }
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}
