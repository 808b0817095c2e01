//! What every role's process begins with: settings, logs, signals.

use crate::failure::{Exit, Failure};
use crate::settings_arguments::SettingsArguments;
use runtime::config::{self, Config};
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::telemetry;

/// A process that has its settings and hears signals, before its role starts.
pub(super) struct Process {
    pub config: Config,
    /// Announced by SIGTERM or ctrl-C; from here on, so that an early signal is not lost.
    pub shutdown: Shutdown,
}

impl Process {
    /// Listens to signals, reads the settings and starts the logs of `role`.
    pub fn begin(role: &str, arguments: &SettingsArguments) -> Result<Self, Failure> {
        // First of all: a signal meanwhile would end the process as if nobody had asked it to.
        let (_handle, shutdown) = Shutdown::from_signals(&TaskGroup::new())
            .map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))?;
        let config = config::load(arguments.config.as_deref())?;
        telemetry::init(role, &config.telemetry)
            .map_err(|error| Failure::caused(Exit::Usage, &error))?;
        Ok(Self { config, shutdown })
    }
}
