//! One log of many processes: each line behind the name of who wrote it, in a file, and on the screen where that is wanted.

use parking_lot::Mutex;
use runtime::log_queue::{self, LogQueue};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// Longest line that is taken whole; a longer one is cut, so that no child can fill our memory.
const LINE_MAX: u64 = 64 * 1024;
/// Width of the column of names: the longest, a space and a number.
const NAME_WIDTH: usize = 18;
/// Colours of names, by their letters: red is left to errors.
const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 96];

/// The log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct MergedLog {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: Mutex<File>,
    /// Where it is shown, too. Nothing waits for who reads it.
    screen: OnceLock<Arc<LogQueue>>,
    /// Bytes that may wait for the screen.
    room: usize,
    colour: bool,
}

impl MergedLog {
    /// A log that goes to `file`, not to the screen yet; `room` bytes may then wait for that.
    pub fn new(file: File, room: usize) -> Self {
        let colour = std::io::stderr().is_terminal();
        let (file, screen) = (Mutex::new(file), OnceLock::new());
        Self { inner: Arc::new(Inner { file, screen, room, colour }) }
    }

    /// From now on on standard error, too.
    pub fn show(&self) {
        match log_queue::standard_error(self.inner.room) {
            Ok(screen) => drop(self.inner.screen.set(screen)),
            Err(error) => tracing::warn!(%error, "The log is not shown: {error}"),
        }
    }

    /// Adds a line of `name`.
    pub fn line(&self, name: &str, text: &str) {
        let plain = format!("{name:<NAME_WIDTH$} | {text}\n");
        {
            // A full disk must not stop the roles; the screen still tells.
            let mut file = self.inner.file.lock();
            let _unwritable = file.write_all(plain.as_bytes());
        }
        let Some(screen) = self.inner.screen.get() else { return };
        if self.inner.colour {
            let colour = colour_of(name);
            let line = format!("\u{1b}[{colour}m{name:<NAME_WIDTH$} |\u{1b}[0m {text}\n");
            screen.push(line.as_bytes());
        } else {
            screen.push(plain.as_bytes());
        }
    }

    /// Adds what `name` writes, line by line, until it writes no more.
    pub async fn follow(self, name: String, from: impl AsyncRead + Unpin) {
        let mut lines = BufReader::new(from);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut lines).take(LINE_MAX).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => self.line(&name, String::from_utf8_lossy(&line).trim_end()),
            }
        }
    }
}

fn colour_of(name: &str) -> u8 {
    let sum: usize = name.bytes().map(usize::from).sum();
    COLOURS.get(sum % COLOURS.len()).copied().unwrap_or(36)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_line_stands_behind_its_name_and_none_is_lost_without_an_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let log = MergedLog::new(file.reopen().unwrap(), 4096);
        log.clone().follow("api".to_owned(), b"one\ntwo".as_slice()).await;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut file, &mut text).unwrap();
        assert_eq!(text, "api                | one\napi                | two\n");
    }
}
