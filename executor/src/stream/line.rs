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
    /// It works, but another is wanted: why.
    pub(crate) retiring: Option<Retiring>,
}

/// Why another link is wanted beside one that works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Retiring {
    /// A heartbeat is late.
    Doubt,
    /// The resource manager asks for it.
    Asked,
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
        if !self.is_wanted() || self.dialling {
            return None;
        }
        self.dialling = true;
        Some(std::mem::take(&mut self.pause))
    }

    /// True unless the link is there to stay.
    pub(crate) fn is_wanted(&self) -> bool {
        self.link.as_ref().is_none_or(|link| link.retiring.is_some())
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
    pub(crate) fn retire(&mut self, why: Retiring, now: Instant) {
        let Some(link) = &mut self.link else { return };
        if link.retiring.is_some() {
            // To be asked weighs more: an answer does not end it.
            link.retiring = link.retiring.max(Some(why));
            return;
        }
        link.retiring = Some(why);
        let lived =
            matches!(link.stage, Stage::Live(since) if now - since >= Duration::from_secs(1));
        self.pause = if lived { Duration::ZERO } else { self.dialer.pause() };
    }

    /// The link answers after all. What is on its way over it would be lost with it.
    pub(crate) fn trust(&mut self) {
        if let Some(link) = &mut self.link
            && link.retiring == Some(Retiring::Doubt)
        {
            link.retiring = None;
        }
    }

    /// The next dial waits so long at most.
    pub(crate) fn wait_at_most(&mut self, limit: Duration) {
        self.pause = self.pause.min(limit);
    }

    /// The next dial need not wait: the refusal asked for a new session, not for patience.
    pub(crate) const fn hurry(&mut self) {
        self.pause = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock;
    use runtime::tls::PemFile;

    fn live() -> Line {
        let ca_file = PemFile { setting: "executor.ca_file", path: "" };
        let dialer = Dialer::new(&["http://127.0.0.1:9".to_owned()], ca_file).unwrap();
        let mut line = Line::new(dialer);
        let (sender, _) = mpsc::channel(1);
        let stage = Stage::Live(clock::monotonic());
        let number = line.dialled();
        line.link = Some(Link { number, address: String::new(), stage, sender, retiring: None });
        line
    }

    #[test]
    fn a_late_answer_keeps_the_link_also_while_another_is_dialled() {
        let (mut line, now) = (live(), clock::monotonic());
        assert_eq!(line.dial_due(), None);
        line.retire(Retiring::Doubt, now);
        assert!(line.dial_due().is_some());
        line.trust();
        assert!(!line.is_wanted());
        line.dialled();
        assert_eq!(line.dial_due(), None);
    }

    #[test]
    fn who_is_asked_to_go_goes_whatever_is_answered() {
        let (mut line, now) = (live(), clock::monotonic());
        line.retire(Retiring::Doubt, now);
        line.retire(Retiring::Asked, now);
        line.trust();
        assert!(line.is_wanted());
        line.retire(Retiring::Doubt, now);
        line.trust();
        assert!(line.is_wanted());
    }
}
