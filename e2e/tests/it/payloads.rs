//! Requests made to be expensive (C11): each is refused quickly, fills no memory, and nobody else waits for it.
//!
//! Raw sockets to one real api process, whose memory is its own. A new one goes into `payloads`.

use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use runtime::clock;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Until a payload is refused, in the best of its tries, besides the time to read it.
const QUICK: Duration = Duration::from_millis(100);
const MOST_GROWN_KIB: usize = 64 * 1024;
const ASKS: usize = 200;

struct Payload {
    name: &'static str,
    bytes: Vec<u8>,
}

struct Maker {
    key: String,
    all: Vec<Payload>,
}

impl Maker {
    fn head(&mut self, name: &'static str, start: &str, headers: &str) {
        let key = &self.key;
        let bytes = format!(
            "{start} HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n{headers}\r\n"
        );
        self.all.push(Payload { name, bytes: bytes.into_bytes() });
    }

    fn post(&mut self, name: &'static str, path: &str, kind: &str, body: &[u8]) {
        let headers =
            format!("Content-Type: application/{kind}\r\nContent-Length: {}\r\n", body.len());
        self.head(name, &format!("POST {path}"), &headers);
        self.all.iter_mut().rev().take(1).for_each(|payload| payload.bytes.extend(body));
    }

    fn task(&mut self, name: &'static str, body: impl AsRef<[u8]>) {
        self.post(name, "/v1/tasks", "json", body.as_ref());
    }

    fn batch(&mut self, name: &'static str, body: impl AsRef<[u8]>) {
        self.post(name, "/v1/tasks/batch", "json", body.as_ref());
    }
}

/// Bytes that become a thousand times as many.
fn zipped(mib: usize) -> anyhow::Result<Vec<u8>> {
    let mut gzip =
        Command::new("gzip").arg("-9c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = gzip.stdin.take().context("gzip has no input")?;
    let writer = std::thread::spawn(move || {
        (0..mib).try_for_each(|_| input.write_all(&vec![b' '; 1024 * 1024]))
    });
    let output = gzip.wait_with_output()?;
    writer.join().map_err(|_| anyhow::anyhow!("writing to gzip"))??;
    Ok(output.stdout)
}

fn payloads(key: &str) -> anyhow::Result<Vec<Payload>> {
    let mut make = Maker { key: key.to_owned(), all: Vec::new() };
    let bomb = zipped(256)?;
    let zip = "json\r\nContent-Encoding: gzip";
    make.post("a bomb as a task", "/v1/tasks", zip, &bomb);
    make.post("a bomb as a batch", "/v1/tasks/batch", zip, &bomb);
    make.post("a bomb as lines", "/v1/tasks/batch", "x-ndjson\r\nContent-Encoding: gzip", &bomb);
    let deep = |open: &str| open.repeat(100_000);
    make.task("deep arrays", format!(r#"{{"run":{}"#, deep("[")));
    make.task("deep objects", deep(r#"{"run":"#));
    make.batch("deep arrays in a batch", format!(r#"{{"tasks":{}"#, deep("[")));
    let keys: String = (0..1_000_000).map(|n| format!(r#""k{n}":1,"#)).collect();
    make.task("a million keys", format!(r#"{{"run":{{"noop":{{}}}},{keys}"x":1}}"#));
    make.batch("a million keys in a batch", format!(r#"{{"tasks":[{{{keys}"x":1}}]}}"#));
    let twice = r#""name":"x","#.repeat(20_000);
    make.task("doubled keys", format!(r#"{{{twice}"run":{{"noop":{{}}}}}}"#));
    make.task("a number out of range", r#"{"run":{"noop":{}},"max_attempts":1e999}"#);
    let digits = "9".repeat(250_000);
    make.task("a long number", format!(r#"{{"run":{{"noop":{{}}}},"max_attempts":{digits}}}"#));
    let long = "a".repeat(250_000);
    make.task("a long name", format!(r#"{{"run":{{"noop":{{}}}},"name":"{long}"}}"#));
    make.task("a long duration", format!(r#"{{"run":{{"noop":{{}}}},"delay":"{digits}s"}}"#));
    make.task(
        "half a text",
        format!(r#"{{"run":{{"noop":{{}}}},"name":"{}"#, "\\u0000".repeat(40_000)),
    );
    make.task("no UTF-8", [0xff; 250_000]);
    let wrong = r#"{"run":{"noop":{"sleep":1}},"tier":"x","name":5},"#.repeat(10_001);
    make.batch("a batch of mistakes", format!(r#"{{"tasks":[{wrong}0]}}"#));
    make.head("a long path", &format!("GET /v1/tasks/{}", "x".repeat(9000)), "");
    make.head("a long query", &format!("GET /v1/tasks?{}", "a=b&".repeat(2500)), "");
    make.head("a long cursor", &format!("GET /v1/tasks?cursor={}", "A".repeat(9000)), "");
    make.head(
        "a long key",
        "POST /v1/tasks",
        &format!("Idempotency-Key: {}\r\n", "k".repeat(10_000)),
    );
    make.head("many headers", "GET /v1/tasks", &"X-A: b\r\n".repeat(5_000));
    make.all.push(Payload { name: "HTTP/2", bytes: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec() });
    Ok(make.all)
}

/// The status, or none where the connection was closed without one; and how long it took.
async fn send(address: &str, bytes: &[u8]) -> anyhow::Result<(Option<u16>, Duration)> {
    let began = clock::monotonic();
    let (mut read, mut write) = TcpStream::connect(address).await?.into_split();
    let mut answer = [0; 12];
    let (_written, heard) = tokio::join!(
        // Refused before it is all sent, mostly.
        write.write_all(bytes),
        clock::timeout(Duration::from_secs(10), read.read_exact(&mut answer))
    );
    let status = heard
        .context("no answer")?
        .ok()
        .and_then(|_| std::str::from_utf8(answer.get(9..)?).ok()?.parse().ok());
    Ok((status, began.elapsed()))
}

/// The 99th percentile of what a bystander waits.
async fn bystander(customer: &Customer) -> anyhow::Result<Duration> {
    let mut took = Vec::with_capacity(ASKS);
    for _ in 0..ASKS {
        let asked = clock::monotonic();
        let (status, _) = customer.call("GET", "/v1/limits", None, None).await?;
        took.push(asked.elapsed());
        anyhow::ensure!(status == 200, "a bystander got {status}");
        clock::sleep(Duration::from_millis(5)).await;
    }
    took.sort_unstable();
    took.get(ASKS * 99 / 100).copied().context("nobody asked")
}

/// What a bystander waits while these are sent, one after the other.
async fn beside(
    address: &str,
    payloads: &[&Payload],
    customer: &Customer,
) -> anyhow::Result<Duration> {
    let sending = async {
        for payload in payloads {
            send(address, &payload.bytes).await?;
        }
        anyhow::Ok(())
    };
    let (sent, waited) = tokio::join!(sending, bystander(customer));
    sent?;
    waited
}

async fn attack(rounds: usize) -> anyhow::Result<()> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 0));
    let mut cluster = Cluster::start(shape.with(Role::Api, 1)).await?;
    let (attacker, other) =
        (Customer::sign_up(&cluster, "mallory").await?, Customer::sign_up(&cluster, "acme").await?);
    let url = cluster.api_urls().first().context("no api")?;
    let address = url.strip_prefix("http://").context("an http URL")?.to_owned();
    let at = *cluster.of(Role::Api).first().context("no api")?;
    let pid = cluster.process(at)?.pid();
    let all = payloads(attacker.key())?;
    anyhow::ensure!(all.len() >= 20, "{} payloads", all.len());
    let (calm, memory) = (bystander(&other).await?, testkit::memory::peak_kib(pid)?);
    let mut slow = Vec::new();
    for payload in &all {
        let mut took = Vec::new();
        for _ in 0..rounds {
            let (status, time) = send(&address, &payload.bytes).await?;
            // The tasks of a batch are refused one by one.
            let refused = match status {
                Some(200) => payload.bytes.starts_with(b"POST /v1/tasks/batch "),
                status => status.is_none_or(|status| (400..500).contains(&status)),
            };
            anyhow::ensure!(refused, "{}: {status:?}", payload.name);
            took.push(time);
        }
        // The fastest: others may have the processor for a while, and it is the work that counts.
        let fastest = took.into_iter().min().unwrap_or_default();
        eprintln!("{:>8.1?} {}", fastest, payload.name);
        // A body of 12 MB, which a batch may have, takes a build without optimisation 0.1 s to read.
        let reading = Duration::from_micros(payload.bytes.len() as u64 / 100);
        slow.extend((fastest > QUICK + reading).then_some((payload.name, fastest)));
    }
    let grown = testkit::memory::peak_kib(pid)?.saturating_sub(memory);
    // Of what is below, the machine's own noise is the most.
    let most = (2 * calm).max(Duration::from_millis(50));
    let in_turn: Vec<_> = all.iter().cycle().take(all.len() * rounds).collect();
    let waited = beside(&address, &in_turn, &other).await?;
    eprintln!("grown by {grown} KiB; a bystander waited {calm:?} before and {waited:?} meanwhile");
    assert_eq!(cluster.database().sql("select count(*) from task_spec").await?.trim(), "0");
    assert!(slow.is_empty(), "{slow:?}");
    assert!(grown <= MOST_GROWN_KIB, "grown by {grown} KiB");
    assert!(waited <= most, "{calm:?} before, {waited:?}");
    // What becomes large here is worked on in small parts.
    for bomb in all.iter().filter(|payload| payload.name.starts_with("a bomb")) {
        let waited = beside(&address, &vec![bomb; 20 * rounds], &other).await?;
        assert!(waited <= most, "{calm:?} before, {waited:?} beside {}", bomb.name);
    }
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_to_be_expensive_is_refused_quickly_and_hurts_nobody() -> anyhow::Result<()> {
    attack(5).await
}

mod chaos {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn twenty_payloads_a_hundred_times_hurt_nobody() -> anyhow::Result<()> {
        attack(100).await
    }
}
