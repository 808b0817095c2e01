//! `berth up` as a program that another program starts: one line of JSON says where it is.
//!
//! The rule: its data folder outlives the process, so that a test can end it in any way and start it again on the same data;
//! both are gone with the [`UpCommand`].

use crate::Customer;
use anyhow::{Context, ensure};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use testkit::process::{RoleCommand, RoleProcess};
use testkit::program;

/// Longest start: a debug build that makes a database, on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How to start it, again and again on the same folder.
#[derive(Clone)]
pub struct UpCommand {
    command: RoleCommand,
    folder: Arc<tempfile::TempDir>,
}

/// A running one.
pub struct Up {
    process: RoleProcess,
    said: Value,
    /// From the start to the line.
    pub took: Duration,
    folder: Arc<tempfile::TempDir>,
}

impl UpCommand {
    /// On an empty data folder and a free port.
    pub fn new() -> anyhow::Result<Self> {
        let folder = folder()?;
        let command = RoleCommand::new("up", "up", folder.path())?;
        Ok(Self { command, folder }.with_data())
    }

    /// The same as an ordinary user, whom root alone can be.
    pub fn as_user(user: &str) -> anyhow::Result<Self> {
        let folder = folder()?;
        // Where this user may read it.
        let berth = folder.path().join("berth");
        std::fs::copy(program::find("cli", "berth")?, &berth)?;
        let command = RoleCommand::of_program("setpriv", "up", folder.path())
            .arg(format!("--reuid={user}"))
            .arg("--regid=65534")
            .arg("--clear-groups")
            // A change of user forgets it.
            .arg("--pdeathsig=KILL")
            .arg(berth.to_string_lossy())
            .arg("up");
        Ok(Self { command, folder }.with_data())
    }

    fn with_data(self) -> Self {
        let data = self.data().to_string_lossy().into_owned();
        let arguments = ["--data-dir", &data, "--output", "json"];
        arguments.into_iter().fold(self, Self::arg).env("BERTH_API__LISTEN", "127.0.0.1:0")
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.command = self.command.arg(argument);
        self
    }

    /// A setting.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command = self.command.env(name, value);
        self
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts it, and waits until it says that it is ready.
    pub async fn start(&self) -> anyhow::Result<Up> {
        let log = self.folder.path().join("up.log");
        if log.exists() {
            std::fs::remove_file(&log)?;
        }
        let began = runtime::clock::monotonic();
        let mut process = self.command.start()?;
        let ready = process.ready(START_LIMIT).await;
        ready.with_context(|| format!("its log: {}", log_of(&self.data())))?;
        let said = process
            .log_line(START_LIMIT, |line| {
                line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten()
            })
            .await?;
        Ok(Up { process, said, took: began.elapsed(), folder: Arc::clone(&self.folder) })
    }

    /// Starts one that must not come up; gives its exit code and what it said.
    pub async fn refused(&self) -> anyhow::Result<(Option<i32>, String)> {
        let mut process = self.command.clone().start()?;
        let status = process.wait(START_LIMIT).await?;
        Ok((status.code(), process.log()))
    }

    /// Every process that belongs to this folder: engines work in it, roles and supervisors are told of it.
    pub fn processes(&self) -> Vec<u32> {
        let data = self.data();
        let of_ours = |pid: &u32| {
            let place = PathBuf::from(format!("/proc/{pid}"));
            let here =
                std::fs::read_link(place.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&data));
            let text = std::fs::read(place.join("environ")).unwrap_or_default();
            here || String::from_utf8_lossy(&text).contains(&*data.to_string_lossy())
        };
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(of_ours)
            .collect()
    }

    /// Every address of TCP that `up` and these processes listen on.
    pub fn listens_on(&self, up: &Up) -> anyhow::Result<Vec<SocketAddr>> {
        let all = self.processes().into_iter().chain([up.pid()]);
        let sockets: HashSet<String> = all.flat_map(sockets_of).collect();
        let mut found = Vec::new();
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let table = std::fs::read_to_string(table).unwrap_or_default();
            for line in table.lines().skip(1) {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let [_, local, _, LISTENING, _, _, _, _, _, inode, ..] = fields[..] else {
                    continue;
                };
                if sockets.contains(&format!("socket:[{inode}]")) {
                    found.push(address(local).with_context(|| format!("no address: {local}"))?);
                }
            }
        }
        Ok(found)
    }
}

/// The state of a socket that listens, in /proc/net/tcp.
const LISTENING: &str = "0A";

/// Its open sockets, as links of /proc name them.
fn sockets_of(pid: u32) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    links.map(|link| link.to_string_lossy().into_owned()).collect()
}

/// `0100007F:1F90`: words of four bytes in this machine's order, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(host.get(at..at + 8)?, 16).ok();
    let words = (0..host.len()).step_by(8).map(word).collect::<Option<Vec<u32>>>()?;
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
    let host: IpAddr = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => four.into(),
        Err(_) => <[u8; 16]>::try_from(bytes.as_slice()).ok()?.into(),
    };
    Some(SocketAddr::new(host, u16::from_str_radix(port, 16).ok()?))
}

impl Up {
    /// A customer with the first key.
    pub fn customer(&self) -> anyhow::Result<Customer> {
        Customer::at(vec![self.url()?.to_owned()], self.key()?)
    }

    /// Where the API is.
    pub fn url(&self) -> anyhow::Result<&str> {
        self.said["url"].as_str().with_context(|| format!("no url in {}", self.said))
    }

    /// The first key.
    pub fn key(&self) -> anyhow::Result<&str> {
        self.said["api_key"].as_str().with_context(|| format!("no key in {}", self.said))
    }

    /// `embedded` or `full`.
    pub fn profile(&self) -> &str {
        self.said["profile"].as_str().unwrap_or_default()
    }

    /// All it has said.
    pub fn said(&self) -> &Value {
        &self.said
    }

    /// Its pid.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// A folder that tasks may write to.
    pub fn shared_folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its log.
    pub fn log(&self) -> String {
        log_of(&self.folder.path().join("data"))
    }

    /// Kills it without warning.
    pub fn kill9(&mut self) -> anyhow::Result<()> {
        self.process.kill9()
    }

    /// Asks it to end, and waits; it must end well.
    pub async fn term(&mut self, limit: Duration) -> anyhow::Result<()> {
        self.end_by(Signal::SIGTERM, limit).await
    }

    /// The same as its terminal does when it closes, after signals that mean nothing to it.
    pub async fn close_terminal(&mut self, limit: Duration) -> anyhow::Result<()> {
        self.process.signal(Signal::SIGUSR1)?;
        self.process.signal(Signal::SIGUSR2)?;
        self.end_by(Signal::SIGHUP, limit).await
    }

    async fn end_by(&mut self, signal: Signal, limit: Duration) -> anyhow::Result<()> {
        self.process.signal(signal)?;
        let status = self.process.wait(limit).await?;
        ensure!(status.success(), "it ended with {status}: {}{}", self.process.log(), self.log());
        Ok(())
    }
}

fn folder() -> anyhow::Result<Arc<tempfile::TempDir>> {
    let folder = tempfile::Builder::new().prefix("berth-up-").tempdir()?;
    // Engines and tasks run as other users, who must be able to walk through it.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777))?;
    Ok(Arc::new(folder))
}

fn log_of(data: &Path) -> String {
    std::fs::read_to_string(data.join("log/berth.log")).unwrap_or_default()
}
