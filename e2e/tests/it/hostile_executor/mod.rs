//! An executor that lies: whatever it says of its attempts is bounded, kept as bytes or refused. Its tasks end by rule and can be
//! read, nothing it says reaches the database as an error, and an executor beside it goes on undisturbed.

mod bound;
mod executor;
mod refusing;
mod reports;
use anyhow::Context;
use domain::id::SessionId;
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use executor::{Hostile, POOL, encoded, hello};
use protocol::result::Outcome;
use protocol::to_executor::Message as Heard;
use protocol::{Hello, Lease, Output, Results};
use reports::{Report, Then, chunk, result};
use runtime::clock;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testkit::collector::Collector;
use testkit::memory::peak_kib;
use testkit::poll;
use uuid::Uuid;

const SOON: Duration = Duration::from_secs(60);
/// The longest that a task of the honest executor may take, from its due time to its end.
const UNDISTURBED_MS: i64 = 5000;
/// What the resource manager may grow by. One message at the limit takes some copies of 8 MiB.
const MOST_GROWN_KIB: usize = 192 * 1024;

async fn submit(customer: &Customer, task: &Value) -> anyhow::Result<String> {
    let (status, made) = customer.call("POST", "/v1/tasks", Some(task), None).await?;
    anyhow::ensure!(status == 201, "submit answered {status}: {made}");
    Ok(made["id"].as_str().context("no id")?.to_owned())
}

async fn ended(customer: &Customer, id: &str) -> anyhow::Result<Value> {
    poll::until_some(id, SOON, || async {
        customer.get(id).await.ok().filter(|task| !task["finished_at"].is_null())
    })
    .await
}

/// Reads all there is of a task, and holds it against what its attempts may say.
async fn readable(customer: &Customer, id: &str) -> anyhow::Result<Vec<Value>> {
    let read = async |path: &str| {
        let (status, body) = customer.call("GET", path, None, None).await?;
        anyhow::ensure!(status == 200, "{path} answered {status}: {body}");
        Ok(body)
    };
    read(&format!("/v1/tasks/{id}/logs?format=raw")).await?;
    let logs = read(&format!("/v1/tasks/{id}/logs?limit=200")).await?;
    anyhow::ensure!(logs["data"].is_array(), "the output is no JSON: {logs}");
    let attempts = read(&format!("/v1/tasks/{id}/attempts")).await?;
    let attempts = attempts["data"].as_array().context("no attempts")?.clone();
    for attempt in &attempts {
        let reason = attempt["reason"].as_str().unwrap_or_default();
        anyhow::ensure!(reason.len() <= 1024 && !reason.contains('\0'), "{}", reason.len());
    }
    Ok(attempts)
}

async fn say(
    cluster: &Cluster,
    customer: &Customer,
    mut hostile: Hostile,
    report: &Report,
) -> anyhow::Result<Hostile> {
    let task = json!({ "name": report.name, "run": { "noop": {} }, "pool": POOL, "max_attempts": 1,
        "delivery": "at_most_once" });
    let id = submit(customer, &task).await?;
    let lease = hostile.assigned().await?;
    assert_eq!(lease.key(SessionId::fresh())?.task.to_string(), id);
    for message in (report.say)(&lease, &hostile.session()) {
        hostile.say(message).await?;
    }
    let states = match report.then {
        Then::Answered(count, states) => {
            hostile.answered(&lease, count).await?;
            states
        }
        Then::Closed => {
            hostile.ended().await?;
            hostile = hostile.again(cluster).await?;
            &["failed"]
        }
    };
    let task = ended(customer, &id).await?;
    assert!(states.iter().any(|state| task["state"] == *state), "{task}");
    assert_eq!(readable(customer, &id).await?.len(), 1);
    Ok(hostile)
}

/// Says of a task that the honest executor runs that it has ended, and what it wrote.
async fn of_another(
    cluster: &Cluster,
    customer: &Customer,
    hostile: &mut Hostile,
) -> anyhow::Result<()> {
    let argv = ["bash", "-c", "sleep 1; echo honest"];
    let task = json!({ "name": "another", "run": { "command": { "argv": argv } } });
    let id = submit(customer, &task).await?;
    poll::until("it runs", SOON, || async {
        customer.get(&id).await.is_ok_and(|task| task["state"] == "running")
    })
    .await?;
    let rows = Oracle::of(cluster)
        .rows("select t.tenant_id, t.id from task t join task_spec s on s.id = t.id where s.name = 'another'")
        .await?;
    let [tenant, task] = rows.first().context("no such task")?.as_slice() else {
        anyhow::bail!("{rows:?}");
    };
    let bytes = |id: &str| anyhow::Ok(Uuid::parse_str(id)?.as_bytes().to_vec());
    let given = Lease { tenant_id: bytes(tenant)?, task_id: bytes(task)?, attempt: 1 };
    hostile.say(encoded(Output { chunks: vec![chunk(&given, 0, b"forged".to_vec())] })).await?;
    let forged = result(&given, &hostile.session(), Outcome::Failed);
    hostile.say(encoded(Results { results: vec![forged] })).await?;
    hostile.answered(&given, 1).await?;
    assert_eq!(customer.get(&id).await?["state"], "running");
    let task = ended(customer, &id).await?;
    assert_eq!((&task["state"], &task["attempts"]), (&json!("succeeded"), &json!(1)), "{task}");
    let (_, logs) = customer.call("GET", &format!("/v1/tasks/{id}/logs"), None, None).await?;
    assert_eq!(logs["data"][0]["text"], "honest\n", "{logs}");
    Ok(())
}

/// Says hello as nobody would.
async fn greet_strangely(cluster: &Cluster) -> anyhow::Result<()> {
    for last_assignment in [u64::MAX, u64::MAX - 1] {
        let strange = Hello { last_assignment, ..hello("stranger") };
        let (_, answer) = Hostile::greet(cluster, strange).await?;
        anyhow::ensure!(matches!(answer, Heard::Refused(_)), "{answer:?}");
    }
    let strange = Hello { version: "\0".repeat(100_000), ..hello("another-stranger") };
    Hostile::connect(cluster, strange).await.map(|_| ())
}

/// Runs short tasks on the honest executor until told to stop; says how many.
async fn bystander(customer: &Customer, stop: &AtomicBool) -> anyhow::Result<usize> {
    let task = json!({ "run": { "noop": { "sleep": "10ms" } }, "max_attempts": 1 });
    let mut submitted = 0;
    while !stop.load(Ordering::Relaxed) {
        submit(customer, &task).await?;
        submitted += 1;
        clock::sleep(Duration::from_millis(50)).await;
    }
    Ok(submitted)
}

async fn lie(cluster: &Cluster, customer: &Customer) -> anyhow::Result<()> {
    let mut hostile = Hostile::connect(cluster, hello("liar")).await?;
    for report in &reports::ALL {
        let began = clock::monotonic();
        hostile = say(cluster, customer, hostile, report).await.context(report.name)?;
        eprintln!("{:>8.1?} {}", began.elapsed(), report.name);
    }
    of_another(cluster, customer, &mut hostile).await?;
    greet_strangely(cluster).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_lying_executor_reports_is_bounded_and_hurts_nobody() -> anyhow::Result<()> {
    let collector = Collector::start().await?;
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    let shape = shape
        .set("BERTH_TELEMETRY__OTLP_ENDPOINT", collector.endpoint())
        .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "2m");
    let mut cluster = Cluster::start(shape).await?;
    cluster.berth(&["admin", "pool", "set", POOL, "--everyone", "on"]).await?;
    let (customer, other) =
        (Customer::sign_up(&cluster, "acme").await?, Customer::sign_up(&cluster, "honest").await?);
    let probe = json!({ "run": { "noop": {} }, "pool": POOL, "delay": "1h" });
    poll::until("the pool is known", SOON, || async { submit(&customer, &probe).await.is_ok() })
        .await?;
    let at = *cluster.of(Role::ResourceManager).first().context("no resource manager")?;
    let pid = cluster.process(at)?.pid();
    let memory = peak_kib(pid)?;

    let stop = AtomicBool::new(false);
    let lying = async {
        let lied = lie(&cluster, &customer).await;
        stop.store(true, Ordering::Relaxed);
        lied
    };
    let (lied, submitted) = tokio::join!(lying, bystander(&other, &stop));
    let log = cluster.process(at)?.log();
    lied?;
    let submitted = submitted?;
    let grown = peak_kib(pid)?.saturating_sub(memory);

    let oracle = Oracle::of(&cluster);
    poll::until("the bystander's tasks end", SOON, || async {
        oracle.number("select count(*) from task where state <> 'scheduled'").await.ok() == Some(0)
    })
    .await?;
    let undisturbed = oracle
        .number(
            "select count(*) from task_history h join tenant t on t.id = h.tenant_id
                where t.name = 'honest' and h.state = 'succeeded' and h.attempt = 1",
        )
        .await?;
    let slowest = oracle
        .number(
            "select max(extract(epoch from h.finished_at - h.run_at) * 1000)::bigint from task_history h
                join tenant t on t.id = h.tenant_id where t.name = 'honest'",
        )
        .await?;
    eprintln!("grown by {grown} KiB; {submitted} tasks beside it, the slowest took {slowest} ms");
    assert_eq!(undisturbed, i64::try_from(submitted)?);
    assert!(slowest <= UNDISTURBED_MS, "a task beside it took {slowest} ms");
    assert!(grown <= MOST_GROWN_KIB, "grown by {grown} KiB");
    let overcharged = "select count(*) from attempt where usage_ms < 0
        or usage_ms > extract(epoch from ended_at - placed_at) * 1000 + 1";
    assert_eq!(oracle.number(overcharged).await?, 0);
    for refused in ["could not be settled", "was refused by the database", "could not be stored"] {
        assert!(!log.contains(refused), "{log}");
    }
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}
