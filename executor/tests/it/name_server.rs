//! A name server on a real socket: it knows some names, and of the others it hears and says nothing.

use runtime::tasks::TaskGroup;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;

const A: u16 = 1;

#[derive(Clone)]
pub struct NameServer {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    _tasks: TaskGroup,
}

impl NameServer {
    /// Answers with 127.0.0.1 for names that begin with `known`, and with no such name for those that begin with `gone`.
    pub async fn start(bind: &str) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(bind).await?;
        let server =
            Self { address: socket.local_addr()?, asked: Arc::default(), _tasks: TaskGroup::new() };
        let asked = Arc::clone(&server.asked);
        server._tasks.spawn_detached("name_server", async move {
            let mut packet = [0; 1500];
            while let Ok((len, from)) = socket.recv_from(&mut packet).await {
                let Some((name, kind, question_end)) = question(&packet[..len]) else { continue };
                asked.lock().unwrap().push(name.clone());
                if let Some(answer) = answer(&packet[..question_end], &name, kind) {
                    socket.send_to(&answer, from).await.ok();
                }
            }
        });
        Ok(server)
    }

    /// Names that it was asked for, as often as it was.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// The name, the kind of record, and where the question ends.
fn question(packet: &[u8]) -> Option<(String, u16, usize)> {
    let (mut at, mut labels) = (12, Vec::new());
    loop {
        let len = usize::from(*packet.get(at)?);
        if len == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(packet.get(at + 1..at + 1 + len)?).into_owned());
        at += 1 + len;
    }
    let kind = u16::from_be_bytes([*packet.get(at + 1)?, *packet.get(at + 2)?]);
    Some((labels.join("."), kind, at + 5))
}

fn answer(question: &[u8], name: &str, kind: u16) -> Option<Vec<u8>> {
    let (code, records) = match (name.starts_with("known"), name.starts_with("gone")) {
        (true, _) => (0, u8::from(kind == A)),
        (_, true) => (3, 0),
        _ => return None,
    };
    let mut packet = question.to_vec();
    // An answer, recursion available; one question and no additional record.
    packet[2..12].copy_from_slice(&[0x81, 0x80 | code, 0, 1, 0, records, 0, 0, 0, 0]);
    if records > 0 {
        // The name of the question, an A record of this class for 0 seconds.
        packet.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    }
    Some(packet)
}
