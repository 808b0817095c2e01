//! The machine and versions of a run.

use anyhow::Context;
use serde::Serialize;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;
use testkit::{program, psql};
use url::Url;

/// The machine.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// As the processor calls itself.
    pub cpu: String,
    /// Cores this program may use.
    pub cores: usize,
    /// Of all memory.
    pub memory_mib: u64,
    /// Release of the kernel.
    pub kernel: String,
}

/// The programs.
#[derive(Debug, Serialize)]
pub struct Versions {
    /// Of the server.
    pub postgres: String,
    /// Of the server.
    pub rabbitmq: String,
    /// Of the compiler.
    pub rust: String,
    /// Of the binary that was measured.
    pub berth: String,
}

impl Machine {
    /// This one.
    pub fn here() -> anyhow::Result<Self> {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo")?;
        let model =
            cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let meminfo = fs::read_to_string("/proc/meminfo")?;
        let memory = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kib: u64 =
            memory.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
        Ok(Self {
            cpu: model.map_or("unknown", |(_, name)| name).to_owned(),
            cores: std::thread::available_parallelism()?.get(),
            memory_mib: kib / 1024,
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        })
    }
}

impl Versions {
    /// Asks each.
    pub async fn ask(admin_url: &str, amqp_url: &str) -> anyhow::Result<Self> {
        let said = |command: &mut Command| -> anyhow::Result<String> {
            Ok(String::from_utf8(command.arg("--version").output()?.stdout)?.trim().to_owned())
        };
        Ok(Self {
            postgres: psql::run(admin_url, "show server_version").await?,
            rabbitmq: rabbitmq(amqp_url).unwrap_or_else(|error| format!("unknown: {error}")),
            rust: said(&mut Command::new("rustc"))?,
            berth: said(&mut Command::new(program::find("cli", "berth")?))?,
        })
    }
}

/// A broker tells its version in the first frame, before any login.
fn rabbitmq(url: &str) -> anyhow::Result<String> {
    const FIELD: &[u8] = b"\x07versionS";
    let url = Url::parse(url)?;
    let mut stream =
        TcpStream::connect((url.host_str().context("no host")?, url.port().unwrap_or(5672)))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(b"AMQP\x00\x00\x09\x01")?;
    let mut frame = [0; 2048];
    let length = stream.read(&mut frame)?;
    let at = frame.windows(FIELD.len()).position(|window| window == FIELD).context("no version")?
        + FIELD.len();
    let size = frame.get(at + 3).copied().context("no version")?;
    let text = frame[..length].get(at + 4..at + 4 + usize::from(size)).context("no version")?;
    Ok(String::from_utf8(text.to_vec())?)
}
