//! Ends what is left of an attempt whose supervisor did not: somebody killed the supervisor itself.
//!
//! Called for one attempt when its supervisor vanished, and at start-up for every work folder of an
//! earlier boot. Processes are known by the names Berth gave their environment, and by where they work;
//! one that changed both has to be found by a person.

use super::folder::{WorkFolders, remove};
use crate::arguments::SUPERVISE;
use crate::sweep::{all_pids, kill_pids, stop_found};
use domain::id::TaskId;
use nix::sys::signal::Signal;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Rounds of killing, each followed by a pause of 10 ms.
const ROUNDS: u32 = 1000;
/// In the first of them a supervisor is left to do its work: after its agent's death it knows better
/// than we what belongs to its command.
const PATIENT_ROUNDS: u32 = 500;
/// After so many that find nothing there is nothing.
const EMPTY_ROUNDS: u32 = 2;

/// Kills whatever an earlier boot left and removes its work folders. Blocks.
pub(crate) fn clean(folders: &WorkFolders) -> io::Result<()> {
    for (path, task, attempt) in folders.leftovers()? {
        let killed = kill_all(task, attempt, &path);
        tracing::info!(task.id = %task, attempt, killed, "Attempt {attempt} of `{task}` was left by an earlier boot; cleaned up");
        remove(&path)?;
    }
    Ok(())
}

/// Kills every process of the attempt until none is found. Returns how many there were. Blocks.
///
/// None is found when two rounds in a row have found none: in the moment in which a process becomes another program it shows no
/// environment.
pub(super) fn kill_all(task: TaskId, attempt: u32, folder: &Path) -> usize {
    let (mut all, mut empty) = (HashSet::new(), 0);
    let find =
        || -> Vec<i32> { all_pids().filter(|pid| belongs(*pid, task, attempt, folder)).collect() };
    for round in 0..ROUNDS {
        let found = find();
        empty = if found.is_empty() { empty + 1 } else { 0 };
        if empty == EMPTY_ROUNDS {
            return all.len();
        }
        all.extend(found.iter().copied());
        let spared = |pid: &i32| round < PATIENT_ROUNDS && is_supervisor(*pid);
        if !found.iter().any(spared) && !found.is_empty() {
            let stopped = stop_found(find);
            all.extend(stopped.iter().copied());
            kill_pids(stopped, Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    tracing::error!(task.id = %task, attempt, "Processes of attempt {attempt} of `{task}` cannot be killed");
    all.len()
}

fn is_supervisor(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(SUPERVISE.as_bytes())
}

fn belongs(pid: i32, task: TaskId, attempt: u32, folder: &Path) -> bool {
    let here = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    here || fs::read(format!("/proc/{pid}/environ")).is_ok_and(|env| {
        let has =
            |wanted: String| env.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes());
        has(format!("BERTH_TASK_ID={task}")) && has(format!("BERTH_ATTEMPT={attempt}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    #[test]
    fn processes_are_found_by_environment_and_by_folder_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let task = TaskId::fresh();
        let start = |command: &mut Command| command.arg("60").spawn().unwrap();
        let named = |attempt: &str| {
            let mut command = Command::new("sleep");
            start(command.env("BERTH_TASK_ID", task.to_string()).env("BERTH_ATTEMPT", attempt))
        };
        let inside = start(Command::new("sleep").current_dir(folder.path()));
        let (marked, other) = (named("1"), named("11"));
        let signal = |mut child: Child| child.wait().unwrap().signal();
        // The children are ours and stay zombies until they are waited for, without folder or environment.
        assert_eq!(kill_all(task, 1, folder.path()), 2);
        assert_eq!((signal(inside), signal(marked)), (Some(9), Some(9)));
        let mut other = other;
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
