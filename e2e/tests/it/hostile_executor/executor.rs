//! An executor that keeps to no rule. It has the secret and says hello as it should; what follows it sends as bytes, so that it
//! can say what the types of the protocol forbid.

use anyhow::{Context, bail};
use bytes::BufMut;
use e2e::{Cluster, EXECUTOR_SECRET};
use prost::Message;
use protocol::result::Outcome;
use protocol::to_executor::Message as Heard;
use protocol::{Capacity, FromExecutor, Hello, Lease, PROTOCOL_VERSION, Results, ToExecutor};
use runtime::clock;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Endpoint;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstDecoder;
use uuid::Uuid;

pub const POOL: &str = "hostile";
const SOON: Duration = Duration::from_secs(60);

/// One stream.
pub struct Hostile {
    outgoing: mpsc::Sender<Vec<u8>>,
    incoming: Streaming<ToExecutor>,
    /// What it was assigned on this stream and not yet asked for.
    assigned: Vec<Lease>,
    hello: Hello,
}

/// Bytes out, messages in.
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = ToExecutor;
    type Encoder = Self;
    type Decoder = ProstDecoder<ToExecutor>;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::default()
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put_slice(&item);
        Ok(())
    }
}

/// A message as it travels.
pub fn encoded(message: impl Into<FromExecutor>) -> Vec<u8> {
    message.into().encode_to_vec()
}

/// What a new boot of `name` says first, with room for 64 basic tasks.
pub fn hello(name: &str) -> Hello {
    Hello {
        protocol: PROTOCOL_VERSION,
        executor_id: name.to_owned(),
        session_id: Uuid::now_v7().as_bytes().to_vec(),
        pool: POOL.to_owned(),
        capacity: Some(Capacity {
            cpu_millis: 16_000,
            memory_mib: 32_768,
            disk_mib: 102_400,
            iops: 6000,
            port_first: 40_000,
            port_count: 64,
        }),
        drivers: vec!["noop".to_owned()],
        last_assignment: 0,
        held: Vec::new(),
        version: "1".to_owned(),
        earlier_session_ids: Vec::new(),
        typed_runs: false,
        callbacks: false,
    }
}

impl Hostile {
    /// Connects, says hello, and gives what was answered.
    pub async fn greet(cluster: &Cluster, hello: Hello) -> anyhow::Result<(Self, Heard)> {
        let url = cluster.manager_urls().to_owned();
        let mut client = tonic::client::Grpc::new(Endpoint::from_shared(url)?.connect().await?);
        client.ready().await?;
        let (outgoing, sent) = mpsc::channel(64);
        outgoing.send(encoded(hello.clone())).await?;
        let mut request = Request::new(ReceiverStream::new(sent));
        let secret = format!("Bearer {EXECUTOR_SECRET}").parse()?;
        request.metadata_mut().insert("authorization", secret);
        let path = PathAndQuery::from_static("/berth.executor.v1.ExecutorStream/Connect");
        let incoming = client.streaming(request, path, Bytes).await?.into_inner();
        let mut hostile = Self { outgoing, incoming, assigned: Vec::new(), hello };
        let first = hostile.hear().await?.context("no answer to hello")?;
        Ok((hostile, first))
    }

    /// The same as an executor that is welcome.
    pub async fn connect(cluster: &Cluster, hello: Hello) -> anyhow::Result<Self> {
        match Self::greet(cluster, hello).await? {
            (hostile, Heard::Welcome(_)) => Ok(hostile),
            (_, other) => bail!("not welcomed: {other:?}"),
        }
    }

    /// Connects anew in the same session, and holds nothing any more.
    pub async fn again(self, cluster: &Cluster) -> anyhow::Result<Self> {
        drop((self.outgoing, self.incoming));
        Self::connect(cluster, self.hello).await
    }

    pub fn session(&self) -> Vec<u8> {
        self.hello.session_id.clone()
    }

    pub async fn say(&self, message: Vec<u8>) -> anyhow::Result<()> {
        // A stream that was closed meanwhile takes nothing more: whoever waits for its end sees that.
        let _ = clock::timeout(SOON, self.outgoing.send(message)).await?;
        Ok(())
    }

    /// The next message; none where the stream has ended.
    pub async fn hear(&mut self) -> anyhow::Result<Option<Heard>> {
        let heard = clock::timeout(SOON, self.incoming.message()).await.context("nothing heard")?;
        Ok(heard.ok().flatten().and_then(|heard| heard.message))
    }

    /// The next assignment.
    pub async fn assigned(&mut self) -> anyhow::Result<Lease> {
        loop {
            if let Some(lease) = self.assigned.pop() {
                return Ok(lease);
            }
            if let Heard::Assignments(all) = self.hear().await?.context("the stream has ended")? {
                for assignment in all.assignments {
                    self.hello.last_assignment = assignment.number;
                    self.assigned.extend(assignment.lease);
                }
            }
        }
    }

    /// Waits until as many results of `lease` are answered.
    pub async fn answered(&mut self, lease: &Lease, mut count: usize) -> anyhow::Result<()> {
        while count > 0 {
            if let Heard::Results(answers) = self.hear().await?.context("the stream has ended")? {
                let about = |answer: &&protocol::ResultAnswer| answer.lease.as_ref() == Some(lease);
                count = count.saturating_sub(answers.answers.iter().filter(about).count());
            }
        }
        Ok(())
    }

    /// Answers each assignment with `outcome`, for as long as it is polled.
    pub async fn end_all(&mut self, outcome: Outcome) -> anyhow::Result<()> {
        loop {
            let lease = self.assigned().await?;
            let result = super::reports::result(&lease, &self.session(), outcome);
            self.say(encoded(Results { results: vec![result] })).await?;
        }
    }

    /// Waits until the stream has ended.
    pub async fn ended(&mut self) -> anyhow::Result<()> {
        while self.hear().await?.is_some() {}
        Ok(())
    }
}
