//! Whom the kernel kills first when the machine runs out of memory: commands, and not the executor.
//!
//! A child inherits the score of its parent, so a parent takes on the child's while it forks: from its first
//! moment on a command is more welcome to be killed than whoever watches it.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

/// Of the agent and its supervisors, where they are root.
const PROTECTED: i16 = -500;
/// Of bubblewrap and our process beside the command.
pub(super) const BESIDE: i16 = 500;
/// Of commands.
pub(super) const COMMAND: i16 = 800;

const FILE: &str = "/proc/self/oom_score_adj";

/// Protects this process and its supervisors to come. Does nothing where that is not allowed.
pub(crate) fn protect() {
    std::fs::write(FILE, PROTECTED.to_string()).ok();
}

/// Our own score. Nothing depends on it: where it cannot be set the kernel chooses without it.
#[derive(Debug)]
pub(super) struct OomScore {
    file: Option<File>,
}

impl OomScore {
    pub(super) fn open() -> Self {
        Self { file: OpenOptions::new().read(true).write(true).open(FILE).ok() }
    }

    /// Does `fork` with the score `score`, then goes back to what it was.
    pub(super) fn of_child<T>(&self, score: i16, fork: impl FnOnce() -> T) -> T {
        let mut before = [0; 16];
        let len = self.file.as_ref().and_then(|file| file.read_at(&mut before, 0).ok());
        self.set(score.to_string().as_bytes());
        let forked = fork();
        self.set(before.get(..len.unwrap_or(0)).unwrap_or_default());
        forked
    }

    fn set(&self, text: &[u8]) {
        if let Some(file) = self.file.as_ref().filter(|_| !text.is_empty()) {
            file.write_at(text, 0).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_the_score_of_its_moment_and_the_parent_its_own_again() {
        let read = || std::fs::read_to_string(FILE).unwrap();
        let before = read();
        assert_eq!(OomScore::open().of_child(900, read), "900\n");
        assert_eq!(read(), before);
    }
}
