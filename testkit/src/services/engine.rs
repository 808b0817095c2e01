//! One private engine process: started, killed, frozen, restarted.
//!
//! The parts that `PrivatePostgres`, `PrivateRabbit` and the others share. The rule: an engine counts as started only when the port is
//! held by our own child *and* the engine itself has spoken; a restart keeps port, data and password.

use std::fs::{self, OpenOptions};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runtime::clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::ports;
use super::run_folder::RunFolder;
use crate::{settings, spawn};

const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// How to start an engine, tell that it lives, and stop it cleanly.
pub(super) struct Recipe {
    /// The name `scripts/private-engine` knows it by.
    pub name: &'static str,
    /// What a client says first.
    pub greeting: &'static [u8],
    /// The first byte of a ready engine's answer.
    pub ready: u8,
    /// Asks for a clean stop.
    pub stop_signal: Signal,
}

/// A running (or killed) engine of one test.
pub struct Engine {
    recipe: &'static Recipe,
    // Before the folder: fields are dropped in this order.
    child: Option<Child>,
    port: u16,
    run: RunFolder,
}

impl Engine {
    pub(super) async fn start(recipe: &'static Recipe) -> anyhow::Result<Self> {
        Self::start_with(recipe, &[]).await
    }

    /// The same with files in its folder, which it finds when it starts.
    pub(super) async fn start_with(
        recipe: &'static Recipe,
        files: &[(&str, String)],
    ) -> anyhow::Result<Self> {
        let run = RunFolder::create()?;
        let folder = run.path().join(recipe.name);
        fs::create_dir_all(&folder)?;
        for (name, text) in files {
            fs::write(folder.join(name), text)?;
        }
        let mut engine = Self { recipe, child: None, port: 0, run };
        for _ in 0..5 {
            engine.port = ports::free()?;
            match engine.boot().await {
                Ok(()) => return Ok(engine),
                Err(failed) if !engine.port_was_taken() => return Err(failed),
                Err(_) => {}
            }
        }
        bail!("{} found no free port in five tries", recipe.name)
    }

    /// What a client connects to, password included. The same after a restart.
    pub fn url(&self) -> anyhow::Result<String> {
        let file = self.folder().join("url");
        Ok(fs::read_to_string(&file)
            .with_context(|| format!("reading {}", file.display()))?
            .trim()
            .to_owned())
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The engine's pid while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Everything the engine has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// Kills the engine and all its helpers without warning, like a power cut. Returns when they are gone.
    pub fn kill9(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        self.run.kill_all();
        Ok(())
    }

    /// Freezes the engine: it keeps its connections and answers nothing, like an overloaded machine.
    pub fn freeze(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    /// Ends a freeze.
    pub fn thaw(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGCONT)
    }

    /// Stops the engine cleanly. Fails when it takes more than 30 s.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        if self.child.is_none() {
            return Ok(());
        }
        self.signal(self.recipe.stop_signal)?;
        let began = clock::monotonic();
        while let Some(child) = self.child.as_mut() {
            if child.try_wait()?.is_some() {
                self.child = None;
            } else if began.elapsed() > STOP_LIMIT {
                bail!("{} did not stop within {STOP_LIMIT:?}", self.recipe.name);
            } else {
                clock::sleep(Duration::from_millis(20)).await;
            }
        }
        // What a clean stop leaves behind (RabbitMQ's helpers) must not meet the next start.
        self.run.kill_all();
        Ok(())
    }

    /// Starts it again on the same port with the same data; stops it first when it runs.
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        self.stop().await?;
        self.boot().await
    }

    async fn boot(&mut self) -> anyhow::Result<()> {
        let log = OpenOptions::new().create(true).append(true).open(self.log_file())?;
        let mut command = Command::new(settings::workspace().join("scripts/private-engine"));
        command.arg(self.recipe.name).arg(self.folder()).arg(self.port.to_string());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.child = Some(spawn::spawn(command).context("starting scripts/private-engine")?);

        let began = clock::monotonic();
        loop {
            let Some(child) = self.child.as_mut() else { bail!("{} is gone", self.recipe.name) };
            if let Some(status) = child.try_wait()? {
                self.child = None;
                bail!(
                    "{} ended at start ({}): {}",
                    self.recipe.name,
                    describe(status),
                    self.log_end()
                );
            }
            if ports::is_held_by(self.port, child.id()) && self.answers().await {
                return Ok(());
            }
            if began.elapsed() > START_LIMIT {
                self.kill9()?;
                bail!(
                    "{} did not start within {START_LIMIT:?}: {}",
                    self.recipe.name,
                    self.log_end()
                );
            }
            clock::sleep(Duration::from_millis(30)).await;
        }
    }

    async fn answers(&self) -> bool {
        let ask = async {
            let mut connection = TcpStream::connect(("127.0.0.1", self.port)).await?;
            connection.write_all(self.recipe.greeting).await?;
            connection.read_u8().await
        };
        matches!(tokio::time::timeout(Duration::from_secs(2), ask).await, Ok(Ok(first)) if first == self.recipe.ready)
    }

    pub(super) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = self.pid().with_context(|| format!("{} is not running", self.recipe.name))?;
        Ok(kill(Pid::from_raw(i32::try_from(pid)?), signal)?)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.run.path().join(self.recipe.name)
    }

    fn log_file(&self) -> PathBuf {
        self.run.path().join(format!("{}.log", self.recipe.name))
    }

    fn port_was_taken(&self) -> bool {
        let log = self.log().to_lowercase();
        log.contains("address already in use") || log.contains("eaddrinuse")
    }

    fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines.get(lines.len().saturating_sub(15)..).unwrap_or_default().join("\n")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Postgres gives its shared memory back on a clean stop only; the others lose nothing by it.
        if let Some(child) = self.child.as_mut() {
            let _asked = i32::try_from(child.id())
                .map(|pid| kill(Pid::from_raw(pid), self.recipe.stop_signal));
            for _ in 0..100 {
                if !matches!(child.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ended = child.kill().and_then(|()| child.wait());
        }
    }
}

fn describe(status: std::process::ExitStatus) -> String {
    status.signal().map_or_else(|| status.to_string(), |signal| format!("signal {signal}"))
}
