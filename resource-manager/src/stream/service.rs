//! Accepts executors: checks the secret, then starts a reader per stream.

use super::connections::Guest;
use super::reader::Reader;
use crate::fleet::{Fleet, Stream};
use crate::heartbeat::Beat;
use crate::output::OutputQueue;
use crate::settle::Reported;
use domain::id::{NodeId, SessionId};
use protocol::executor_stream_server::ExecutorStream;
use protocol::{FromExecutor, ToExecutor};
use runtime::config::{ExposeSecret, SecretString};
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::connect::RmDb;
use subtle::ConstantTimeEq;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// Queue of messages to one executor; when full, it does not read.
const OUTBOX: usize = 1024;

/// Shared state of all streams.
#[derive(Clone)]
pub(crate) struct StreamService {
    pub db: RmDb,
    pub node: NodeId,
    pub fleet: Fleet,
    pub secret: Arc<SecretString>,
    pub lease_term: Duration,
    pub kill_grace: Duration,
    pub beats: mpsc::Sender<Beat>,
    pub reported: mpsc::Sender<Vec<Reported>>,
    pub output: OutputQueue,
    pub pools: mpsc::UnboundedSender<domain::id::PoolName>,
    pub tasks: TaskGroup,
    pub shutdown: Shutdown,
    pub streams: Arc<AtomicU64>,
}

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
        // Wraps messages here, so that the rest of this role does not depend on `Status`.
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
