//! Starts the command.
//!
//! Called once by a supervisor. No shell: the program is found through the `PATH` it is given. It gets
//! its own session, its own user and no other group, and inherits nothing but its three streams.

use super::child::{Preparation, prepare};
use super::guard::Guard;
use super::job::{Job, NotStarted};
use super::oom::{self, OomScore};
use super::{names, sandbox};
use crate::cgroup::Group;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::Resource;
use nix::unistd::geteuid;
use std::fs::File;
use std::io::{Error, ErrorKind, Seek, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Room for the last block of a file, so that a file at the limit is seen to be over it.
const FILE_SLACK: u64 = 1024 * 1024;

/// Processes of a user that `RLIMIT_NPROC` allows above what an attempt may have: the control group, which tells of a
/// refusal, comes first.
pub(super) const OVERHEAD: u64 = 8;

/// What runs now.
#[derive(Debug)]
pub(super) struct Started {
    /// The command, or bubblewrap around it.
    pub(super) main: Child,
    /// Where the process beside an isolated command tells of it.
    pub(super) inside: Option<UnixStream>,
    /// Holds it to its limits.
    pub(super) guard: Guard,
}

/// Starts what `job` says.
///
/// # Errors
/// Refused: what the system answers; no such program, no permission, a NUL in an argument. Unable: what surrounds
/// the command could not be made.
pub(super) fn command(job: &Job, oom: &OomScore) -> Result<Started, NotStarted> {
    let unable = |what: &str, error: &Error| NotStarted::Unable(format!("{what}: {error}"));
    let group = Group::make(&job.places, &job.group, &job.limits)
        .map_err(|error| unable("no control group", &error))?;
    let spawned = match &job.sandbox {
        Some(sandbox) => sandbox::spawn(job, sandbox, &group, oom)
            .map(|(main, inside, work)| (main, Some(inside), work))
            .map_err(|error| unable("no sandbox", &error)),
        None => plain(job, &group, oom)
            .map(|main| (main, None, job.folder.clone()))
            .map_err(|error| NotStarted::Refused(error.to_string())),
    };
    match spawned {
        Ok((main, inside, work)) => {
            let uid = job.identity.map_or_else(|| geteuid().as_raw(), |identity| identity.uid);
            Ok(Started { main, inside, guard: Guard::new(group, job.limits, (work, uid)) })
        }
        Err(why) => {
            group.end();
            Err(why)
        }
    }
}

fn plain(job: &Job, group: &Group, oom: &OomScore) -> Result<Child, Error> {
    // Without it the command's user has no name; everything else works.
    names::show(job).ok();
    // Entered here and not by the command, whose user may not be allowed to see the folders above.
    std::env::set_current_dir(&job.folder)?;
    let mut command = program(&job.argv, &job.env, &job.stdin)?;
    become_identity(&mut command, job);
    let mut limits = own_limits(job);
    if job.own_user {
        // Of this attempt alone; a user of several would be refused for what others have.
        limits.push((Resource::RLIMIT_NPROC, job.limits.processes.saturating_add(OVERHEAD)));
    }
    let preparation = Preparation { doors: group.doors()?, limits, ..Preparation::default() };
    prepare(&mut command, preparation);
    oom.of_child(oom::COMMAND, || command.spawn())
}

/// The command itself, wherever it is started.
pub(super) fn program(
    argv: &[String],
    env: &[(String, String)],
    stdin: &[u8],
) -> Result<Command, Error> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| Error::new(ErrorKind::InvalidInput, "no program"))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(standard_input(stdin)?);
    Ok(command)
}

pub(super) fn become_identity(command: &mut Command, job: &Job) {
    if let Some(identity) = job.identity {
        // Under root std drops all other groups when a user is set.
        command.uid(identity.uid).gid(identity.gid);
    }
}

/// Limits of each process, which it hands on to its children.
pub(super) fn own_limits(job: &Job) -> Vec<(Resource, u64)> {
    vec![
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NOFILE, job.limits.open_files),
        (Resource::RLIMIT_FSIZE, job.limits.disk_bytes.saturating_add(FILE_SLACK)),
    ]
}

/// Nothing, or a file in memory: a pipe would need somebody to write it while the command runs.
fn standard_input(text: &[u8]) -> Result<Stdio, Error> {
    if text.is_empty() {
        return Ok(Stdio::null());
    }
    Ok(in_memory(text)?.into())
}

/// A file in memory that holds `text`, to be read from its start.
pub(super) fn in_memory(text: &[u8]) -> Result<File, Error> {
    let mut file = File::from(memfd_create(c"berth", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}

/// Where the supervisor finds the work folder once it may have been moved.
pub(super) type WorkPath = PathBuf;
