//! Memory of an api process under customers who send slowly and do not read: as the kernel counts it.

use anyhow::{Context, ensure};
use e2e::{Cluster, Customer, Role, Shape};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;
use testkit::memory::resident_kib;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Most that each of these may take.
const MOST_MIB: usize = 64;
/// Connections of each.
const TOGETHER: usize = 60;
/// Tasks that are listed, and how much each runs: a page of them without a bound has 15 MB.
const TASKS: usize = 60;
const LARGE: usize = 250_000;
/// Streams that a tenant may have open, by default.
const STREAMS: usize = 64;

async fn connected(address: &str, head: &str, body: &[u8]) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(head.as_bytes()).await?;
    // What is refused may be closed before all of it is sent.
    let _sent = stream.write_all(body).await;
    Ok(stream)
}

/// The most that the process grows by in 2 s, in MiB.
async fn growth(pid: u32, before_kib: usize) -> anyhow::Result<usize> {
    let mut most = 0;
    for _ in 0..40 {
        most = most.max(resident_kib(pid)?.saturating_sub(before_kib));
        runtime::clock::sleep(Duration::from_millis(50)).await;
    }
    Ok(most / 1024)
}

/// An api by itself.
async fn api_alone() -> anyhow::Result<Cluster> {
    let shape = Role::ALL
        .into_iter()
        .fold(Shape::default(), |shape, role| shape.with(role, usize::from(role == Role::Api)));
    Cluster::start(shape).await
}

/// Where it answers, and its process.
fn place(cluster: &mut Cluster) -> anyhow::Result<(String, u32)> {
    let address = cluster.api_urls()[0].trim_start_matches("http://").to_owned();
    let api = cluster.of(Role::Api)[0];
    Ok((address, cluster.process(api)?.pid()))
}

fn auth(customer: &Customer) -> String {
    format!("Host: berth\r\nAuthorization: Bearer {}\r\n", customer.key())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_fills_no_more_memory_than_its_share() -> anyhow::Result<()> {
    let mut cluster = api_alone().await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let (address, pid) = place(&mut cluster)?;
    let run = json!({"command": {"argv": ["true"], "stdin": "x".repeat(LARGE)}});
    let tasks: Vec<Value> = (0..TASKS).map(|_| json!({"run": run})).collect();
    let batch = json!({"tasks": tasks});
    let (status, stored) = customer.call("POST", "/v1/tasks/batch", Some(&batch), None).await?;
    ensure!(status == 200 && stored["accepted"] == TASKS, "{status} {stored}");

    let auth = auth(&customer);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"{\"tasks\":[")?;
    encoder.write_all(&vec![b' '; 11_000_000])?;
    encoder.flush()?;
    let body = encoder.get_ref();
    let post = format!(
        "POST /v1/tasks/batch HTTP/1.1\r\n{auth}Content-Type: application/json\r\nContent-Encoding: gzip\r\n\
         Content-Length: {}\r\n\r\n",
        body.len() + 1000
    );
    let before = resident_kib(pid)?;
    let mut senders = Vec::new();
    for _ in 0..TOGETHER {
        senders.push(connected(&address, &post, body).await?);
    }
    let grown = growth(pid, before).await?;
    ensure!(grown <= MOST_MIB, "{TOGETHER} bodies that are held back take {grown} MiB");
    drop(senders);

    for list in ["/v1/tasks?limit=200", "/v1/tasks?limit=200&include=run"] {
        let before = resident_kib(pid)?;
        let get = format!("GET {list} HTTP/1.1\r\n{auth}\r\n");
        let mut readers = Vec::new();
        for _ in 0..TOGETHER {
            // More answers than the kernel takes for who reads none.
            readers.push(connected(&address, &get.repeat(8), b"").await?);
        }
        let grown = growth(pid, before).await?;
        ensure!(grown <= MOST_MIB, "{list}: {TOGETHER} who do not read take {grown} MiB");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_nobody_reads_fill_no_more_either() -> anyhow::Result<()> {
    let mut cluster = api_alone().await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let (address, pid) = place(&mut cluster)?;
    let task = json!({"run": {"noop": {}}});
    let (_, made) = customer.call("POST", "/v1/tasks", Some(&task), None).await?;
    let id = made["id"].as_str().with_context(|| made.to_string())?;
    // Bytes that are six each in JSON: one step of a stream has 3 MiB of them.
    let write = format!(
        "insert into task_output (tenant_id, task_id, attempt, stream, seq, \"offset\", data)
         select tenant_id, id, 1, s, n, n * 65536, decode(repeat('01', 65536), 'hex')
         from task, generate_series(1, 2) s, generate_series(0, 63) n where id = '{}'",
        id.trim_start_matches("task_")
    );
    cluster.database().sql(&write).await?;
    let before = resident_kib(pid)?;
    let get = format!("GET /v1/tasks/{id}/logs?follow=true HTTP/1.1\r\n{}\r\n", auth(&customer));
    let mut readers = Vec::new();
    for _ in 0..STREAMS {
        readers.push(connected(&address, &get, b"").await?);
    }
    let grown = growth(pid, before).await?;
    eprintln!("{STREAMS} streams that nobody reads take {grown} MiB");
    ensure!(grown <= MOST_MIB, "{STREAMS} streams that nobody reads take {grown} MiB");
    Ok(())
}
