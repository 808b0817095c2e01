//! Where settings come from, for the commands that need them.

use std::path::PathBuf;

/// Where the settings of a role or an operator's command come from.
#[derive(Debug, clap::Args)]
pub struct SettingsArguments {
    /// File with settings, TOML. BERTH_CONFIG names it too; `BERTH_SECTION__KEY` sets a single one.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
