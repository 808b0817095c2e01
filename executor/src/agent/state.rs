//! Everything the agent knows, in one place and owned by one task.

use super::event::Event;
use super::heart::Heart;
use super::outbox::Outbox;
use super::work::Work;
use crate::earlier::Earlier;
use crate::output::Flight;
use crate::spool::Spool;
use crate::stream::Line;
use crate::term::Term;
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::pool::PoolPolicy;
use domain::task::LeaseKey;
use protocol::Capacity;
use runtime::clock::Instant;
use runtime::health::Health;
use runtime::tasks::TaskGroup;
use std::time::Duration;
use tokio::sync::mpsc;
use tonic::metadata::AsciiMetadataValue;

/// What does not change while it runs.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) id: ExecutorId,
    pub(super) pool: PoolName,
    pub(super) capacity: Capacity,
    /// `Bearer <secret>`, marked as sensitive.
    pub(super) authorization: AsciiMetadataValue,
    pub(super) drain_grace: Duration,
    pub(super) spool_max_bytes: u64,
}

/// The present session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) last_assignment: u64,
    /// None until the first welcome: nothing can be held before.
    pub(super) term: Option<Term>,
    /// Time between the polite and the hard kill, as last welcomed.
    pub(super) kill_grace: Duration,
    /// What the pool allows, as last welcomed.
    pub(super) policy: PoolPolicy,
    /// Given up; a new one begins when all its work is dead.
    pub(super) is_over: bool,
}

impl Session {
    pub(super) fn fresh() -> Self {
        Self {
            id: SessionId::fresh(),
            last_assignment: 0,
            term: None,
            kill_grace: Duration::from_secs(5),
            policy: PoolPolicy::default(),
            is_over: false,
        }
    }
}

/// The spool and how it does.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) spool: Spool,
    pub(super) live_bytes: u64,
    /// Why the last write failed.
    pub(super) failure: Option<String>,
}

/// An executor that is about to end; see `drain`.
#[derive(Debug)]
pub(super) struct Drain {
    /// When running work is handed back; none once that is done.
    pub(super) hand_back_at: Option<Instant>,
    pub(super) give_up_at: Instant,
    pub(super) idle_since: Option<Instant>,
    pub(super) began_at: Instant,
    /// A heartbeat that said so was answered: nothing new is on its way to us.
    pub(super) known: bool,
}

pub(super) struct Agent {
    pub(super) settings: Settings,
    pub(super) session: Session,
    /// Those before it, of this boot and others.
    pub(super) earlier: Earlier,
    pub(super) line: Line,
    pub(super) heart: Heart,
    pub(super) work: Work,
    pub(super) outbox: Outbox,
    pub(super) disk: Disk,
    pub(super) flight: Flight,
    /// Taken up and not yet told.
    pub(super) accepted: Vec<LeaseKey>,
    /// Output and results take turns.
    pub(super) output_was_last: bool,
    pub(super) drain: Option<Drain>,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) tasks: TaskGroup,
    pub(super) health: Health,
}

impl Agent {
    /// Every lease held now: running, or ended and not answered. Each once.
    pub(super) fn held(&self) -> Vec<protocol::Lease> {
        let ended = self.outbox.held(self.session.id);
        self.work.leases().chain(ended).map(protocol::Lease::from).collect()
    }
}
