//! An operator at the broker of one test: deletes its queues, changes its settings.
//!
//! Only `bus` may speak AMQP, so this goes through the broker's own tool, in the environment of the broker it is meant for.

use anyhow::{Context, ensure};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use testkit::services::PrivateRabbit;

/// Runs `rabbitmqctl` (about 1 s) and gives its standard output.
pub async fn rabbitmqctl(rabbit: &PrivateRabbit, arguments: &[&str]) -> anyhow::Result<String> {
    rabbitmqctl_of(rabbit.pid().context("the broker is not running")?, arguments).await
}

/// The same for a private broker that another program has started.
pub async fn rabbitmqctl_of(pid: u32, arguments: &[&str]) -> anyhow::Result<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ"))?;
    let variables = environment.split(|byte| *byte == 0).filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'=')?;
        Some((OsStr::from_bytes(&entry[..at]), OsStr::from_bytes(&entry[at + 1..])))
    });
    let output = tokio::process::Command::new(program())
        .args(["--quiet"])
        .args(arguments)
        .env_clear()
        .envs(variables)
        .kill_on_drop(true)
        .output()
        .await
        .context("starting rabbitmqctl; run scripts/setup")?;
    ensure!(
        output.status.success(),
        "rabbitmqctl {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Debian's `rabbitmqctl` on the PATH changes the user and with it the environment; this is what it calls.
fn program() -> PathBuf {
    let installed = std::fs::read_dir("/usr/lib/rabbitmq/lib").into_iter().flatten().flatten();
    let own = installed
        .map(|version| version.path().join("sbin/rabbitmqctl"))
        .filter(|path| path.is_file())
        .max();
    own.unwrap_or_else(|| PathBuf::from("rabbitmqctl"))
}
