//! Requests are at home in the runtime of the process, though a worker's thread polls them.
//!
//! Wrapped around each request by `mount`. Each worker of actix has a runtime of its own, which ends with it, and a connection, a timer or a
//! task belongs to the runtime in which it was made. Without this, what a request had opened would end with its worker while it was in
//! a pool: under the submit of somebody else's request, or under the last count of the hour that a stopping process writes down.

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;
use std::cell::OnceCell;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio_util::context::TokioContext;

thread_local! {
    /// The runtime of this worker.
    static WORKERS: OnceCell<Handle> = const { OnceCell::new() };
}

/// Answers at `home`; a streamed body is made there, too.
pub(crate) async fn at_home<F>(home: Handle, request: F) -> HttpResponse
where
    F: Future<Output = HttpResponse>,
{
    WORKERS.with(|workers| _ = workers.get_or_init(Handle::current));
    let answer = TokioContext::new(request, home.clone()).await;
    match answer.body().size() {
        BodySize::Stream => answer.map_body(|_, stream| BoxBody::new(AtHome { home, stream })),
        BodySize::None | BodySize::Sized(_) => answer,
    }
}

/// Spawns, from a request, what cannot leave its thread: it is run by the worker, and at home as the request is.
pub(crate) fn spawn_beside<F>(work: F)
where
    F: Future<Output = ()> + 'static,
{
    let work = TokioContext::new(work, Handle::current());
    WORKERS.with(|workers| {
        let _workers = workers.get().map(Handle::enter);
        drop(actix_web::rt::spawn(work));
    });
}

/// A stream that is made at home.
struct AtHome {
    home: Handle,
    stream: BoxBody,
}

impl MessageBody for AtHome {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.stream.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let home = self.home.clone();
        let _home = home.enter();
        Pin::new(&mut self.stream).poll_next(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;
    use futures::stream::once;
    use std::net::SocketAddr;
    use std::sync::mpsc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    type Opened = mpsc::Sender<TcpStream>;

    async fn opens(address: SocketAddr, opened: Opened) -> HttpResponse {
        opened.send(TcpStream::connect(address).await.unwrap()).unwrap();
        HttpResponse::Ok().finish()
    }

    async fn opens_in_its_body(address: SocketAddr, opened: Opened) -> HttpResponse {
        HttpResponse::Ok().streaming(once(async move {
            opened.send(TcpStream::connect(address).await.unwrap()).unwrap();
            Ok::<_, actix_web::Error>(Bytes::new())
        }))
    }

    /// Whether a connection that `request` opened on a worker works when the worker has ended.
    async fn outlives_its_worker<F>(request: impl FnOnce(SocketAddr, Opened) -> F + Send + 'static)
    where
        F: Future<Output = HttpResponse>,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (home, (opened, connection)) = (Handle::current(), mpsc::channel());
        let worker = move || {
            let worker =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            worker.block_on(async {
                let answer = at_home(home, request(address, opened)).await;
                to_bytes(answer.into_body()).await.unwrap();
            });
        };
        tokio::task::spawn_blocking(worker).await.unwrap();
        let (mut far, _) = listener.accept().await.unwrap();
        let mut near = connection.recv().unwrap();
        far.write_all(b"still here").await.unwrap();
        let mut heard = [0; 10];
        near.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"still here");
    }

    #[tokio::test]
    async fn what_a_request_opens_outlives_its_worker() {
        outlives_its_worker(opens).await;
    }

    #[tokio::test]
    async fn what_a_body_opens_outlives_its_worker() {
        outlives_its_worker(opens_in_its_body).await;
    }
}
