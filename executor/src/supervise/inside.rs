//! The process beside an isolated command, in the command's namespaces.
//!
//! Starts the command, waits for it and tells its supervisor exactly how it ended. Shares the command's user, which
//! may therefore kill it; then the whole namespace ends, and the supervisor takes bubblewrap's word. When it
//! ends, so does everything in its pid namespace: where the command has left something running it stays, until that has
//! ended or the supervisor kills it all.

use super::child::{Preparation, prepare};
use super::control::{Decoder, SuperviseError, encode};
use super::job::Status;
use super::oom::{self, OomScore};
use super::program::{OVERHEAD, program};
use crate::sweep::{all_pids, is_alive};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::resource::Resource;
use nix::sys::signal::SigSet;
use nix::unistd::{Pid, getppid};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;

/// Poll interval of what the command has left running, ms.
const LEFT_POLL_MS: u8 = 20;

/// What is to be started.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InsideJob {
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) stdin: Vec<u8>,
    /// Processes and threads in this user namespace.
    pub(super) processes: u64,
    /// Look around instead.
    pub(super) probe: bool,
    /// Whether the machine's network may be visible.
    pub(super) network: bool,
}

/// What is told of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    Started,
    /// The system would not start it.
    Refused(String),
    /// The sandbox is not what it should be.
    Leaky(String),
    Ended {
        status: Status,
        /// Something that it started still runs.
        left: bool,
    },
}

/// `job` and `words` are the numbers of the files that the supervisor handed down.
pub(super) fn run(job: RawFd, words: RawFd) -> Result<(), SuperviseError> {
    let oom = OomScore::open();
    // A polite kill is for the command; we end with it.
    SigSet::all().thread_block()?;
    prctl::set_dumpable(false)?;
    let (mut job, mut words) = (File::from(inherited(job)), UnixStream::from(inherited(words)));
    let mut text = Vec::new();
    job.read_to_end(&mut text)?;
    let mut decoder = Decoder::default();
    decoder.push(&text);
    let job: InsideJob = decoder.next()?.ok_or_else(|| io::Error::other("the job is cut off"))?;
    if job.probe {
        let held = Word::Ended { status: Status::Exited(0), left: false };
        let word = leak(job.network).map_or(held, Word::Leaky);
        return say(&mut words, &word);
    }
    let spawned = program(&job.argv, &job.env, &job.stdin).and_then(|mut command| {
        // Counted for this user namespace alone: other attempts of the same user have their own.
        // More than the control group allows, which tells of a refusal; this stands where there is none.
        let limits = vec![(Resource::RLIMIT_NPROC, job.processes + OVERHEAD)];
        prepare(&mut command, Preparation { limits, ..Preparation::default() });
        oom.of_child(oom::COMMAND, || command.spawn())
    });
    let mut command = match spawned {
        Ok(command) => command,
        Err(error) => return say(&mut words, &Word::Refused(error.to_string())),
    };
    say(&mut words, &Word::Started)?;
    let status = command.wait()?;
    let status = status
        .code()
        .map_or_else(|| Status::Signalled(status.signal().unwrap_or(0)), Status::Exited);
    let left = is_anything_left();
    say(&mut words, &Word::Ended { status, left })?;
    if left {
        wait_for_the_rest(&words);
    }
    Ok(())
}

/// Whether a process runs in this pid namespace besides its first and this one.
fn is_anything_left() -> bool {
    let own = std::process::id().cast_signed();
    all_pids().any(|pid| pid != 1 && pid != own && is_alive(pid))
}

/// Until nothing is left, or the supervisor is gone. It kills us, too, when it has waited long enough.
fn wait_for_the_rest(words: &UnixStream) {
    while is_anything_left() {
        let mut source = [PollFd::new(words.as_fd(), PollFlags::POLLIN)];
        if poll(&mut source, PollTimeout::from(LEFT_POLL_MS)).is_ok_and(|ready| ready > 0) {
            return;
        }
    }
}

#[expect(unsafe_code, reason = "std has no safe way to take over an inherited file by its number")]
fn inherited(number: RawFd) -> OwnedFd {
    // SAFETY: the supervisor opened it for us and nothing else here uses it. A wrong number can only come from a
    // person who typed the hidden argument, and then reading or writing it fails.
    unsafe { OwnedFd::from_raw_fd(number) }
}

fn say(words: &mut UnixStream, word: &Word) -> Result<(), SuperviseError> {
    words.write_all(&encode(word)?)?;
    Ok(())
}

/// What is not as it should be in here; none when the sandbox holds.
fn leak(network: bool) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let wanted =
        ["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"];
    if let Some(line) = wanted.iter().find(|line| !status.lines().any(|found| found == **line)) {
        return Some(format!("/proc/self/status does not say `{}`", line.replace('\t', " ")));
    }
    if getppid() != Pid::from_raw(1) {
        return Some("there is no pid namespace".to_owned());
    }
    for path in ["/berth-probe", "/usr/berth-probe", "/dev/berth-probe", "/etc/berth-probe"] {
        if File::create(path).is_ok() {
            return Some(format!("{path} can be written"));
        }
    }
    for path in ["/tmp/berth-probe", "./berth-probe"] {
        if let Err(error) = File::create(path) {
            return Some(format!("{path} cannot be written: {error}"));
        }
    }
    let interfaces = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let others = interfaces.lines().skip(2).any(|line| !line.trim_start().starts_with("lo:"));
    (others && !network).then(|| "the machine's network is visible".to_owned())
}
