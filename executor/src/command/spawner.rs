//! Starts supervisors, all from one thread that lives as long as the agent, and few at a time.
//!
//! A start costs milliseconds of processor time, and an executor may be given all its work in one message. Started at once
//! they would leave the agent, and what else is in its process, one share in a hundred: heartbeats would be late. In turn,
//! each starts sooner and none later.
//!
//! The kernel ties "tell me when my parent dies" to the thread that forked, not to the process: from
//! one of tokio's threads that ends when idle, supervisors would hear of a death that did not happen.

use crate::arguments::SUPERVISE;
use std::io;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// This very binary, even when its file has been replaced by a newer one.
const OURSELVES: &str = "/proc/self/exe";

/// Starts under way for each processor: they wait for the disk and for locks of the kernel, too.
const STARTS_PER_CORE: usize = 4;

/// A supervisor that waits for its job.
#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) process: Child,
    /// Jobs and orders go in, reports come out.
    pub(super) control: tokio::net::UnixStream,
    /// What the command writes.
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

type Reply = oneshot::Sender<io::Result<Supervisor>>;

/// Asks the thread; cheap to clone. The thread ends with the last of them.
#[derive(Debug, Clone)]
pub(crate) struct Spawner {
    requests: Sender<Reply>,
    turns: Arc<Semaphore>,
}

/// The right to start now, given up when this is dropped.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Spawner {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Self> {
        let (requests, inbox) = channel();
        let runtime = Handle::current();
        thread::Builder::new()
            .name("berth-spawner".to_owned())
            .spawn(move || serve(&inbox, &runtime))?;
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Self { requests, turns: Arc::new(Semaphore::new(cores * STARTS_PER_CORE)) })
    }

    /// Waits until few enough starts are under way.
    pub(super) async fn turn(&self) -> io::Result<Turn> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        turn.map(Turn).map_err(io::Error::other)
    }

    /// A new supervisor.
    pub(super) async fn supervisor(&self) -> io::Result<Supervisor> {
        let (reply, answer) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts processes is gone");
        self.requests.send(reply).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn serve(inbox: &Receiver<Reply>, runtime: &Handle) {
    // Pipes and children register with the agent's runtime.
    let _guard = runtime.enter();
    while let Ok(reply) = inbox.recv() {
        // Whoever asked may be gone; then the supervisor sees its socket close, and ends.
        reply.send(spawn()).ok();
    }
}

fn spawn() -> io::Result<Supervisor> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut process = Command::new(OURSELVES)
        .arg0("berth")
        .arg(SUPERVISE)
        .arg(std::process::id().to_string())
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let stdout = process.stdout.take().ok_or_else(missing)?.into_owned_fd()?;
    let stderr = process.stderr.take().ok_or_else(missing)?.into_owned_fd()?;
    Ok(Supervisor {
        process,
        control: tokio::net::UnixStream::from_std(ours)?,
        stdout: pipe::Receiver::from_owned_fd(stdout)?,
        stderr: pipe::Receiver::from_owned_fd(stderr)?,
    })
}
