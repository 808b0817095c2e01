//! Ends what an earlier `berth up` left running: engines that were still dying when it was killed.
//!
//! Called under the folder's lock, so whatever works there belongs to nobody. The rule: a process is ours when it works in our
//! folder *and* runs one of the named programs; a pid alone never is enough, and a person's shell may stand there too.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runtime::clock;
use std::fs;
use std::path::Path;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is done, and how long is waited after it. At first nothing: mostly they are on their way out.
const STEPS: [(Option<Signal>, Duration); 3] = [
    (None, Duration::from_secs(5)),
    (Some(Signal::SIGQUIT), Duration::from_secs(5)),
    (Some(Signal::SIGKILL), Duration::from_secs(5)),
];

/// Ends every process of one of `programs` that works in `folder`. False when some are still there in the end.
pub async fn end(folder: &Path, programs: &[&str]) -> bool {
    for (signal, patience) in STEPS {
        let until = clock::monotonic() + patience;
        let mut found = working_in(folder, programs);
        for pid in signal.is_some().then_some(&found).into_iter().flatten() {
            tracing::warn!(pid, "An engine that an earlier run left is ended (pid {pid})");
            kill(Pid::from_raw(*pid), signal).ok();
        }
        while !found.is_empty() && clock::monotonic() < until {
            clock::sleep(LOOK_EVERY).await;
            found = working_in(folder, programs);
        }
        if found.is_empty() {
            return true;
        }
    }
    false
}

fn working_in(folder: &Path, programs: &[&str]) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let ours = |pid: &i32| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
            && fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| {
                let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                // A program whose file was replaced by an upgrade carries that in its name.
                programs.contains(&name.trim_end_matches(" (deleted)"))
            })
    };
    pids.filter(ours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[tokio::test]
    async fn only_named_programs_in_the_folder_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let mut inside = Command::new("sleep").arg("60").current_dir(&path).spawn().unwrap();
        let pid = i32::try_from(inside.id()).unwrap();
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
        let name = program.file_name().unwrap().to_str().unwrap();
        assert_eq!(working_in(&path, &["postgres"]), Vec::<i32>::new());
        assert_eq!(working_in(&path, &[name]), [pid]);
        assert!(end(&path, &["postgres"]).await);
        assert!(inside.try_wait().unwrap().is_none());
        inside.kill().unwrap();
        inside.wait().unwrap();
        assert_eq!(working_in(&path, &[name]), Vec::<i32>::new());
    }
}
