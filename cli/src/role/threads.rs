//! How many threads a role's process runs its own work on.

use crate::arguments::Command;
use runtime::config::variable;
use std::num::NonZero;
use std::thread::available_parallelism;

/// Half of the machine's cores, at least one, for most roles that are a process of their own; `None`: all, or what `TOKIO_WORKER_THREADS`
/// says. A resource manager has all: claims, ends and streams go on at the same time there, and everything goes through it.
///
/// A machine that runs one of them runs others and mostly an engine, too. And a second thread is woken whenever the first has work, to
/// look for some: with 200 tasks a second on two cores that cost these processes a quarter of their time (docs/performance.md).
pub fn threads(command: &Command) -> Option<usize> {
    let of_role = matches!(
        command,
        Command::Api(_)
            | Command::Scheduler(_)
            | Command::ResourceManager(_)
            | Command::Executor(_)
    );
    let asked = variable("TOKIO_WORKER_THREADS").is_some();
    let cores = available_parallelism().map_or(1, NonZero::get);
    (of_role && !asked).then_some((cores / 2).max(1))
}
