//! A wire that can be cut without anybody being told: bytes vanish, connections stay open.

use runtime::tasks::TaskGroup;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub struct Proxy {
    pub address: String,
    hole: Arc<AtomicBool>,
}

impl Proxy {
    /// Forwards to `target`, an `http://` address.
    pub async fn start(target: &str, tasks: &TaskGroup) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let hole = Arc::new(AtomicBool::new(false));
        let target = target.trim_start_matches("http://").to_owned();
        let (group, swallows) = (tasks.clone(), Arc::clone(&hole));
        tasks.spawn_detached("proxy", async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&target).await else { continue };
                let (client_in, client_out) = client.into_split();
                let (server_in, server_out) = server.into_split();
                group.spawn_detached("up", copy(client_in, server_out, Arc::clone(&swallows)));
                group.spawn_detached("down", copy(server_in, client_out, Arc::clone(&swallows)));
            }
        });
        Self { address, hole }
    }

    pub fn blackhole(&self, on: bool) {
        self.hole.store(on, Ordering::SeqCst);
    }
}

async fn copy<R, W>(mut from: R, mut to: W, hole: Arc<AtomicBool>)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(len) = from.read(&mut buffer).await {
        if len == 0 {
            break;
        }
        if !hole.load(Ordering::SeqCst) && to.write_all(&buffer[..len]).await.is_err() {
            break;
        }
    }
}
