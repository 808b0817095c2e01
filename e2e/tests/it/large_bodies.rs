//! Bodies of any size at the api: stored up to the limit, refused beyond it, and never held in memory beyond it.

use e2e::{Cluster, Customer, Role, Shape};
use serde_json::json;
use std::time::Duration;
use testkit::memory::peak_kib;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const LIMIT: usize = 262_144;
/// Requests at a time.
const TOGETHER: usize = 8;
static PIECE: [u8; 65_536] = [b'y'; 65_536];
const HEAD: &str = r#"{"run":{"command":{"argv":["true"],"stdin":""#;
const TAIL: &str = r#""}}}"#;

/// Sends a task of `bytes` bytes, in chunks so that no length is announced, and gives the status of the answer. The server may answer
/// and close before all is sent.
async fn submit(address: String, key: String, bytes: usize) -> anyhow::Result<u16> {
    let mut stream = TcpStream::connect(&address).await?;
    let head = format!(
        "POST /v1/tasks HTTP/1.1\r\nHost: berth\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    let (mut reader, mut writer) = stream.into_split();
    // Ends with this function, as the answer may come long before all is sent.
    let mut sending = JoinSet::new();
    sending.spawn(async move {
        let mut left = bytes - HEAD.len() - TAIL.len();
        chunk(&mut writer, HEAD.as_bytes()).await?;
        while left > 0 {
            let size = left.min(PIECE.len());
            chunk(&mut writer, &PIECE[..size]).await?;
            left -= size;
        }
        chunk(&mut writer, TAIL.as_bytes()).await?;
        writer.write_all(b"0\r\n\r\n").await
    });
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(30), async {
        let mut piece = [0; 4096];
        // A reset after the answer is the end of the answer.
        while let Ok(len @ 1..) = reader.read(&mut piece).await {
            answer.extend_from_slice(&piece[..len]);
        }
    });
    read.await?;
    let text = String::from_utf8_lossy(&answer);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| anyhow::anyhow!("{bytes} bytes: no answer: {text:?}"))
}

async fn chunk(writer: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    writer.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
    writer.write_all(bytes).await?;
    writer.write_all(b"\r\n").await
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_up_to_64_mib_end_at_the_limit_and_take_no_more_memory_than_it() -> anyhow::Result<()>
{
    let shape = Role::ALL
        .into_iter()
        .fold(Shape::default(), |shape, role| shape.with(role, usize::from(role == Role::Api)));
    let mut cluster =
        Cluster::start(shape.set("BERTH_API__MAX_TASK_BYTES", LIMIT.to_string())).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let address = cluster.api_urls()[0].trim_start_matches("http://").to_owned();
    let all_at_once = async |bytes: usize| -> anyhow::Result<Vec<u16>> {
        let mut requests = JoinSet::new();
        for _ in 0..TOGETHER {
            requests.spawn(submit(address.clone(), customer.key().to_owned(), bytes));
        }
        requests.join_all().await.into_iter().collect()
    };
    let (status, _) =
        customer.call("POST", "/v1/tasks", Some(&json!({"run": {"noop": {}}})), None).await?;
    assert_eq!(status, 201);
    let pid = cluster.process(cluster.of(Role::Api)[0])?.pid();
    let before = peak_kib(pid)?;
    for bytes in [HEAD.len() + TAIL.len(), LIMIT - 1, LIMIT] {
        assert_eq!(all_at_once(bytes).await?, vec![201; TOGETHER], "{bytes} bytes");
    }
    let stored = peak_kib(pid)?;
    for bytes in [LIMIT + 1, 2 << 20, 16 << 20, 64 << 20] {
        assert_eq!(all_at_once(bytes).await?, vec![413; TOGETHER], "{bytes} bytes");
    }
    let refused = peak_kib(pid)?;
    let (stored, refused) = (stored.saturating_sub(before), refused.saturating_sub(stored));
    eprintln!(
        "memory grew by {stored} KiB for what was stored, by {refused} KiB more for what was refused"
    );
    let all = TOGETHER * LIMIT / 1024;
    assert!(refused <= all, "the refused took {refused} KiB");
    // As text, as a task, and as parts of one statement that holds all of them, which the connection keeps room for.
    assert!(stored <= 10 * all, "the stored took {stored} KiB");
    let (status, _) = customer.call("GET", "/v1/tasks?limit=1", None, None).await?;
    assert_eq!(status, 200);
    Ok(())
}
