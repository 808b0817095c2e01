//! The drivers of this release.
//!
//! A driver is one module that implements [`Driver`]. What a task gives it is a variant of [`Run`], and here it has its place in
//! [`Drivers`]. Nothing else names it.

use crate::command::CommandDriver;
use crate::driver::{Attempt, Driver, Services, Started};
use crate::http::HttpDriver;
use crate::noop::NoopDriver;
use domain::task::Run;
use runtime::config::ExecutorConfig;

/// `executor.drivers` names one that this release does not have.
#[derive(Debug, thiserror::Error)]
#[error("`executor.drivers` names `{name}`; there are: {}", Run::DRIVERS.join(", "))]
pub struct UnknownDriver {
    name: String,
}

/// Those that this executor offers.
pub(crate) struct Drivers {
    names: Vec<&'static str>,
    command: CommandDriver,
    http: HttpDriver,
    noop: NoopDriver,
}

impl Drivers {
    /// Sets up those that the configuration names.
    ///
    /// # Errors
    /// When there is none of that name.
    pub(crate) fn new(
        config: &ExecutorConfig,
        command: CommandDriver,
    ) -> Result<Self, UnknownDriver> {
        let of = |name: &String| {
            let known = Run::DRIVERS.into_iter().find(|known| known == name);
            known.ok_or_else(|| UnknownDriver { name: name.clone() })
        };
        Ok(Self {
            names: config.drivers.iter().map(of).collect::<Result<_, _>>()?,
            command,
            http: HttpDriver::new(config),
            noop: NoopDriver,
        })
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().copied()
    }

    /// Whether this executor offers the driver of `run`.
    pub(crate) fn has(&self, run: &Run) -> bool {
        self.names.contains(&run.driver())
    }

    /// Starts an attempt of `run`, whose driver this executor [has](Self::has).
    pub(crate) fn start(&self, run: Run, attempt: Attempt, services: &Services) -> Started {
        match run {
            Run::Command(run) => self.command.start(run, attempt, services),
            Run::Http(run) => self.http.start(run, attempt, services),
            Run::Noop(run) => self.noop.start(run, attempt, services),
        }
    }
}
