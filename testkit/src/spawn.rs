//! Starts child processes that cannot outlive the test process.
//!
//! Called by `services` and `process`. Children get a death signal (`setpriv --pdeathsig`), which the kernel ties to
//! the *thread* that started them, not to the process: a child started on a short-lived runtime thread would be shot
//! in mid-test. So one thread that lives as long as the process starts all of them. That is the rule.

use parking_lot::Mutex;
use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};

struct Request {
    command: Command,
    reply: Sender<io::Result<Child>>,
}

static KEEPER: Mutex<Option<Sender<Request>>> = Mutex::new(None);

/// Starts the command from the keeper thread. Errors are those of starting it, or of starting the thread.
pub fn spawn(command: Command) -> io::Result<Child> {
    let (reply, answer) = channel();
    let gone = |_| io::Error::other("the thread that starts children has ended");
    keeper()?.send(Request { command, reply }).map_err(|_| gone(()))?;
    answer.recv().map_err(|_| gone(()))?
}

/// The command wrapped so that it is killed when this process ends, however it ends, and hears SIGHUP also where the tests run under
/// `nohup`.
pub fn dying_with_us(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", "env", "--default-signal=HUP"]).arg(program);
    command
}

fn keeper() -> io::Result<Sender<Request>> {
    let mut slot = KEEPER.lock();
    if let Some(sender) = slot.as_ref() {
        return Ok(sender.clone());
    }
    let (sender, requests) = channel::<Request>();
    std::thread::Builder::new().name("testkit-keeper".into()).spawn(move || {
        for mut request in requests {
            // A caller that went away leaves a child nobody knows: end it.
            if let Err(lost) = request.reply.send(request.command.spawn())
                && let Ok(mut child) = lost.0
            {
                let _ended = child.kill().and_then(|()| child.wait());
            }
        }
    })?;
    *slot = Some(sender.clone());
    Ok(sender)
}
