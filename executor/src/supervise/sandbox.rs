//! Starts a command in bubblewrap.
//!
//! bubblewrap runs as the command's user, never as root: what it may do, an unprivileged user may. Inside it runs
//! this binary again, which starts the command and tells how it went (`inside`).

use super::child::{Preparation, prepare};
use super::control::encode;
use super::inside::InsideJob;
use super::job::Job;
use super::names;
use super::oom::{self, OomScore};
use super::overlay;
use super::program::{become_identity, in_memory, own_limits};
use crate::arguments::INSIDE;
use crate::cgroup::Group;
use crate::isolation::{Handles, Sandbox, WORK, arguments, filters};
use nix::mount::{MsFlags, mount};
use std::fs::File;
use std::io::Error;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// In the supervisor's own mount namespace; any folder that everybody can reach would do.
const REACHABLE: &str = "/tmp";

const HOSTS: &[u8] = b"127.0.0.1 localhost\n::1 localhost\n";

/// Starts bubblewrap. Returns it, the socket on which the process inside speaks, and where the work folder is.
pub(super) fn spawn(
    job: &Job,
    sandbox: &Sandbox,
    group: &Group,
    oom: &OomScore,
) -> Result<(Child, UnixStream, PathBuf), Error> {
    // Opened before anything is moved. Inside, the path of our binary means nothing; the open file does.
    let ourselves = File::open("/proc/self/exe")?;
    let doors = group.doors()?;
    let work = reachable(job, sandbox)?;
    let filters = filters().map_err(Error::other)?;
    let filters = filters.iter().map(|filter| in_memory(filter)).collect::<Result<Vec<_>, _>>()?;
    let hosts = in_memory(HOSTS)?;
    let names = own_names(job)?;
    let names: Vec<(RawFd, &str)> =
        names.iter().zip(names::FILES).map(|(file, path)| (file.as_raw_fd(), path)).collect();
    let task = in_memory(&encode(&inside_job(job)).map_err(Error::other)?)?;
    let (ours, theirs) = UnixStream::pair()?;
    let filter_numbers: Vec<RawFd> = filters.iter().map(AsRawFd::as_raw_fd).collect();
    let handles = Handles {
        ourselves: ourselves.as_raw_fd(),
        filters: &filter_numbers,
        hosts: hosts.as_raw_fd(),
        names: &names,
    };
    let mut keep = vec![handles.ourselves, handles.hosts, task.as_raw_fd(), theirs.as_raw_fd()];
    keep.extend(&filter_numbers);
    keep.extend(names.iter().map(|(number, _)| number));
    let mut command = Command::new(&sandbox.program);
    command
        .args(arguments(sandbox, &work, &handles))
        .arg(INSIDE)
        .args([task.as_raw_fd().to_string(), theirs.as_raw_fd().to_string()])
        .env_clear()
        // By these a later boot finds it, should its supervisor be killed.
        .envs(job.env.iter().filter(|(name, _)| name.starts_with("BERTH_")).cloned())
        .current_dir("/")
        .stdin(Stdio::null());
    become_identity(&mut command, job);
    prepare(&mut command, Preparation { doors, limits: own_limits(job), keep });
    let main = oom.of_child(oom::BESIDE, || command.spawn())?;
    Ok((main, ours, work))
}

/// What the command sees as `names::FILES`, where its user is not in the machine's own.
fn own_names(job: &Job) -> Result<Vec<File>, Error> {
    match job.identity.filter(|_| job.own_user) {
        Some(identity) => {
            let texts = names::texts(identity, Path::new(WORK));
            texts.iter().map(|text| in_memory(text.as_bytes())).collect()
        }
        None => Ok(Vec::new()),
    }
}

fn inside_job(job: &Job) -> InsideJob {
    InsideJob {
        argv: job.argv.clone(),
        env: job.env.clone(),
        stdin: job.stdin.clone(),
        processes: job.limits.processes,
        probe: job.probe,
        network: job.sandbox.as_ref().is_some_and(|sandbox| sandbox.network),
    }
}

/// A path of the work folder that bubblewrap can resolve and that shows no path of the host: the folder is mounted at
/// another place, in a mount namespace that ends with this supervisor. Under root this is also needed because the command's
/// user may have no access to the folders above the real one.
fn reachable(job: &Job, sandbox: &Sandbox) -> Result<PathBuf, Error> {
    const NONE: Option<&Path> = None;
    let place = Path::new(REACHABLE);
    match job.identity {
        Some(identity) => {
            names::own_mounts()?;
            if overlay::mount(&job.folder, Some(identity), place).is_err() {
                mount(Some(&job.folder), place, NONE, MsFlags::MS_BIND, NONE)?;
            }
        }
        None if sandbox.user_mounts => {
            overlay::own_user_namespace()?;
            names::own_mounts()?;
            overlay::mount(&job.folder, None, place)?;
        }
        None => return Ok(job.folder.clone()),
    }
    Ok(place.to_owned())
}
