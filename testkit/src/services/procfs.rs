//! What `/proc` tells about processes: who lives, who works in a folder.
//!
//! Called by `run_folder` and `engine`. The rule: a process is ours when its working directory lies in our folder; a
//! pid or a name alone never is enough, pids are used again and others run the same engines.

use std::fs;
use std::path::Path;

/// Pid and start time: together they name a process for good. `None` when it has ended.
pub(super) fn identity(pid: u32) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name may hold spaces and brackets; the fixed fields begin after the last bracket.
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, started) = (fields.first()?, fields.get(19)?);
    (*state != "Z").then(|| format!("{pid} {started}"))
}

/// Processes whose working directory is `folder` or inside it.
pub(super) fn processes_in(folder: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
        })
        .filter(|pid| identity(*pid).is_some())
        .collect()
}
