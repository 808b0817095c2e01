//! Starts children, all from one thread that lives as long as `berth up`.
//!
//! The kernel ties "tell me when my parent dies" to the thread that forked, not to the process: from one of tokio's threads
//! that ends when idle, children would hear of a death that did not happen.

use super::become_child::{HIDDEN_ARGUMENT, OURSELVES, SAME_USER};
use nix::sys::signal::Signal;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What to start, and how.
#[derive(Debug, Clone)]
pub struct Launch {
    /// A path, or a name to be found in the PATH.
    pub program: PathBuf,
    /// What it is told.
    pub arguments: Vec<OsString>,
    /// Which of our variables it gets.
    pub surroundings: Surroundings,
    /// Variables besides.
    pub environment: Vec<(String, String)>,
    /// Where it works.
    pub folder: PathBuf,
    /// Whom it runs as; none: whoever we are.
    pub user: Option<String>,
    /// What it gets when we die.
    pub death: Signal,
    /// Where it writes to.
    pub output: Output,
}

/// Which of our variables a child gets.
#[derive(Debug, Clone)]
pub enum Surroundings {
    /// The PATH alone.
    Bare,
    /// All but these.
    Without(Vec<String>),
}

/// Where a child writes to.
#[derive(Debug, Clone)]
pub enum Output {
    /// To the end of a file.
    File(PathBuf),
    /// To us.
    Pipes,
}

type Request = (Launch, oneshot::Sender<io::Result<Child>>);

/// Asks the thread; cheap to clone. The thread ends with the last of them, and the children with it.
#[derive(Debug, Clone)]
pub struct Keeper {
    requests: Sender<Request>,
}

impl Keeper {
    /// Starts the thread. Must be called within a tokio runtime.
    pub fn start() -> io::Result<Self> {
        let (requests, inbox) = channel();
        let runtime = Handle::current();
        std::thread::Builder::new()
            .name("berth-keeper".to_owned())
            .spawn(move || serve(&inbox, &runtime))?;
        Ok(Self { requests })
    }

    /// A new child.
    pub async fn start_child(&self, launch: Launch) -> io::Result<Child> {
        let (reply, answer) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts processes is gone");
        self.requests.send((launch, reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn serve(inbox: &Receiver<Request>, runtime: &Handle) {
    // Pipes and children register with the runtime.
    let _guard = runtime.enter();
    while let Ok((launch, reply)) = inbox.recv() {
        // Whoever asked may be gone; then the child is killed when it is dropped.
        reply.send(spawn(&launch)).ok();
    }
}

fn spawn(launch: &Launch) -> io::Result<Child> {
    let mut command = Command::new(OURSELVES);
    command
        .arg0("berth")
        .arg(HIDDEN_ARGUMENT)
        .arg(std::process::id().to_string())
        .arg((launch.death as i32).to_string())
        .arg(launch.user.as_deref().unwrap_or(SAME_USER))
        .arg(&launch.program)
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    match &launch.surroundings {
        Surroundings::Bare => {
            command.env_clear();
            if let Some(path) = runtime::config::variable("PATH") {
                command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
            }
        }
        Surroundings::Without(names) => names.iter().for_each(|name| {
            command.env_remove(name);
        }),
    }
    command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
    match &launch.output {
        Output::Pipes => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        Output::File(path) => {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
            command.stdout(file.try_clone()?).stderr(file)
        }
    };
    command.spawn()
}
