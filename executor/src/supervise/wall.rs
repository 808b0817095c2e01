//! What a supervisor knows of an isolated command: bubblewrap from outside, our process from inside.

use super::control::Decoder;
use super::inside::Word;
use super::job::{NotStarted, Status};
use nix::unistd::Pid;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// bubblewrap tells a signal as this plus its number, like a shell.
const SIGNALLED: i32 = 128;

#[derive(Debug)]
pub(super) struct Wall {
    outer: Pid,
    words: UnixStream,
    decoder: Decoder,
    open: bool,
    started: bool,
    ended: Option<Result<Status, NotStarted>>,
    /// The command has ended, and something that it started still runs.
    left: bool,
}

impl Wall {
    pub(super) fn new(outer: Pid, words: UnixStream) -> io::Result<Self> {
        words.set_nonblocking(true)?;
        let decoder = Decoder::default();
        Ok(Self { outer, words, decoder, open: true, started: false, ended: None, left: false })
    }

    /// bubblewrap itself, our child. Its death is that of everything inside.
    pub(super) const fn outer(&self) -> Pid {
        self.outer
    }

    /// True from the command's start on.
    pub(super) const fn has_started(&self) -> bool {
        self.started
    }

    /// True when the command has ended and has left something running.
    pub(super) const fn has_left_something(&self) -> bool {
        self.left
    }

    /// Where words come from, while any can come.
    pub(super) fn words(&self) -> Option<BorrowedFd<'_>> {
        self.open.then(|| self.words.as_fd())
    }

    /// Reads what was said; true when the command has been started just now.
    pub(super) fn listen(&mut self) -> bool {
        let mut piece = [0; 1024];
        while self.open {
            match self.words.read(&mut piece) {
                Ok(0) => self.open = false,
                Ok(len) => self.decoder.push(piece.get(..len).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.open = false,
            }
        }
        let before = self.started;
        while let Ok(Some(word)) = self.decoder.next() {
            match word {
                Word::Started => self.started = true,
                Word::Refused(why) => self.ended = Some(Err(NotStarted::Refused(why))),
                Word::Leaky(why) => self.ended = Some(Err(NotStarted::Unable(why))),
                Word::Ended { status, left } => {
                    (self.ended, self.left) = (Some(Ok(status)), left);
                }
            }
        }
        self.started && !before
    }

    /// How the command ended, when bubblewrap itself ended with `outer`; or why it was never started.
    pub(super) fn status_of(&self, outer: Status) -> Result<Status, NotStarted> {
        match &self.ended {
            Some(ended) => ended.clone(),
            None if self.started => Ok(match outer {
                Status::Exited(code) if code > SIGNALLED => Status::Signalled(code - SIGNALLED),
                plain => plain,
            }),
            None => Err(NotStarted::Unable(format!("bubblewrap ended by itself: {outer:?}"))),
        }
    }
}
