//! Attempts that run now, and what it takes to run them.

use super::ending::Why;
use super::event::Event;
use crate::command::{self, Assigned, Isolation, Spawner, WorkFolders};
use crate::due::Due;
use crate::http;
use crate::identity::Users;
use crate::metrics::RUNNING;
use crate::noop::Sleepers;
use crate::output::{AttemptOutput, OutputLimits, OutputQueue};
use crate::supervise::{Order, monotonic_ns};
use domain::target::TargetPolicy;
use domain::task::{CommandRun, HttpRun};
use egress::Client;
use protocol::{Capacity, LeaseKey};
use runtime::clock::{self, Instant};
use runtime::fault::FaultPoint;
use runtime::tasks::TaskGroup;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};

/// A command has ended, nobody knows it yet.
static ENDED: FaultPoint = FaultPoint::new("executor.ended");

/// One attempt that runs.
#[derive(Debug)]
pub(super) struct Running {
    /// From when it is billed: its arrival, or for a command its turn to start.
    pub(super) billed_from: Instant,
    pub(super) cap: Duration,
    /// Why we asked it to end, if we did.
    pub(super) why: Option<Why>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Sleeps; true when its cap comes first.
    Noop {
        wakes_over_cap: bool,
    },
    Command {
        orders: mpsc::UnboundedSender<Order>,
        output: Arc<AttemptOutput>,
    },
    Http {
        stop: Arc<Notify>,
        output: Arc<AttemptOutput>,
    },
}

/// An HTTP call to be made.
pub(super) struct NewHttp {
    pub(super) lease: LeaseKey,
    pub(super) run: HttpRun,
    pub(super) traceparent: String,
    pub(super) due: Due,
    pub(super) policy: TargetPolicy,
    pub(super) received: Instant,
    pub(super) cap: Duration,
}

/// A command to be started.
pub(super) struct NewCommand {
    pub(super) lease: LeaseKey,
    pub(super) run: CommandRun,
    pub(super) traceparent: String,
    pub(super) due: Due,
    pub(super) resources: Capacity,
    pub(super) received: Instant,
    pub(super) cap: Duration,
    pub(super) kill_grace: Duration,
    /// Whether its pool opens the network.
    pub(super) network: bool,
}

pub(super) struct Work {
    pub(super) running: HashMap<LeaseKey, Running>,
    pub(super) sleepers: Sleepers,
    pub(super) output: Arc<OutputQueue>,
    pub(super) limits: OutputLimits,
    pub(super) folders: WorkFolders,
    pub(super) users: Users,
    pub(super) spawner: Spawner,
    pub(super) client: Arc<Client>,
    pub(super) isolation: Isolation,
    /// When the lease is over, in `monotonic_ns`; every supervisor and every HTTP call hears of it.
    pub(super) lease_until: watch::Sender<u64>,
}

impl Work {
    pub(super) fn leases(&self) -> impl Iterator<Item = LeaseKey> {
        self.running.keys().copied()
    }

    /// Starts a command as a task that ends with an event.
    pub(super) fn start(
        &mut self,
        new: NewCommand,
        tasks: &TaskGroup,
        events: mpsc::Sender<Event>,
    ) {
        let (orders, inbox) = mpsc::unbounded_channel();
        let output = Arc::new(AttemptOutput::new(new.lease, self.limits));
        let assigned = Assigned {
            lease: new.lease,
            run: new.run,
            measures: self.isolation.measures(&new.resources, new.network),
            traceparent: new.traceparent,
            due: new.due,
            resources: new.resources,
            received: new.received,
            began: None,
            cap_until_ns: until_ns(new.received + new.cap),
            kill_grace: new.kill_grace,
            folders: self.folders.clone(),
            users: self.users.clone(),
            spawner: self.spawner.clone(),
            output: Arc::clone(&output),
            queue: Arc::clone(&self.output),
            orders: inbox,
            lease_until: self.lease_until.subscribe(),
        };
        let lease = new.lease;
        tasks.spawn("executor_attempt", async move {
            let (end, began) = command::run(assigned).await;
            // Only a kill makes sense here: a test asks what becomes of a result nobody wrote down.
            ENDED.hit().await.ok();
            events.send(Event::CommandEnded { lease, end, began }).await.ok();
        });
        let kind = Kind::Command { orders, output };
        self.add(new.lease, Running { billed_from: new.received, cap: new.cap, why: None, kind });
    }

    /// Starts an HTTP call as a task that ends with an event.
    pub(super) fn start_http(
        &mut self,
        new: NewHttp,
        tasks: &TaskGroup,
        events: mpsc::Sender<Event>,
    ) {
        let (lease, stop) = (new.lease, Arc::new(Notify::new()));
        let output = Arc::new(AttemptOutput::new(lease, self.limits));
        let assigned = http::Assigned {
            lease,
            run: new.run,
            traceparent: new.traceparent,
            due: new.due,
            policy: new.policy,
            cap_until: new.received + new.cap,
            client: Arc::clone(&self.client),
            // So much is kept without a gap.
            body_limit: (self.limits.head as u64).saturating_add(self.limits.tail as u64),
            output: Arc::clone(&output),
            queue: Arc::clone(&self.output),
            stop: Arc::clone(&stop),
            lease_until: self.lease_until.subscribe(),
        };
        tasks.spawn("executor_http", async move {
            let (end, waited) = http::run(assigned).await;
            events.send(Event::HttpEnded { lease, end, waited }).await.ok();
        });
        let kind = Kind::Http { stop, output };
        self.add(lease, Running { billed_from: new.received, cap: new.cap, why: None, kind });
    }

    pub(super) fn add(&mut self, lease: LeaseKey, running: Running) {
        self.running.insert(lease, running);
        self.count();
    }

    pub(super) fn remove(&mut self, lease: &LeaseKey) -> Option<Running> {
        let removed = self.running.remove(lease);
        self.count();
        removed
    }

    /// Tells every supervisor until when it may go on.
    pub(super) fn lease_lasts(&self, until: Instant) {
        let until = until_ns(until);
        self.lease_until.send_if_modified(|present| std::mem::replace(present, until) != until);
    }

    fn count(&self) {
        #[expect(clippy::cast_precision_loss, reason = "a count of attempts is far below 2^52")]
        RUNNING.with(&[]).set(self.running.len() as f64);
    }
}

/// `at` in nanoseconds of the machine's clock. Reads that clock first, so that being interrupted between
/// the two can only make it earlier.
fn until_ns(at: Instant) -> u64 {
    let now_ns = monotonic_ns();
    let left = at.saturating_duration_since(clock::monotonic());
    now_ns.saturating_add(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX))
}
