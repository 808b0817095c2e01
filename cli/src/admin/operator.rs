//! Who makes the first operator key on the database: the name that the audit shows.
//!
//! The name is what the person or the system says, and proves nothing: whoever may write to the database may write what they want. It is there
//! so that several operators of one installation can tell who did what.

use domain::audit::{By, OperatorName};
use nix::unistd::{User, geteuid, getuid};
use runtime::config::variable;
use std::path::PathBuf;

/// Where the settings of an operator's command come from, and who gives it.
#[derive(Debug, clap::Args)]
pub struct OperatorSettings {
    /// Settings file, TOML (or BERTH_CONFIG). The environment variable `BERTH_SECTION__KEY` sets a single key.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Actor in the audit log, after `operator:`. Default: the login name (with sudo, the caller's).
    #[arg(long, env = "BERTH_OPERATOR", value_name = "NAME")]
    pub operator: Option<OperatorName>,
}

impl OperatorSettings {
    /// Who acts, for the audit.
    pub fn by(&self) -> By {
        By::command(self.operator.unwrap_or_else(login))
    }
}

/// The login name; under sudo that of the caller, whom only root may be told by the environment.
fn login() -> OperatorName {
    let caller = geteuid().is_root().then(|| variable("SUDO_USER")).flatten();
    let own = || User::from_uid(getuid()).ok().flatten().map(|user| user.name);
    let name = caller.filter(|name| !name.is_empty()).or_else(own);
    OperatorName::like(&name.unwrap_or_else(|| format!("uid-{}", getuid())))
}
