//! Asks for a secret: the first line of standard input; on a terminal it does not show.

use crate::failure::Failure;
use crate::output;
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use runtime::config::SecretString;
use std::io::{BufRead, IsTerminal, stdin};

/// Asks for `what`.
pub(crate) fn ask(what: &str) -> Result<SecretString, Failure> {
    let input = stdin();
    let hidden = input.is_terminal().then(|| {
        output::remark(&format!("{what} (it does not show):"));
        Hidden::begin()
    });
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    drop(hidden);
    read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    Ok(SecretString::from(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The terminal without echo, until it is dropped.
struct Hidden(Option<nix::sys::termios::Termios>);

impl Hidden {
    fn begin() -> Self {
        let Ok(before) = tcgetattr(stdin()) else { return Self(None) };
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        Self(tcsetattr(stdin(), SetArg::TCSANOW, &quiet).is_ok().then_some(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // Nothing is left to do where even that fails.
            let _as_before = tcsetattr(stdin(), SetArg::TCSANOW, before);
        }
    }
}
