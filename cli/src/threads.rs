//! How many threads a role's process runs its own work on.

use crate::arguments::Command;
use runtime::config::variable;
use runtime::cores::half_of;
use std::num::NonZero;
use std::thread::available_parallelism;

/// Half of the machine's cores, at least one, for roles that are a process of their own; `None`: all, or what `TOKIO_WORKER_THREADS` says.
///
/// A machine that runs one of them runs others and mostly an engine, too. And a second thread is woken whenever the first has work, to
/// look for some: with 200 tasks a second on two cores that cost these processes a quarter of their time.
pub fn of(command: &Command) -> Option<usize> {
    let asked = variable("TOKIO_WORKER_THREADS").is_some();
    let cores = available_parallelism().map_or(1, NonZero::get);
    chosen(command, asked, cores)
}

fn chosen(command: &Command, asked: bool, cores: usize) -> Option<usize> {
    let on_half = matches!(
        command,
        Command::Api(_)
            | Command::Scheduler(_)
            | Command::ResourceManager(_)
            | Command::Notifier(_)
            | Command::Executor(_)
    );
    (on_half && !asked).then_some(half_of(cores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser;

    #[test]
    fn roles_have_half_of_the_cores_and_all_of_them_together_have_all() {
        let command = |name| Arguments::parse_from(["berth", name]).command;
        for name in ["api", "scheduler", "resource-manager", "notifier", "executor"] {
            let threads = [1, 2, 3, 8].map(|cores| chosen(&command(name), false, cores));
            assert_eq!(threads, [Some(1), Some(1), Some(1), Some(4)], "{name}");
            assert_eq!(
                chosen(&command(name), true, 8),
                None,
                "{name}: another number was asked for"
            );
        }
        assert_eq!(chosen(&command("up"), false, 8), None);
    }
}
