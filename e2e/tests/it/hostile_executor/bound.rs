//! What an executor with the secret can do in another's name: nothing. And what costs a connection without the secret: little.

use super::executor::{Hostile, POOL, encoded, hello};
use super::reports::result;
use super::{SOON, ended, submit};
use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Shape, sum};
use protocol::refused::Reason;
use protocol::result::Outcome;
use protocol::result_answer::Verdict;
use protocol::to_executor::Message as Heard;
use protocol::{Hello, Lease, Results};
use runtime::clock;
use serde_json::json;
use std::time::Duration;
use testkit::poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uuid::Uuid;

/// In the default pool.
const HONEST: &str = "executor-0";
/// To be closed, and some.
const CLOSED: Duration = Duration::from_secs(5);

/// What an honest executor has told Berth of itself, and the lease that it holds.
struct Honest {
    hello: Hello,
    lease: Lease,
    task: String,
}

impl Honest {
    async fn at_work(cluster: &Cluster, customer: &Customer) -> anyhow::Result<Self> {
        let task = submit(customer, &json!({ "run": { "noop": { "sleep": "3s" } } })).await?;
        poll::until("it runs", SOON, || async {
            customer.get(&task).await.is_ok_and(|task| task["state"] == "running")
        })
        .await?;
        let rows = Oracle::of(cluster)
            .rows("select t.tenant_id, t.id, s.id from task t join executor_session s on s.id = t.session_id")
            .await?;
        let [tenant, id, session] = rows.first().context("no lease")?.as_slice() else {
            anyhow::bail!("{rows:?}");
        };
        let bytes = |id: &str| anyhow::Ok(Uuid::parse_str(id)?.as_bytes().to_vec());
        let lease = Lease { tenant_id: bytes(tenant)?, task_id: bytes(id)?, attempt: 1 };
        let hello = Hello {
            session_id: bytes(session)?,
            pool: "default".to_owned(),
            last_assignment: 1,
            ..hello(HONEST)
        };
        Ok(Self { hello, lease, task })
    }
}

async fn refusal(cluster: &Cluster, hello: Hello) -> anyhow::Result<(Reason, String)> {
    match Hostile::greet(cluster, hello).await?.1 {
        Heard::Refused(refused) => Ok((refused.reason(), refused.detail)),
        other => anyhow::bail!("not refused: {other:?}"),
    }
}

/// A result that names the session of another executor, under which the lease is live.
async fn forge(hostile: &mut Hostile, honest: &Honest) -> anyhow::Result<Verdict> {
    let forged = result(&honest.lease, &honest.hello.session_id, Outcome::Succeeded);
    hostile.say(encoded(Results { results: vec![forged] })).await?;
    loop {
        if let Heard::Results(answers) = hostile.hear().await?.context("the stream has ended")? {
            return Ok(answers.answers.first().context("no answer")?.verdict());
        }
    }
}

async fn in_the_name_of_another(cluster: &mut Cluster, customer: &Customer) -> anyhow::Result<()> {
    let honest = Honest::at_work(cluster, customer).await?;
    let mut hostile = Hostile::connect(cluster, hello("thief")).await?;
    assert_eq!(forge(&mut hostile, &honest).await?, Verdict::Stale);
    assert_eq!(customer.get(&honest.task).await?["state"], "running");
    let counted = "berth_foreign_results_total";
    assert_eq!(sum(cluster, Role::ResourceManager, counted, &[]).await?, 1.0);

    let own = &honest.hello;
    for taken in [
        Hello { executor_id: "thief-too".to_owned(), ..own.clone() },
        Hello { pool: POOL.to_owned(), ..own.clone() },
        // Another capacity than the session was opened with.
        Hello { capacity: None, ..own.clone() },
    ] {
        let (reason, detail) = refusal(cluster, taken).await?;
        assert_eq!(reason, Reason::SessionOver, "{detail}");
    }
    let fresh = Uuid::now_v7().as_bytes().to_vec();
    let (reason, detail) = refusal(cluster, Hello { session_id: fresh, ..own.clone() }).await?;
    assert_eq!(reason, Reason::NameTaken, "{detail}");

    let task = ended(customer, &honest.task).await?;
    assert_eq!((&task["state"], &task["attempts"]), (&json!("succeeded"), &json!(1)), "{task}");
    Ok(())
}

async fn where_nobody_asked_for_it(cluster: &Cluster) -> anyhow::Result<()> {
    let nowhere = Hello { pool: "nowhere".to_owned(), ..hello("stray") };
    let (reason, detail) = refusal(cluster, nowhere).await?;
    assert_eq!(reason, Reason::Invalid);
    assert!(detail.contains("berth admin pool set nowhere"), "{detail}");
    let limit = ["admin", "pool", "set", POOL, "--max-executor", "cpu_millis=15999"];
    assert!(cluster.berth(&limit).await?.contains("cpu_millis=15999"));
    let unknown = ["admin", "pool", "set", POOL, "--max-executor", "gpus=1"];
    assert!(cluster.berth(&unknown).await.is_err());
    let (reason, detail) = refusal(cluster, hello("giant")).await?;
    assert_eq!(reason, Reason::Invalid);
    assert!(detail.contains("15999 cpu_millis"), "{detail}");
    assert!(detail.contains("--max-executor cpu_millis="), "{detail}");
    let unknown = "select (select count(*) from executor_session where pool = 'nowhere' or executor_id = 'giant')
        + (select count(*) from pool_load where pool = 'nowhere')";
    assert_eq!(Oracle::of(cluster).number(unknown).await?, 0);
    Ok(())
}

/// Killed, with a term that runs for long: its folder proves that it is the same.
async fn a_restart_needs_no_patience(cluster: &mut Cluster) -> anyhow::Result<Duration> {
    let at = cluster.of(Role::Executor)[0];
    cluster.kill9(at)?;
    let killed = clock::monotonic();
    cluster.launch(at)?;
    // It is ready once it is welcome.
    cluster.ready(at).await?;
    Ok(killed.elapsed())
}

/// How long the peer takes to close it.
async fn closed_after(mut socket: TcpStream) -> anyhow::Result<Duration> {
    let began = clock::monotonic();
    let mut bytes = [0; 256];
    let end = async { while socket.read(&mut bytes).await.is_ok_and(|read| read > 0) {} };
    clock::timeout(CLOSED, end).await.context("it was not closed")?;
    Ok(began.elapsed())
}

async fn silent_connections(cluster: &mut Cluster) -> anyhow::Result<()> {
    let address = cluster.manager_urls().trim_start_matches("http://").to_owned();
    let manager = Role::ResourceManager;
    // Connections of earlier steps that were not admitted have a place until they are closed.
    let (executors, began) = (cluster.of(Role::Executor).len() as f64, clock::monotonic());
    while sum(cluster, manager, "berth_executor_connections", &[]).await? > executors {
        anyhow::ensure!(began.elapsed() < SOON, "others than executors are still connected");
        clock::sleep(Duration::from_millis(10)).await;
    }
    // A quarter of 16 may be silent from one address: the fifth finds no place.
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(TcpStream::connect(&address).await?);
    }
    // The first words of HTTP/2, and then nothing: it has not shown the secret either.
    silent[0].write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await?;
    let beyond = closed_after(TcpStream::connect(&address).await?).await?;
    assert!(beyond < Duration::from_millis(500), "closed after {beyond:?}");
    for socket in silent {
        closed_after(socket).await?;
    }
    let why = |why: &str| format!("why=\"{why}\"");
    let closed = "berth_executor_connections_closed_total";
    assert!(sum(cluster, manager, closed, &[&why("silent")]).await? >= 4.0);
    assert!(sum(cluster, manager, closed, &[&why("too_many")]).await? >= 1.0);
    // There is room again.
    Hostile::connect(cluster, Hello { pool: "default".to_owned(), ..hello("late") }).await?;
    Ok(())
}

/// Whoever knows a session's id can take it over, so nobody may read it in a log.
async fn logs_tell_no_session(cluster: &mut Cluster) -> anyhow::Result<()> {
    let sessions = Oracle::of(cluster).rows("select id from executor_session").await?;
    assert!(sessions.len() > 3, "{sessions:?}");
    for role in Role::ALL {
        for at in cluster.of(role) {
            let log = cluster.process(at)?.log();
            for id in sessions.iter().flatten() {
                let logged = log.contains(id) || log.contains(&id.replace('-', ""));
                assert!(!logged, "{role:?} logs {id}");
            }
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_has_its_own_name_pool_and_session_and_no_other() -> anyhow::Result<()> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    let shape = shape
        .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "2m")
        .set("BERTH_RESOURCE_MANAGER__MAX_CONNECTIONS", "16")
        .set("BERTH_RESOURCE_MANAGER__FIRST_CALL_TIMEOUT", "1s");
    let mut cluster = Cluster::start(shape).await?;
    cluster.berth(&["admin", "pool", "set", POOL, "--everyone", "on"]).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    in_the_name_of_another(&mut cluster, &customer).await?;
    where_nobody_asked_for_it(&cluster).await?;
    let back = a_restart_needs_no_patience(&mut cluster).await?;
    eprintln!("a killed executor was back after {back:?}");
    assert!(back < Duration::from_secs(10), "back after {back:?} of a term of 2 min");
    silent_connections(&mut cluster).await?;
    logs_tell_no_session(&mut cluster).await?;
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}
