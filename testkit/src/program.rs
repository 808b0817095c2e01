//! Finds the programs of this workspace that tests start: `berth`, `ledger-stamp`.
//!
//! Called by `process` and `ledger`. `scripts/test` builds them all and names the folder; a test started by hand
//! builds what it needs. The rule: never a stale one from an earlier build, never one from the PATH.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::settings;

/// The path of a program, built now unless `BERTH_TEST_BIN_DIR` says where it is.
pub fn find(package: &str, program: &str) -> anyhow::Result<PathBuf> {
    if let Some(folder) = settings::program_folder() {
        let path = folder.join(program);
        if path.is_file() {
            return Ok(path);
        }
        bail!("BERTH_TEST_BIN_DIR is given, but {} does not exist", path.display());
    }
    // .../target/<profile>/deps/<test>: the same profile and target folder as the test's own.
    let test = std::env::current_exe()?;
    let profile = test.ancestors().nth(2).context("the test lies in no target folder")?.to_owned();
    let target = profile.parent().context("the test lies in no target folder")?;
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(settings::workspace());
    build.args(["build", "--quiet", "-p", package, "--bin", program, "--target-dir"]).arg(target);
    // The folder of the profile `dev` has another name.
    let name = profile.file_name().filter(|name| *name != "debug");
    if let Some(name) = name {
        build.arg("--profile").arg(name);
    }
    if !build.status()?.success() {
        bail!("building `{program}` failed");
    }
    Ok(profile.join(program))
}
