//! Turns this process into a child of `berth up`: first an own session, another user and a death signal, then another program.
//!
//! `main` calls it before anything else. A step of its own, because only the child itself can ask to be told of its parent's
//! death, and only after it has changed its user: the kernel forgets the wish when a process does.

use crate::output;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, User, getppid, initgroups, setgid, setsid, setuid};
use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// First argument of a child to be. Then: pid of the parent, number of the death signal, user or `-`, program, arguments.
pub(super) const HIDDEN_ARGUMENT: &str = "__child";
/// In the place of a user: whoever we are.
pub(super) const SAME_USER: &str = "-";

/// This very binary, even when its file has been replaced by a newer one.
pub const OURSELVES: &str = "/proc/self/exe";

/// Becomes another program and never returns, if the first argument says so; otherwise does nothing.
pub fn maybe_become() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != HIDDEN_ARGUMENT) {
        return;
    }
    let error = become_it(arguments);
    output::remark(&format!("cannot start: {error}"));
    std::process::exit(126);
}

fn become_it(mut arguments: impl Iterator<Item = OsString>) -> io::Error {
    let mut text = || arguments.next().and_then(|text| text.into_string().ok());
    let (parent, signal, user) = (text(), text(), text());
    let parent = parent.and_then(|pid| pid.parse().ok()).map(Pid::from_raw);
    let signal = signal.and_then(|number| Signal::try_from(number.parse::<i32>().ok()?).ok());
    let (Some(parent), Some(signal), Some(user), Some(program)) =
        (parent, signal, user, arguments.next())
    else {
        return io::Error::other("this is an internal call of `berth up`");
    };
    if let Err(error) = prepare(signal, &user) {
        return error;
    }
    // The parent may have died before its death could be noticed.
    if getppid() != parent {
        return io::Error::other("berth up has ended");
    }
    let mut command = Command::new(&program);
    if program == OURSELVES {
        command.arg0("berth");
    }
    command.args(arguments).exec()
}

fn prepare(signal: Signal, user: &str) -> io::Result<()> {
    // A ctrl-C in the terminal is for `berth up`, which ends its children in order.
    setsid()?;
    if user != SAME_USER {
        let unknown = || io::Error::other(format!("no user `{user}`"));
        let user = User::from_name(user)?.ok_or_else(unknown)?;
        initgroups(&CString::new(user.name)?, user.gid)?;
        setgid(user.gid)?;
        setuid(user.uid)?;
    }
    Ok(prctl::set_pdeathsig(signal)?)
}
