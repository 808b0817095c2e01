//! One agent process and its folder.

use crate::host::until;
use crate::rm::{LIMIT, SECRET};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use runtime::clock;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A folder that outlives agents: data, logs, and a place where commands may write.
pub struct Home {
    folder: TempDir,
    unprivileged: bool,
}

/// An ordinary user, for tests that are started by root.
const NOBODY: u32 = 65534;

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Commands run as another user and have to get in.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let shared = folder.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o777)).unwrap();
        Self { folder, unprivileged: false }
    }

    /// One in which agents run as an ordinary user, even when root runs the test.
    pub fn unprivileged() -> Self {
        let home = Self::new();
        let unprivileged = geteuid().is_root();
        if unprivileged {
            chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        Self { unprivileged, ..home }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Whether its agents run as an ordinary user.
    pub fn is_unprivileged(&self) -> bool {
        self.unprivileged
    }

    /// A file that commands can write.
    pub fn shared(&self, name: &str) -> PathBuf {
        self.path().join("shared").join(name)
    }

    pub fn spool(&self) -> PathBuf {
        self.path().join("data/spool")
    }

    pub fn work_folders(&self) -> usize {
        fs::read_dir(self.path().join("data/work")).map_or(0, Iterator::count)
    }
}

pub struct Agent {
    child: Child,
    log: PathBuf,
}

impl Agent {
    pub fn start(home: &Home, addresses: &[&str]) -> Self {
        Self::start_with(home, addresses, &[])
    }

    /// Starts an agent that does not isolate: for commands that use a file of this machine.
    pub fn plain(home: &Home, addresses: &[&str]) -> Self {
        Self::start_with(home, addresses, &[("EXECUTOR__ISOLATION", "none")])
    }

    /// Starts an agent in `home`; `settings` are pairs such as `("EXECUTOR__DRAIN_GRACE", "1s")`.
    pub fn start_with(home: &Home, addresses: &[&str], settings: &[(&str, &str)]) -> Self {
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| (format!("BERTH_{name}"), *value)).collect();
        let settings: Vec<_> = settings.iter().map(|(name, value)| (&name[..], *value)).collect();
        Self::launch(home, addresses, &settings, &[])
    }

    /// The same with variables named in full.
    pub fn start_among(home: &Home, addresses: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::launch(home, addresses, variables, &[])
    }

    /// As `start_with`, by another program that is given the agent and its arguments.
    pub fn start_below(
        home: &Home,
        addresses: &[&str],
        settings: &[(&str, &str)],
        program: &[&str],
    ) -> Self {
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| (format!("BERTH_{name}"), *value)).collect();
        let settings: Vec<_> = settings.iter().map(|(name, value)| (&name[..], *value)).collect();
        Self::launch(home, addresses, &settings, program)
    }

    /// As `start_with`, with its log to `output`.
    pub fn start_logging_to(
        home: &Home,
        addresses: &[&str],
        settings: &[(&str, &str)],
        output: impl Into<Stdio>,
    ) -> Self {
        let mut command = Self::command(home, addresses, &[]);
        command.envs(settings.iter().map(|(name, value)| (format!("BERTH_{name}"), *value)));
        command.stderr(output);
        Self { child: command.spawn().unwrap(), log: home.path().join("agent.log") }
    }

    fn launch(
        home: &Home,
        addresses: &[&str],
        variables: &[(&str, &str)],
        program: &[&str],
    ) -> Self {
        let mut command = Self::command(home, addresses, program);
        command.envs(variables.iter().copied());
        Self { child: command.spawn().unwrap(), log: home.path().join("agent.log") }
    }

    fn command(home: &Home, addresses: &[&str], program: &[&str]) -> Command {
        let log = home.path().join("agent.log");
        let output = File::options().create(true).append(true).open(&log).unwrap();
        let mut words = program.to_vec();
        words.push(env!("CARGO_BIN_EXE_executor-agent"));
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("BERTH_EXECUTOR__ID", "test-1")
            .env("BERTH_EXECUTOR__RESOURCE_MANAGERS", addresses.join(","))
            .env("BERTH_EXECUTOR__DATA_DIR", home.path().join("data"))
            .env("BERTH_AUTH__EXECUTOR_SECRET", SECRET)
            .env("BERTH_TELEMETRY__LOG", "debug,h2=info,hyper=info,tower=info,hickory=info")
            .env("BERTH_TELEMETRY__FORMAT", "text")
            .stdout(output.try_clone().unwrap())
            .stderr(output);
        if home.unprivileged {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// What it says it enforces.
    pub async fn enforces(&self) -> String {
        let report = || {
            let log = self.log();
            let rest = log.split(": enforced: ").nth(1)?;
            Some(rest.lines().next()?.to_owned())
        };
        until("it says what it enforces", LIMIT, || report().is_some()).await;
        report().unwrap()
    }

    /// Whether it isolates, by its own word. Where it does not, the reason is printed.
    pub async fn isolates(&self) -> bool {
        let report = self.enforces().await;
        let isolates = report.split(';').next().unwrap().contains("seccomp");
        if !isolates {
            eprintln!("NOT ISOLATED: {report}");
        }
        isolates
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).unwrap();
    }

    /// Ends it without any warning, and waits until it is gone.
    pub fn kill9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub async fn wait(&mut self, limit: Duration) -> ExitStatus {
        let deadline = clock::monotonic() + limit;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(clock::monotonic() < deadline, "the agent has not ended\n{}", self.log());
            clock::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Resident memory, KiB.
    pub fn rss_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Processor time used, in ticks of 10 ms.
    pub fn cpu_ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        if std::thread::panicking() {
            eprintln!("agent's log:\n{}", self.log());
        }
    }
}
