//! A line for something scarce, in which each peer stands once.
//!
//! However many requests a peer sends, the others wait for one of them at most: a flood from one place is a flood for that place.
//! Requests whose peer is not known stand for themselves.

use crate::peer::Peer;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

type Peers = Mutex<HashMap<Peer, Arc<Semaphore>>>;

/// The line.
#[derive(Debug)]
pub(crate) struct FairQueue {
    turns: Semaphore,
    /// One turn for each peer that has, or waits for, any.
    peers: Peers,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    _one_of_all: SemaphorePermit<'a>,
    _of_peer: OfPeer<'a>,
}

/// A peer's only turn, or its place in the line for it; forgotten with the last.
#[derive(Debug)]
struct OfPeer<'a> {
    peers: &'a Peers,
    peer: Option<Peer>,
    turn: Option<OwnedSemaphorePermit>,
}

impl Drop for OfPeer<'_> {
    fn drop(&mut self) {
        drop(self.turn.take());
        let Some(peer) = self.peer else { return };
        let mut peers = self.peers.lock();
        if peers.get(&peer).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            peers.remove(&peer);
        }
    }
}

impl FairQueue {
    /// With `turns` at once.
    pub(crate) fn new(turns: usize) -> Self {
        Self { turns: Semaphore::new(turns), peers: Mutex::default() }
    }

    /// Waits for a turn: first among those of the same peer, then with one of each. `None` never comes: the line is not closed.
    pub(crate) async fn turn(&self, peer: Option<Peer>) -> Option<Turn<'_>> {
        let mut of_peer = OfPeer { peers: &self.peers, peer, turn: None };
        if let Some(peer) = peer {
            of_peer.turn = self.turns_of(peer).acquire_owned().await.ok();
        }
        let one_of_all = self.turns.acquire().await.ok()?;
        Some(Turn { _one_of_all: one_of_all, _of_peer: of_peer })
    }

    fn turns_of(&self, peer: Peer) -> Arc<Semaphore> {
        let mut peers = self.peers.lock();
        Arc::clone(peers.entry(peer).or_insert_with(|| Arc::new(Semaphore::new(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::net::IpAddr;

    #[tokio::test]
    async fn a_peer_stands_in_line_once_however_many_it_sends() {
        let line = FairQueue::new(2);
        let [flood, other] = [1, 2].map(|last| Some(Peer::from(IpAddr::from([192, 0, 2, last]))));
        let first = line.turn(flood).await.unwrap();
        let mut more: Vec<_> = (0..100).map(|_| Box::pin(line.turn(flood))).collect();
        for one in &mut more {
            assert!(futures::poll!(one).is_pending());
        }
        let others = line.turn(other).now_or_never().expect("a turn is free");
        drop((first, others));
        assert!(futures::poll!(&mut more[0]).is_ready(), "its next one's turn");
        drop(more);
        assert!(line.peers.lock().is_empty(), "forgotten");
    }
}
