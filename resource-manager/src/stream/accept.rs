//! Accepts executors: checks the secret, then gives each stream a reader of its own.

use super::connections::Guest;
use super::reader::Reader;
use super::service::StreamService;
use crate::fleet::Stream;
use domain::id::SessionId;
use protocol::executor_stream_server::ExecutorStream;
use protocol::{FromExecutor, ToExecutor};
use runtime::config::ExposeSecret;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use subtle::ConstantTimeEq;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// Messages to one executor that may wait; more means that it does not read.
const OUTBOX: usize = 1024;

#[tonic::async_trait]
impl ExecutorStream for StreamService {
    type ConnectStream = Pin<Box<ReceiverStream<Result<ToExecutor, Status>>>>;

    async fn connect(
        &self,
        request: Request<Streaming<FromExecutor>>,
    ) -> Result<Response<Self::ConnectStream>, Status> {
        self.authenticate(&request)?;
        request.extensions().get::<Guest>().inspect(|guest| guest.admit());
        if self.shutdown.is_cancelled() {
            return Err(Status::unavailable(
                "this resource manager is draining; connect to another",
            ));
        }
        let (outbox, mut inbox) = mpsc::channel::<ToExecutor>(OUTBOX);
        let (wire, stream) = mpsc::channel(64);
        // One hop more, so that the rest of this role knows nothing of `Status`.
        self.tasks.spawn_detached("executor_writer", async move {
            while let Some(message) = inbox.recv().await {
                if wire.send(Ok(message)).await.is_err() {
                    break;
                }
            }
        });
        let id = self.streams.fetch_add(1, Ordering::Relaxed) + 1;
        let stream_of = |session: SessionId| Stream { id, session, outbox: outbox.clone() };
        let reader = Reader::new(
            self.clone(),
            stream_of(SessionId(uuid::Uuid::nil())),
            request.into_inner(),
        );
        self.tasks.spawn_detached("executor_reader", reader.run());
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

impl StreamService {
    fn authenticate(&self, request: &Request<Streaming<FromExecutor>>) -> Result<(), Status> {
        let given = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let right = given.as_bytes().ct_eq(self.secret.expose_secret().as_bytes());
        if bool::from(right) {
            Ok(())
        } else {
            Err(Status::unauthenticated("the executor secret is not the right one"))
        }
    }
}
