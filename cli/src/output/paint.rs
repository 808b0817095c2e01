//! Colours, on a terminal only and never where `NO_COLOR` is set (no-color.org).

use client::Extensible;
use domain::task::State;
use runtime::config::variable;
use std::io::{IsTerminal, stderr, stdout};

const RESET: &str = "\u{1b}[0m";

/// Whether standard output may be coloured.
pub fn on_output() -> bool {
    stdout().is_terminal() && allowed()
}

/// A state as it is said on standard error.
pub fn state_for_remarks(state: &Extensible<State>) -> String {
    let text = state.to_string();
    if stderr().is_terminal() && allowed() { painted(&text, &text) } else { text }
}

/// `cell`, which shows the state named `state`, in its colour; any other text as it is.
pub fn painted(cell: &str, state: &str) -> String {
    let Ok(state) = state.parse::<State>() else { return cell.to_owned() };
    let colour = match state {
        State::Succeeded => "32",
        State::Failed | State::Aborted | State::Killed => "31",
        State::Running | State::Cancelling => "36",
        State::Retrying | State::Expired => "33",
        State::Scheduled | State::Ready | State::Queued | State::Cancelled | State::Skipped => "2",
    };
    format!("\u{1b}[{colour}m{cell}{RESET}")
}

fn allowed() -> bool {
    variable("NO_COLOR").is_none_or(|value| value.is_empty())
        && variable("TERM").is_none_or(|value| value != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_its_colour_and_anything_else_has_none() {
        assert_eq!(painted("failed  ", "failed"), "\u{1b}[31mfailed  \u{1b}[0m");
        assert_eq!(painted("name", "name"), "name");
    }
}
