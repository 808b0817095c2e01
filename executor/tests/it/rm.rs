//! A resource manager made of a script: answers as it is told and remembers all it hears.

use domain::id::{SessionId, TaskId, TenantId};
use domain::task::{LeaseKey, StoredRun};
use protocol::executor_stream_server::{ExecutorStream, ExecutorStreamServer};
use protocol::from_executor::Message;
use protocol::result::Outcome;
use protocol::result_answer::Verdict;
use protocol::{
    Assignment, Assignments, Capacity, FromExecutor, GoAway, Heartbeat, HeartbeatAnswer, Hello,
    KindsOfRuns, OutputAnswer, OutputChunk, PoolPolicy, Refused, ResultAnswer, ResultAnswers,
    Stops, ToExecutor, Welcome, assignment, refused,
};
use runtime::clock::{self, Instant};
use runtime::tasks::TaskGroup;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

pub const SECRET: &str = "f3a9c1d27b60e584a1c9d03e77b25f68";
/// Far more than anything here takes; a test that reaches it has failed.
pub const LIMIT: Duration = Duration::from_secs(20);

/// How to answer.
#[derive(Clone)]
pub struct Script {
    pub term: Duration,
    pub kill_grace: Duration,
    /// Instead of a welcome.
    pub refuse: Option<refused::Reason>,
    pub heartbeats: bool,
    /// Listed in every answer to a heartbeat.
    pub stop: Vec<LeaseKey>,
    /// None: results are not answered.
    pub verdict: Option<Verdict>,
    pub output: bool,
    /// What the welcome lists; none: whatever the executor holds.
    pub leases: Option<Vec<LeaseKey>>,
    /// What the pool allows HTTP tasks.
    pub private_targets: bool,
    /// What the pool lets commands do with the network.
    pub network: bool,
}

/// One message heard, over which stream, and when.
#[derive(Clone)]
pub struct Heard {
    pub stream: u64,
    pub at: Instant,
    pub message: Message,
}

struct State {
    script: Script,
    heard: Vec<Heard>,
    streams: u64,
    session: Option<SessionId>,
    last_number: u64,
    sender: Option<mpsc::Sender<Result<ToExecutor, Status>>>,
}

#[derive(Clone)]
pub struct Rm {
    pub address: String,
    pub tasks: TaskGroup,
    state: Arc<Mutex<State>>,
}

impl Rm {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub async fn start_with(change: impl FnOnce(&mut Script)) -> Self {
        let mut script = Script {
            term: Duration::from_secs(15),
            kill_grace: Duration::from_secs(2),
            refuse: None,
            heartbeats: true,
            stop: Vec::new(),
            verdict: Some(Verdict::Applied),
            output: true,
            leases: None,
            private_targets: false,
            network: false,
        };
        change(&mut script);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = State {
            script,
            heard: Vec::new(),
            streams: 0,
            session: None,
            last_number: 0,
            sender: None,
        };
        let rm = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            tasks: TaskGroup::new(),
            state: Arc::new(Mutex::new(state)),
        };
        let service = ExecutorStreamServer::new(rm.clone())
            .max_decoding_message_size(protocol::MAX_MESSAGE_BYTES);
        let serve =
            Server::builder().add_service(service).serve_with_incoming(TcpIncoming::from(listener));
        rm.tasks.spawn_detached("rm", serve);
        rm
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.lock().script);
    }

    /// Waits until `found` finds something in all that was heard.
    pub async fn until<T>(&self, what: &str, mut found: impl FnMut(&[Heard]) -> Option<T>) -> T {
        let deadline = clock::monotonic() + LIMIT;
        loop {
            if let Some(found) = found(&self.lock().heard) {
                return found;
            }
            assert!(clock::monotonic() < deadline, "not heard within {LIMIT:?}: {what}");
            clock::sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn hello(&self, nth: usize) -> Hello {
        self.until(&format!("hello {nth}"), |heard| hellos(heard).nth(nth)).await
    }

    /// The first heartbeat from `since` on that `holds`.
    pub async fn heartbeat(&self, since: Instant, holds: impl Fn(&Heartbeat) -> bool) -> Heartbeat {
        self.until("a certain heartbeat", |heard| {
            heard.iter().filter(|one| one.at >= since).find_map(|one| match &one.message {
                Message::Heartbeat(beat) if holds(beat) => Some(beat.clone()),
                _ => None,
            })
        })
        .await
    }

    /// The first result for `lease`, and when it came.
    pub async fn result(&self, lease: LeaseKey) -> protocol::Result {
        self.until("a result", |heard| results(heard, lease).next()).await
    }

    pub fn results(&self, lease: LeaseKey) -> Vec<protocol::Result> {
        results(&self.lock().heard, lease).collect()
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.lock().heard.clone()
    }

    /// All chunks for `lease` in the order they came.
    pub fn chunks(&self, lease: LeaseKey) -> Vec<OutputChunk> {
        let wanted = protocol::Lease::from(lease);
        let heard = self.lock();
        let groups = heard.heard.iter().filter_map(|one| match &one.message {
            Message::Output(output) => Some(output.chunks.clone()),
            _ => None,
        });
        groups.flatten().filter(|chunk| chunk.lease.as_ref() == Some(&wanted)).collect()
    }

    pub fn output_text(&self, lease: LeaseKey, stream: protocol::output_chunk::Stream) -> String {
        let chunks = self.chunks(lease).into_iter().filter(|chunk| chunk.stream() == stream);
        let bytes: Vec<u8> = chunks.flat_map(|chunk| chunk.data.to_vec()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn tell(&self, message: impl Into<ToExecutor>) {
        let sender = self.lock().sender.clone().expect("nobody is connected");
        sender.try_send(Ok(message.into())).expect("no room to send");
    }

    pub fn stop(&self, lease: LeaseKey) {
        self.tell(Stops { leases: vec![lease.into()] });
    }

    pub fn go_away(&self) {
        self.tell(GoAway { reason: "deploy".to_owned() });
    }

    /// Ends the present stream.
    pub fn hang_up(&self) {
        self.lock().sender = None;
    }

    /// A fresh lease of the present session.
    fn lease(&self, tenant: TenantId) -> LeaseKey {
        let session = self.lock().session.expect("nobody has said hello");
        LeaseKey { tenant, task: TaskId::fresh(), attempt: 1, session }
    }

    /// Assigns with a cap of a minute, as the next number of the session.
    pub fn assign(&self, run_json: &str) -> LeaseKey {
        self.assign_with(run_json, |_| {})
    }

    pub fn assign_with(&self, run_json: &str, change: impl FnOnce(&mut Assignment)) -> LeaseKey {
        let lease = self.lease(TenantId::fresh());
        self.lock().last_number += 1;
        let mut assignment = Assignment {
            number: self.lock().last_number,
            lease: Some(lease.into()),
            run: Some(run(run_json)),
            cap_ms: 60_000,
            resources: Some(Capacity::default()),
            traceparent: String::new(),
            due_at_us: None,
            schedule: None,
        };
        change(&mut assignment);
        self.tell(Assignments { assignments: vec![assignment] });
        lease
    }

    /// Assigns so many at once.
    pub fn assign_many(&self, run_json: &str, count: usize) -> Vec<LeaseKey> {
        let fresh = (0..count).map(|_| (TenantId::fresh(), run_json.to_owned()));
        self.assign_all(fresh)
    }

    /// Assigns all of these at once, each for its tenant.
    pub fn assign_all(&self, runs: impl IntoIterator<Item = (TenantId, String)>) -> Vec<LeaseKey> {
        let mut leases = Vec::new();
        let mut assignments = Vec::new();
        for (tenant, run_json) in runs {
            let lease = self.lease(tenant);
            self.lock().last_number += 1;
            leases.push(lease);
            assignments.push(Assignment {
                number: self.lock().last_number,
                lease: Some(lease.into()),
                run: Some(run(&run_json)),
                cap_ms: 60_000,
                resources: None,
                traceparent: String::new(),
                due_at_us: None,
                schedule: None,
            });
        }
        self.tell(Assignments { assignments });
        leases
    }

    fn answer(&self, message: &Message) -> Option<ToExecutor> {
        let mut state = self.lock();
        let script = state.script.clone();
        match message {
            Message::Hello(hello) => {
                let session = protocol::session_id(&hello.session_id).unwrap();
                if state.session != Some(session) {
                    (state.session, state.last_number) = (Some(session), 0);
                }
                if let Some(reason) = script.refuse {
                    let detail = "by the script".to_owned();
                    return Some(Refused { reason: reason.into(), detail }.into());
                }
                let listed = script.leases.map(|all| all.into_iter().map(Into::into).collect());
                let welcome = Welcome {
                    epoch: state.streams,
                    term_ms: u32::try_from(script.term.as_millis()).unwrap(),
                    kill_grace_ms: u32::try_from(script.kill_grace.as_millis()).unwrap(),
                    leases: listed.unwrap_or_else(|| hello.held.clone()),
                    pool_policy: Some(PoolPolicy {
                        command_network: script.network,
                        private_targets: script.private_targets,
                    }),
                };
                Some(welcome.into())
            }
            Message::Heartbeat(beat) => script.heartbeats.then(|| {
                HeartbeatAnswer {
                    number: beat.number,
                    stop: script.stop.into_iter().map(Into::into).collect(),
                }
                .into()
            }),
            Message::Results(results) => {
                let verdict = script.verdict?;
                let answers = results.results.iter().map(|result| ResultAnswer {
                    lease: result.lease.clone(),
                    session_id: result.session_id.clone(),
                    verdict: verdict.into(),
                });
                Some(ResultAnswers { answers: answers.collect() }.into())
            }
            Message::Output(output) => {
                let bytes: usize = output.chunks.iter().map(|chunk| chunk.data.len()).sum();
                script.output.then(|| OutputAnswer { stored_bytes: bytes as u64 }.into())
            }
            Message::Accepted(_) => None,
        }
    }
}

/// The run of this JSON; as text where it cannot be read.
fn run(json: &str) -> assignment::Run {
    assignment::Run::new(
        StoredRun::read(json.to_owned()),
        KindsOfRuns { typed: true, callbacks: true },
    )
}

pub fn hellos(heard: &[Heard]) -> impl Iterator<Item = Hello> {
    heard.iter().filter_map(|one| match &one.message {
        Message::Hello(hello) => Some(hello.clone()),
        _ => None,
    })
}

fn results(heard: &[Heard], lease: LeaseKey) -> impl Iterator<Item = protocol::Result> {
    let wanted = protocol::Lease::from(lease);
    let groups = heard.iter().filter_map(|one| match &one.message {
        Message::Results(results) => Some(&results.results),
        _ => None,
    });
    groups.flatten().filter(move |result| result.lease.as_ref() == Some(&wanted)).cloned()
}

pub fn outcome(result: &protocol::Result) -> Outcome {
    result.outcome()
}

pub fn bash(script: &str) -> String {
    serde_json::json!({"command": {"argv": ["bash", "-c", script]}}).to_string()
}

#[tonic::async_trait]
impl ExecutorStream for Rm {
    type ConnectStream = ReceiverStream<Result<ToExecutor, Status>>;

    async fn connect(
        &self,
        request: Request<Streaming<FromExecutor>>,
    ) -> Result<Response<Self::ConnectStream>, Status> {
        let given = request.metadata().get("authorization");
        if given.is_none_or(|given| given != format!("Bearer {SECRET}").as_str()) {
            return Err(Status::unauthenticated("wrong secret"));
        }
        let (sender, outgoing) = mpsc::channel(1024);
        let stream = {
            let mut state = self.lock();
            state.streams += 1;
            state.sender = Some(sender.clone());
            state.streams
        };
        let rm = self.clone();
        let sender = sender.downgrade();
        self.tasks.spawn_detached("rm_stream", async move {
            let mut incoming = request.into_inner();
            while let Ok(Some(FromExecutor { message: Some(message) })) = incoming.message().await {
                let answer = rm.answer(&message);
                rm.lock().heard.push(Heard { stream, at: clock::monotonic(), message });
                if let (Some(answer), Some(sender)) = (answer, sender.upgrade()) {
                    sender.send(Ok(answer)).await.ok();
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }
}
