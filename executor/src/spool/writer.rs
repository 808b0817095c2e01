//! The thread that writes the spool, and how the agent speaks to it.
//!
//! A thread because a sync blocks. A group is what is queued when the thread is free: a lone result waits for no other, and ten
//! thousand share a sync.

use super::file::SpoolFile;
use crate::metrics::SPOOL_SECONDS;
use domain::task::LeaseKey;
use runtime::clock;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use tokio::sync::mpsc::UnboundedSender;

/// Most results in one group: bounds the time of one write.
const MAX_GROUP: usize = 10_000;

enum Order {
    Store(LeaseKey, Box<protocol::Result>),
    Forget(Vec<LeaseKey>),
    /// Try again, if the last write failed.
    Mend,
}

/// What the thread says after each group.
#[derive(Debug)]
pub(crate) struct Written {
    /// The results of the group. After a failure they are in memory only.
    pub(crate) keys: Vec<LeaseKey>,
    /// Why the group, or an earlier one, is not safe on disk.
    pub(crate) failure: Option<String>,
    /// Bytes of undelivered results.
    pub(crate) live_bytes: u64,
}

/// The agent's end.
#[derive(Debug)]
pub(crate) struct Spool {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

impl Spool {
    /// Starts the thread. Each group is told to `written`.
    pub(crate) fn start(file: SpoolFile, written: UnboundedSender<Written>) -> io::Result<Self> {
        let (orders, inbox) = channel();
        let thread = thread::Builder::new()
            .name("berth-spool".to_owned())
            .spawn(move || write_groups(file, &inbox, &written))?;
        Ok(Self { orders, thread })
    }

    /// Stores one result; `Written` names it when it is done.
    pub(crate) fn store(&self, key: LeaseKey, result: protocol::Result) {
        self.tell(Order::Store(key, Box::new(result)));
    }

    /// These were answered.
    pub(crate) fn forget(&self, keys: Vec<LeaseKey>) {
        self.tell(Order::Forget(keys));
    }

    /// Tries to write again what could not be written.
    pub(crate) fn mend(&self) {
        self.tell(Order::Mend);
    }

    /// Ends the thread after all it was told.
    pub(crate) fn stop(self) {
        drop(self.orders);
        if self.thread.join().is_err() {
            tracing::error!("The spool's thread panicked");
        }
    }

    fn tell(&self, order: Order) {
        if self.orders.send(order).is_err() {
            tracing::error!("The spool's thread is gone; results are no longer safe on disk");
        }
    }
}

fn write_groups(mut file: SpoolFile, inbox: &Receiver<Order>, written: &UnboundedSender<Written>) {
    let seconds = SPOOL_SECONDS.with(&[]);
    while let Ok(first) = inbox.recv() {
        let mut group = Vec::new();
        let mut mend = file.is_broken();
        let mut orders = Some(first).into_iter().chain(inbox.try_iter());
        while group.len() < MAX_GROUP {
            match orders.next() {
                Some(Order::Store(key, result)) => group.push((key, *result)),
                Some(Order::Forget(keys)) => file.forget(&keys),
                Some(Order::Mend) => mend |= file.is_broken(),
                None => break,
            }
        }
        let keys: Vec<LeaseKey> = group.iter().map(|(key, _)| *key).collect();
        let began = clock::monotonic();
        let done = if keys.is_empty() && !mend { Ok(()) } else { file.append(group) };
        if !keys.is_empty() {
            seconds.observe((clock::monotonic() - began).as_secs_f64());
        }
        let failure = done.err().map(|error| error.to_string());
        let report = Written { keys, failure, live_bytes: file.live_bytes() };
        if written.send(report).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::sample;
    use super::*;
    use tokio::sync::mpsc::unbounded_channel;

    #[test]
    fn results_that_are_queued_when_the_thread_is_free_share_a_sync() {
        let folder = tempfile::tempdir().unwrap();
        let file = SpoolFile::open(&folder.path().join("spool")).unwrap();
        let ((orders, inbox), (tell, mut written)) = (channel(), unbounded_channel());
        let store = || {
            let result = sample("done");
            orders.send(Order::Store(result.key().unwrap(), Box::new(result))).unwrap();
        };
        (0..16).for_each(|_| store());
        let thread = thread::spawn(move || write_groups(file, &inbox, &tell));
        assert_eq!(written.blocking_recv().unwrap().keys.len(), 16);
        store();
        assert_eq!(written.blocking_recv().unwrap().keys.len(), 1, "a lone one waits for no other");
        drop(orders);
        thread.join().unwrap();
    }
}
