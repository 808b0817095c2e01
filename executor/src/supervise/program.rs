//! What is the same for a command inside bubblewrap and without it: its program, input, user and limits.

use super::job::Job;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::Resource;
use std::fs::File;
use std::io::{Error, ErrorKind, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Room for the last block of a file, so that a file at the limit is found to be over it.
const FILE_SLACK: u64 = 1024 * 1024;

/// Processes of a user that `RLIMIT_NPROC` allows above what an attempt may have: the control group, which counts
/// refusals, comes first.
pub(super) const OVERHEAD: u64 = 8;

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
