//! The bad network: each mode does what it says, at once, on connections that are already open.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a helper that cannot go on fails its test"
)]

use std::net::SocketAddr;
use std::time::Duration;

use runtime::clock;
use testkit::proxy::{Mode, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_millis(300);

/// Answers each byte with itself and tells the test what arrived.
struct Echo {
    address: SocketAddr,
    heard: mpsc::UnboundedReceiver<u8>,
    _tasks: JoinSet<()>,
}

impl Echo {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heard) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                let tell = tell.clone();
                connections.spawn(async move {
                    let mut buffer = [0; 4096];
                    while let Ok(count) = client.read(&mut buffer).await {
                        if count == 0 || client.write_all(&buffer[..count]).await.is_err() {
                            return;
                        }
                        buffer[..count]
                            .iter()
                            .for_each(|byte| tell.send(*byte).unwrap_or_default());
                    }
                });
            }
        });
        Self { address, heard, _tasks: tasks }
    }
}

async fn setup() -> (Echo, Proxy, TcpStream) {
    let echo = Echo::start().await;
    let proxy = Proxy::start(echo.address.to_string()).await.unwrap();
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(ask(&mut client, 1).await, 1, "a good network at first");
    (echo, proxy, client)
}

async fn ask(client: &mut TcpStream, byte: u8) -> u8 {
    client.write_u8(byte).await.unwrap();
    timeout(SOON, client.read_u8()).await.expect("an answer in time").unwrap()
}

async fn is_silent(client: &mut TcpStream) -> bool {
    timeout(SILENCE, client.read_u8()).await.is_err()
}

#[tokio::test]
async fn pass_carries_much_data_both_ways_unharmed() {
    let (_echo, _proxy, client) = setup().await;
    let sent: Vec<u8> = (0..1_000_000u32).map(|n| (n % 251) as u8).collect();
    let (mut from, mut to) = client.into_split();
    let (written, read) = tokio::join!(
        async {
            to.write_all(&sent).await?;
            to.shutdown().await
        },
        async {
            let mut all = Vec::new();
            timeout(SOON * 4, from.read_to_end(&mut all)).await.expect("in time").map(|_| all)
        },
    );
    written.unwrap();
    assert!(read.unwrap() == sent, "the same bytes in the same order, and the end of the stream");
}

#[tokio::test]
async fn delay_makes_each_answer_late_by_both_ways() {
    let (_echo, proxy, mut client) = setup().await;
    proxy.set(Mode::Delay(Duration::from_millis(150)));
    let began = clock::monotonic();
    assert_eq!(ask(&mut client, 7).await, 7);
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(300), "{took:?}");
}

#[tokio::test]
async fn delay_keeps_many_bytes_under_way_at_once() {
    let (_echo, proxy, mut client) = setup().await;
    proxy.set(Mode::Delay(Duration::from_millis(200)));
    let began = clock::monotonic();
    for byte in 0..20 {
        client.write_u8(byte).await.unwrap();
        clock::sleep(Duration::from_millis(2)).await;
    }
    let mut answers = [0; 20];
    timeout(SOON, client.read_exact(&mut answers)).await.expect("in time").unwrap();
    let took = began.elapsed();
    assert!(
        took < Duration::from_secs(2),
        "20 bytes one after the other would take 8 s, these took {took:?}"
    );
}

#[tokio::test]
async fn a_blackhole_is_silent_and_delivers_when_it_ends() {
    let (mut echo, proxy, mut client) = setup().await;
    proxy.set(Mode::Blackhole);
    client.write_u8(9).await.unwrap();
    assert!(is_silent(&mut client).await);
    assert_eq!(echo.heard.recv().await, Some(1));
    assert!(echo.heard.try_recv().is_err(), "the server heard nothing of it");
    proxy.set(Mode::Pass);
    assert_eq!(timeout(SOON, client.read_u8()).await.expect("in time").unwrap(), 9);
}

#[tokio::test]
async fn a_reset_ends_open_connections_and_refuses_new_ones() {
    let (_echo, proxy, mut client) = setup().await;
    proxy.set(Mode::Reset);
    let ended = timeout(SOON, client.read_u8()).await.expect("at once").unwrap_err();
    assert_eq!(ended.kind(), std::io::ErrorKind::ConnectionReset);

    let mut another = TcpStream::connect(proxy.address()).await.unwrap();
    let ended = timeout(SOON, another.read_u8()).await.expect("at once").unwrap_err();
    assert_eq!(ended.kind(), std::io::ErrorKind::ConnectionReset);

    proxy.set(Mode::Pass);
    let mut good = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(ask(&mut good, 3).await, 3);
}

#[tokio::test]
async fn a_half_open_connection_stays_silent_even_when_the_network_is_back() {
    let (mut echo, proxy, mut client) = setup().await;
    assert_eq!(echo.heard.recv().await, Some(1));
    proxy.set(Mode::HalfOpen);
    clock::sleep(Duration::from_millis(50)).await;
    client.write_u8(5).await.unwrap();
    assert!(is_silent(&mut client).await);
    proxy.set(Mode::Pass);
    assert!(is_silent(&mut client).await);
    assert!(echo.heard.try_recv().is_err(), "the server never hears of it");

    let mut good = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(ask(&mut good, 4).await, 4);
}

#[tokio::test]
async fn dropped_replies_reach_the_server_but_never_the_client() {
    let (mut echo, proxy, mut client) = setup().await;
    assert_eq!(echo.heard.recv().await, Some(1));
    proxy.set(Mode::DropReplies);
    client.write_u8(6).await.unwrap();
    assert_eq!(timeout(SOON, echo.heard.recv()).await.expect("in time"), Some(6));
    assert!(is_silent(&mut client).await);
    proxy.set(Mode::Pass);
    assert_eq!(ask(&mut client, 8).await, 8, "the lost answer does not come late");
}

#[tokio::test]
async fn throttle_keeps_to_its_rate() {
    let (_echo, proxy, mut client) = setup().await;
    proxy.set(Mode::Throttle { bytes_per_second: 1000 });
    let began = clock::monotonic();
    client.write_all(&[7; 500]).await.unwrap();
    let mut answers = [0; 500];
    timeout(SOON, client.read_exact(&mut answers)).await.expect("in time").unwrap();
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(450), "500 bytes at 1000 a second took {took:?}");
}

#[tokio::test]
async fn a_dropped_proxy_ends_its_connections() {
    let (_echo, proxy, mut client) = setup().await;
    let address = proxy.address();
    drop(proxy);
    timeout(SOON, client.read_u8()).await.expect("at once").unwrap_err();
    testkit::poll::until("the port is free", SOON, || async {
        TcpStream::connect(address).await.is_err()
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_proxys_url_differs_only_in_the_address() {
    let proxy = Proxy::start("127.0.0.1:1").await.unwrap();
    let port = proxy.address().port();
    let amqp = proxy.url("amqp://berth:pw@10.0.0.1:5672/%2f").unwrap();
    assert_eq!(amqp, format!("amqp://berth:pw@127.0.0.1:{port}/%2f"));
    let postgres = proxy.url("postgres://u:p@db.example:5432/name?sslmode=disable").unwrap();
    assert_eq!(postgres, format!("postgres://u:p@127.0.0.1:{port}/name?sslmode=disable"));
}
