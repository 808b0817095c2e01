//! The present link and whether another is being sought.
//!
//! Links are numbered; the newest is obeyed and no other. A link may be in use while its successor is
//! dialled (`GoAway`, doubt); it is given up in the moment the successor says `Hello`.

use super::dial::Dialer;
use protocol::FromExecutor;
use runtime::clock::Instant;
use std::time::Duration;
use tokio::sync::mpsc;

/// A stream that lived this long counts as a success: the next dial need not wait long.
const LIVED: Duration = Duration::from_secs(5);

/// How far a link has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// `Hello` was sent at this time.
    Greeting(Instant),
    /// `Welcome` came at this time.
    Live(Instant),
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) number: u64,
    pub(crate) address: String,
    pub(crate) stage: Stage,
    pub(crate) sender: mpsc::Sender<FromExecutor>,
    /// It works, but another is wanted.
    pub(crate) retiring: bool,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) dialer: Dialer,
    pub(crate) link: Option<Link>,
    /// A dial is under way.
    dialling: bool,
    numbers: u64,
    /// How long the next dial waits.
    pause: Duration,
}

impl Line {
    pub(crate) const fn new(dialer: Dialer) -> Self {
        Self { dialer, link: None, dialling: false, numbers: 0, pause: Duration::ZERO }
    }

    /// The pause before a dial that is due now; none when none is.
    pub(crate) fn dial_due(&mut self) -> Option<Duration> {
        let wanted = self.link.as_ref().is_none_or(|link| link.retiring);
        if !wanted || self.dialling {
            return None;
        }
        self.dialling = true;
        Some(std::mem::take(&mut self.pause))
    }

    /// The dial failed: wait before the next.
    pub(crate) fn dial_failed(&mut self) {
        self.dialling = false;
        self.pause = self.dialer.pause();
    }

    /// The dial succeeded: the number of the link to be.
    pub(crate) fn dialled(&mut self) -> u64 {
        self.dialling = false;
        self.numbers += 1;
        self.numbers
    }

    /// The link with this number, if it is the newest.
    pub(crate) fn newest(&mut self, number: u64) -> Option<&mut Link> {
        self.link.as_mut().filter(|link| link.number == number)
    }

    /// The link, once it is welcomed.
    pub(crate) fn live(&self) -> Option<&Link> {
        self.link.as_ref().filter(|link| matches!(link.stage, Stage::Live(_)))
    }

    /// Gives the link up. The next dial waits unless this one was of use.
    pub(crate) fn hang_up(&mut self, now: Instant) {
        let Some(link) = self.link.take() else { return };
        if matches!(link.stage, Stage::Live(since) if now - since >= LIVED) {
            self.dialer.reset();
        }
        self.pause = self.dialer.pause();
    }

    /// Keeps the link but looks for another; at once, unless this one is quite new.
    pub(crate) fn retire(&mut self, now: Instant) {
        let Some(link) = &mut self.link else { return };
        if link.retiring {
            return;
        }
        link.retiring = true;
        let lived =
            matches!(link.stage, Stage::Live(since) if now - since >= Duration::from_secs(1));
        self.pause = if lived { Duration::ZERO } else { self.dialer.pause() };
    }

    /// The next dial need not wait: the refusal asked for a new session, not for patience.
    pub(crate) const fn hurry(&mut self) {
        self.pause = Duration::ZERO;
    }
}
