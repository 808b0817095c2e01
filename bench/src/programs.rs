//! Builds the `berth` binary as it is released and tells the test support where it is.
//!
//! Called first. The test support reads the folder from the environment, and a program cannot safely change its own
//! environment: so this program restarts itself with it. The rule: never an old binary, never one with debug checks.

use anyhow::{Context, bail};
use std::os::unix::process::CommandExt;
use std::process::Command;
use testkit::settings;

/// Returns at once when the folder is known; otherwise builds and does not return.
pub fn ensure_built() -> anyhow::Result<()> {
    if settings::program_folder().is_some() {
        return Ok(());
    }
    let this = std::env::current_exe()?;
    let folder = this.parent().context("the program lies in no folder")?;
    let target = folder.parent().context("the program lies in no target folder")?;
    let mut build = Command::new(env!("CARGO"));
    build
        .current_dir(settings::workspace())
        .args(["build", "--profile", "dist", "-p", "cli", "--bins", "--target-dir"])
        .arg(target);
    if !build.status().context("starting cargo")?.success() {
        bail!("building `berth` failed");
    }
    let mut again = Command::new(&this);
    again.args(std::env::args_os().skip(1)).env("BERTH_TEST_BIN_DIR", target.join("dist"));
    Err(again.exec()).context("starting anew")
}
