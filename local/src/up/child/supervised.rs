//! One child: started, started again when it ends before its time, ended in steps.
//!
//! Until it is told that all is well (`settle`) an end is final: at start-up a reason is worth more than another try.

use super::keeper::{Keeper, Launch};
use super::merged_log::MergedLog;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runtime::backoff::Backoff;
use runtime::clock;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::{TaskGroup, TaskHandle};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::process::Child;
use tokio::sync::watch;

/// Signals, and how long each is given. What then still runs is killed.
pub type StopSteps = &'static [(Signal, Duration)];

/// A child that lived this long was well: its next restart is quick again.
const WELL: Duration = Duration::from_secs(30);

/// How it is with a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Not running at this moment.
    Starting,
    /// Running, with this pid.
    Running(u32),
    /// Ended for good, and why.
    Over(String),
}

/// A child that is looked after.
#[derive(Debug)]
pub struct Supervised {
    name: String,
    status: watch::Receiver<Status>,
    settled: Arc<AtomicBool>,
    stop: ShutdownHandle,
    task: TaskHandle<()>,
}

struct Watch {
    name: String,
    keeper: Keeper,
    launch: Launch,
    steps: StopSteps,
    log: Option<MergedLog>,
    status: watch::Sender<Status>,
    settled: Arc<AtomicBool>,
    stopping: Shutdown,
    tasks: TaskGroup,
}

impl Supervised {
    /// Starts it. What it writes to pipes goes to `log`.
    pub fn start(
        name: &str,
        keeper: &Keeper,
        launch: Launch,
        steps: StopSteps,
        log: Option<MergedLog>,
    ) -> Self {
        let (status, seen) = watch::channel(Status::Starting);
        let (stop, stopping) = Shutdown::new();
        let settled = Arc::new(AtomicBool::new(false));
        let tasks = TaskGroup::new();
        let watch = Watch {
            name: name.to_owned(),
            keeper: keeper.clone(),
            launch,
            steps,
            log,
            status,
            settled: Arc::clone(&settled),
            stopping,
            tasks: tasks.clone(),
        };
        let task = tasks.spawn("up_child", watch.run());
        Self { name: name.to_owned(), status: seen, settled, stop, task }
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why it ended for good, if it has.
    pub fn over(&self) -> Option<String> {
        match &*self.status.borrow() {
            Status::Over(why) => Some(why.clone()),
            Status::Starting | Status::Running(_) => None,
        }
    }

    /// From now on it is started again when it ends.
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    /// Ends it, and waits for its end.
    pub async fn stop(mut self) {
        self.stop.shut_down();
        // A panic was logged by the group; then the child was killed when it was dropped.
        let _ended = self.task.join().await;
    }
}

impl Watch {
    async fn run(self) {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        loop {
            let began = clock::monotonic();
            let ended = match self.keeper.start_child(self.launch.clone()).await {
                Err(error) => format!("cannot start: {error}"),
                Ok(child) => match self.attend(child).await {
                    Some(ended) => ended,
                    None => return,
                },
            };
            if self.stopping.is_cancelled() || !self.settled.load(Ordering::Relaxed) {
                self.status.send_replace(Status::Over(ended));
                return;
            }
            self.status.send_replace(Status::Starting);
            if began.elapsed() >= WELL {
                backoff.reset();
            }
            self.tell(&format!("{} has ended ({ended}) and is restarted", self.name));
            if !self.stopping.sleep(backoff.pause()).await {
                return;
            }
        }
    }

    /// Waits for the child's end; none when we ended it.
    async fn attend(&self, mut child: Child) -> Option<String> {
        if let Some(pid) = child.id() {
            self.status.send_replace(Status::Running(pid));
            tracing::info!(pid, "Started {} (pid {pid})", self.name);
        }
        if let Some(log) = &self.log {
            if let Some(stdout) = child.stdout.take() {
                self.tasks.spawn("up_log", log.clone().follow(self.name.clone(), stdout));
            }
            if let Some(stderr) = child.stderr.take() {
                self.tasks.spawn("up_log", log.clone().follow(self.name.clone(), stderr));
            }
        }
        tokio::select! {
            biased;
            ended = child.wait() => Some(ended.map_or_else(|error| error.to_string(), describe)),
            () = self.stopping.cancelled() => {
                self.end(child).await;
                None
            }
        }
    }

    async fn end(&self, mut child: Child) {
        for (signal, patience) in self.steps {
            // Not reaped yet, so the pid is still its own.
            if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
                kill(Pid::from_raw(pid), *signal).ok();
            }
            if clock::timeout(*patience, child.wait()).await.is_ok() {
                return;
            }
            self.tell(&format!("{} did not end within {patience:?} of {signal}", self.name));
        }
        if let Err(error) = child.kill().await {
            self.tell(&format!("{} cannot be killed: {error}", self.name));
        }
    }

    fn tell(&self, text: &str) {
        tracing::warn!("{text}");
        if let Some(log) = &self.log {
            log.line("up", text);
        }
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
