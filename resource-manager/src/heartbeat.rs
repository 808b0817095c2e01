//! Renews sessions in groups: all heartbeats that arrived while the previous statement was in flight.
//!
//! The reply is sent after the commit and lists tasks to stop: so a cancel reaches a running task and is repeated until
//! confirmed.

use crate::fleet::{Fleet, Stream};
use crate::metrics::LOOP_SECONDS;
use domain::epoch::Epoch;
use domain::id::{NodeId, SessionId};
use protocol::refused::Reason;
use protocol::{HeartbeatAnswer, Lease, Refused};
use runtime::clock;
use runtime::tick::Turns;
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::lease::stops;
use store::session::{Renewal, Renewed, renew};
use tokio::sync::mpsc;
use tracing::{info, warn};

/// One heartbeat, to be answered on its stream.
#[derive(Debug)]
pub(crate) struct Beat {
    pub stream: Stream,
    pub number: u64,
    pub draining: bool,
}

/// Renews sessions.
pub(crate) struct Renewer {
    pub db: RmDb,
    pub node: NodeId,
    pub fleet: Fleet,
    pub term: Duration,
}

impl Renewer {
    /// Answers heartbeats until the queue is closed.
    pub(crate) async fn run(self, turns: Turns, mut beats: mpsc::Receiver<Beat>) {
        let mut group = Vec::new();
        while turns.wait(beats.recv_many(&mut group, 1000)).await > 0 {
            let began = clock::monotonic();
            turns.turn(self.confirm(&group)).await;
            LOOP_SECONDS.with(&["heartbeat"]).observe_duration(began.elapsed());
            group.clear();
        }
        turns.end();
    }

    async fn confirm(&self, beats: &[Beat]) -> bool {
        let confirmed = answer(&self.db, self.node, &self.fleet, self.term, beats).await;
        if let Err(error) = &confirmed {
            // Without a reply the executor sends again, and stops its work if no renewal is confirmed.
            warn!(%error, beats = beats.len(), "Heartbeats could not be confirmed");
        }
        confirmed.is_ok()
    }
}

async fn answer(
    db: &RmDb,
    node: NodeId,
    fleet: &Fleet,
    term: Duration,
    beats: &[Beat],
) -> Result<(), StoreError> {
    let epochs: HashMap<SessionId, Epoch> =
        fleet.sessions().iter().map(|s| (s.session, s.epoch)).collect();
    let of = |beat: &&Beat| epochs.contains_key(&beat.stream.session);
    let known: Vec<&Beat> = beats.iter().filter(of).collect();
    let mut latest: HashMap<SessionId, Renewal> = HashMap::new();
    for beat in &known {
        let session = beat.stream.session;
        let epoch = epochs.get(&session).copied().unwrap_or_default();
        let renewal = latest.entry(session).or_insert(Renewal { session, epoch, draining: false });
        renewal.draining |= beat.draining;
    }
    let renewals: Vec<Renewal> = latest.into_values().collect();
    let renewed: HashMap<SessionId, Renewed> = renewals
        .iter()
        .map(|renewal| renewal.session)
        .zip(renew(db, node, &renewals, term).await?)
        .collect();
    let sessions: Vec<SessionId> = renewals.iter().map(|renewal| renewal.session).collect();
    let mut to_stop: HashMap<SessionId, Vec<Lease>> = HashMap::new();
    for key in stops(db, &sessions).await? {
        to_stop.entry(key.session).or_default().push(key.into());
    }
    for beat in known {
        let session = beat.stream.session;
        if renewed.get(&session) == Some(&Renewed::Live) {
            let stop = to_stop.get(&session).cloned().unwrap_or_default();
            beat.stream.send(HeartbeatAnswer { number: beat.number, stop });
        } else {
            info!(%session, "A session is over; its executor must start a new one");
            beat.stream.send(Refused {
                reason: Reason::SessionOver.into(),
                detail: "the session has lapsed, was fenced, or has another owner".to_owned(),
            });
            fleet.disconnect(&beat.stream);
        }
    }
    Ok(())
}
