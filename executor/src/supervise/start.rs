//! Starts the command.
//!
//! Called once by a supervisor. No shell: the program is found through the `PATH` it is given. It gets
//! its own session, its own user and no other group, and inherits nothing but its three streams.

use super::child::{Preparation, prepare};
use super::guard::Guard;
use super::job::{Job, NotStarted};
use super::oom::{self, OomScore};
use super::program::{OVERHEAD, become_identity, own_limits, program};
use super::{names, sandbox};
use crate::cgroup::Group;
use nix::sys::resource::Resource;
use nix::unistd::geteuid;
use std::io::Error;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Child;

/// What runs now.
#[derive(Debug)]
pub(super) struct Started {
    /// The command, or bubblewrap around it.
    pub(super) main: Child,
    /// Where the process beside an isolated command tells of it.
    pub(super) inside: Option<UnixStream>,
    /// Holds it to its limits.
    pub(super) guard: Guard,
    /// Its work folder, as this process finds it.
    pub(super) work: PathBuf,
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
            let guard = Guard::new(group, job.limits, (work.clone(), uid));
            Ok(Started { main, inside, guard, work })
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
