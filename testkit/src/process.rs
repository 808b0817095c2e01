//! A real `berth` process of one role, for end-to-end tests: started, killed, frozen, asked for its ports.
//!
//! The rule: it ends with the test, however the test ends, and its log stays readable after its death. A role names
//! the addresses it took in the file `BERTH_READY_FILE` (one `NAME ADDRESS` a line, renamed into place when ready).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runtime::clock;

use crate::{program, spawn};

/// What to start.
#[derive(Clone, Debug)]
pub struct RoleCommand {
    program: PathBuf,
    name: String,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    folder: PathBuf,
}

impl RoleCommand {
    /// `berth ROLE`, with log and ready file named after `name` in `folder`. Builds `berth` where `scripts/test` has
    /// not.
    pub fn new(role: &str, name: &str, folder: impl Into<PathBuf>) -> anyhow::Result<Self> {
        Ok(Self::of_program(program::find("cli", "berth")?, name, folder).arg(role))
    }

    /// Any other program that keeps to the same customs, for example a stand-in for a role.
    pub fn of_program(program: impl Into<PathBuf>, name: &str, folder: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            name: name.to_owned(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            folder: folder.into(),
        }
    }

    /// Another program, for example that of another release.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// A setting, for example `BERTH_DATABASE__URL`. No setting of the test's own environment is passed on.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Starts it. Does not wait until it is ready.
    pub fn start(&self) -> anyhow::Result<RoleProcess> {
        let log_file = self.folder.join(format!("{}.log", self.name));
        let ready_file = self.folder.join(format!("{}.ready", self.name));
        if ready_file.exists() {
            fs::remove_file(&ready_file)?;
        }
        let log = File::options().create(true).append(true).open(&log_file)?;
        let mut command = spawn::dying_with_us(&self.program);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BERTH_"))
        {
            command.env_remove(name);
        }
        command.args(&self.arguments).envs(&self.environment).env("BERTH_READY_FILE", &ready_file);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = spawn::spawn(command).with_context(|| format!("starting {}", self.name))?;
        Ok(RoleProcess { name: self.name.clone(), child, log_file, ready_file })
    }
}

/// A started role.
pub struct RoleProcess {
    name: String,
    child: Child,
    log_file: PathBuf,
    ready_file: PathBuf,
}

impl RoleProcess {
    /// Its pid.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The file that holds all it has logged, over restarts under the same name.
    pub fn log_file(&self) -> &Path {
        &self.log_file
    }

    /// All it has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log_file).unwrap_or_default()
    }

    /// Waits until the role is ready; answers the addresses it took, by name.
    pub async fn ready(&mut self, limit: Duration) -> anyhow::Result<BTreeMap<String, SocketAddr>> {
        let began = clock::monotonic();
        loop {
            if let Ok(text) = fs::read_to_string(&self.ready_file) {
                return text.lines().map(address).collect();
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended before it was ready ({status}): {}", self.name, self.log());
            }
            if began.elapsed() > limit {
                bail!("{} was not ready after {limit:?}: {}", self.name, self.log());
            }
            clock::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for a line of the log that `wanted` accepts; answers with what it made of it.
    pub async fn log_line<T>(
        &self,
        limit: Duration,
        wanted: impl Fn(&str) -> Option<T>,
    ) -> anyhow::Result<T> {
        let what = format!("a line in the log of {}", self.name);
        crate::poll::until_some(&what, limit, || {
            let found = self.log().lines().find_map(&wanted);
            async move { found }
        })
        .await
    }

    /// Kills it without warning and waits for its end.
    pub fn kill9(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Freezes it (SIGSTOP): it holds all it held and does nothing, like a machine that swaps.
    pub fn stop(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    /// Ends a freeze (SIGCONT).
    pub fn cont(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGCONT)
    }

    /// Asks it to end (SIGTERM), as a deploy does. Does not wait.
    pub fn term(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGTERM)
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits for its end.
    pub async fn wait(&mut self, limit: Duration) -> anyhow::Result<ExitStatus> {
        let began = clock::monotonic();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if began.elapsed() > limit {
                bail!("{} was still running after {limit:?}", self.name);
            }
            clock::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        Ok(kill(Pid::from_raw(i32::try_from(self.pid())?), signal)?)
    }
}

impl Drop for RoleProcess {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn address(line: &str) -> anyhow::Result<(String, SocketAddr)> {
    let (name, address) =
        line.split_once(' ').with_context(|| format!("`{line}` in a ready file"))?;
    Ok((name.to_owned(), address.parse().with_context(|| format!("`{line}` in a ready file"))?))
}
