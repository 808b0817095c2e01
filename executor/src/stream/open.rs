//! Opens one stream over a connection, and reads it to its end.

use protocol::executor_stream_client::ExecutorStreamClient;
use protocol::{FromExecutor, Hello, MAX_MESSAGE_BYTES, ToExecutor, to_executor};
use runtime::error_chain::ErrorChain;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

/// What happened on a stream, and on which.
#[derive(Debug)]
pub(crate) enum StreamEvent {
    /// The resource manager said something.
    Message { link: u64, message: to_executor::Message },
    /// The stream is over: why, for people.
    Closed { link: u64, why: String },
}

/// How to begin a stream.
pub(crate) struct Greeting {
    /// Its number.
    pub(crate) link: u64,
    /// `Bearer <secret>`, marked as sensitive.
    pub(crate) authorization: AsciiMetadataValue,
    pub(crate) hello: Hello,
}

/// The sending side at once, with room for one message: what does not fit waits with its sender and
/// grows into a group. And the receiving side as a future to be spawned, which ends with the stream.
pub(crate) fn open<E>(
    channel: Channel,
    greeting: Greeting,
    events: mpsc::Sender<E>,
) -> (mpsc::Sender<FromExecutor>, impl Future<Output = ()> + Send + 'static)
where
    E: From<StreamEvent> + Send + 'static,
{
    let Greeting { link, authorization, hello } = greeting;
    let (sender, outgoing) = mpsc::channel(1);
    // There is room: nothing was sent yet.
    sender.try_send(hello.into()).ok();
    let mut request = Request::new(ReceiverStream::new(outgoing));
    request.metadata_mut().insert("authorization", authorization);
    let mut client = ExecutorStreamClient::new(channel)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let receiving = async move {
        let why = match client.connect(request).await {
            Ok(response) => receive(link, response.into_inner(), &events).await,
            Err(status) => describe(&status),
        };
        events.send(StreamEvent::Closed { link, why }.into()).await.ok();
    };
    (sender, receiving)
}

/// Passes everything on; returns why the stream ended.
async fn receive<E: From<StreamEvent>>(
    link: u64,
    mut stream: Streaming<ToExecutor>,
    events: &mpsc::Sender<E>,
) -> String {
    loop {
        match stream.message().await {
            Ok(Some(ToExecutor { message: Some(message) })) => {
                if events.send(StreamEvent::Message { link, message }.into()).await.is_err() {
                    return "the executor is ending".to_owned();
                }
            }
            // A kind of message that a later version knows.
            Ok(Some(ToExecutor { message: None })) => {}
            Ok(None) => return "closed by the resource manager".to_owned(),
            Err(status) => return describe(&status),
        }
    }
}

fn describe(status: &Status) -> String {
    ErrorChain(status).to_string()
}
