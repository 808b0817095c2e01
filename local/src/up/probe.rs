//! Asks a role whether it is ready, as a load balancer would.

use runtime::clock;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LIMIT: Duration = Duration::from_secs(2);
/// An answer is a few lines.
const ANSWER_MAX: u64 = 16 * 1024;

/// What stands in the way of being ready; none when nothing does.
pub async fn not_ready(address: SocketAddr) -> Option<String> {
    match clock::timeout(LIMIT, ask(address)).await {
        Ok(Ok(answer)) if answer.starts_with("HTTP/1.1 200") => None,
        Ok(Ok(answer)) => {
            let body = answer.split_once("\r\n\r\n").map_or(answer.as_str(), |(_, body)| body);
            let bad: Vec<&str> = body.lines().filter(|line| line.contains("NOT OK")).collect();
            Some(bad.join("; "))
        }
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some("no answer".to_owned()),
    }
}

async fn ask(address: SocketAddr) -> io::Result<String> {
    let mut address = address;
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() { [127, 0, 0, 1].into() } else { loopback_v6() });
    }
    let mut connection = TcpStream::connect(address).await?;
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    connection.take(ANSWER_MAX).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn loopback_v6() -> std::net::IpAddr {
    std::net::Ipv6Addr::LOCALHOST.into()
}
