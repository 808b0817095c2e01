//! A task's command that writes itself down: `ledger-stamp LEDGER MILLISECONDS EXIT_CODE [TASK ATTEMPT]`.
//!
//! Started by an executor under test (see `testkit::ledger`). Appends a start line, works for the given time, appends
//! an end line. Without the last two words they come from the environment the executor sets.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::stat::{Mode, umask};
use testkit::ledger::{Ledger, Line, Mark};
use testkit::settings;

fn main() -> anyhow::Result<ExitCode> {
    // Attempts have users of their own: whoever writes the first line must not shut the others out.
    umask(Mode::empty());
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (ledger, milliseconds, exit_code, named) = match words.as_slice() {
        [ledger, milliseconds, exit_code] => (ledger, milliseconds, exit_code, None),
        [ledger, milliseconds, exit_code, task, attempt] => {
            (ledger, milliseconds, exit_code, Some((task.clone(), attempt.clone())))
        }
        _ => bail!("usage: ledger-stamp LEDGER MILLISECONDS EXIT_CODE [TASK ATTEMPT]"),
    };
    let (task, attempt) = named.or_else(settings::task_and_attempt).context(
        "neither arguments nor BERTH_TASK_ID and BERTH_ATTEMPT say which attempt this is",
    )?;
    let attempt = attempt.parse().context("the attempt is no number")?;
    let ledger = Ledger::at(ledger);

    ledger.append(&Line::now(&task, attempt, Mark::Start)?)?;
    std::thread::sleep(Duration::from_millis(
        milliseconds.parse().context("the duration is no number")?,
    ));
    ledger.append(&Line::now(&task, attempt, Mark::End)?)?;
    Ok(ExitCode::from(exit_code.parse::<u8>().context("the exit code is not within 0..=255")?))
}
