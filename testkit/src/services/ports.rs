//! Free ports, and the proof that a port is held by our child.
//!
//! Called by `engine`. A port that answers is no proof that *our* engine answers: between choosing and listening
//! someone else may have taken it. So the listening socket must be among the child's open files.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};

use anyhow::bail;

/// Below the range the kernel hands out for outgoing connections, so that none of those takes our port meanwhile.
const FIRST: u64 = 15_000;
const COUNT: u64 = 17_000;

/// A port nobody listens on right now.
pub(super) fn free() -> anyhow::Result<u16> {
    for _ in 0..200 {
        let random = RandomState::new().build_hasher().finish();
        let port = u16::try_from(FIRST + random % COUNT)?;
        if listening_inodes(port).is_empty() {
            return Ok(port);
        }
    }
    bail!("200 random ports are all in use")
}

/// Whether the process holds the socket that listens on this port.
pub(super) fn is_held_by(port: u16, pid: u32) -> bool {
    let wanted: Vec<String> =
        listening_inodes(port).iter().map(|inode| format!("socket:[{inode}]")).collect();
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    files.flatten().filter_map(|file| fs::read_link(file.path()).ok()).any(|target| {
        let target = target.to_string_lossy();
        wanted.iter().any(|socket| *socket == target)
    })
}

fn listening_inodes(port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let suffix = format!(":{port:04X}");
    let mut inodes = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let (Some(local), Some(state), Some(inode)) =
                (fields.get(1), fields.get(3), fields.get(9))
                && local.ends_with(&suffix)
                && *state == LISTEN
            {
                inodes.push((*inode).to_owned());
            }
        }
    }
    inodes
}
