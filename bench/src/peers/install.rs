//! Installs what drivers need into `target/peers`, at the first run, and says how to start them.

use super::list::{Kit, Peer};
use anyhow::{Context, ensure};
use std::path::PathBuf;
use std::process::Stdio;
use testkit::{settings, spawn};
use tokio::process::Command;

impl Kit {
    const fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Rust => "rust",
        }
    }

    /// Beside the builds, so that `cargo clean` removes it.
    fn folder(self) -> anyhow::Result<PathBuf> {
        let programs = settings::program_folder().context("the folder of programs is not known")?;
        let target = programs.parent().context("the programs lie in no target folder")?;
        Ok(target.join("peers").join(self.name()))
    }

    /// Shows progress on the terminal; an error is the reason why it cannot be had.
    pub async fn install(self) -> anyhow::Result<()> {
        let script = settings::workspace().join("bench/peers/install");
        let output = Command::new(script)
            .arg(self.name())
            .arg(self.folder()?)
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .output()
            .await
            .context("starting bench/peers/install")?;
        let reason = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "{}", reason.trim());
        Ok(())
    }
}

impl Peer {
    /// Its driver, to be given a phase. It ends when the bench does.
    pub fn command(&self) -> anyhow::Result<Command> {
        let folder = self.kit.folder()?;
        let (script, variant) = self.driver.split_first().context("a peer without a driver")?;
        let interpreter = match self.kit {
            Kit::Node => Some("node"),
            Kit::Python => Some("python"),
            Kit::Rust => None,
        };
        let program = folder.join("bin").join(interpreter.unwrap_or(script));
        let mut command = Command::from(spawn::dying_with_us(program));
        if interpreter.is_some() {
            command.arg(folder.join(script));
        }
        command.args(variant);
        Ok(command)
    }
}
