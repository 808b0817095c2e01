//! Prefetched deliveries between a consumer's background task and its reader.
//!
//! Filled by the RabbitMQ consumer task, emptied by `HintConsumer`. The rule: from the moment
//! `pause` returns the reader receives nothing until `resume`: what the inbox holds then, and what
//! still arrives, is requeued.

use crate::delivery::Delivery;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use tokio::sync::{Notify, watch};

/// Last request of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Consume,
    Pause,
    /// The reader is gone.
    Stop,
}

#[derive(Debug)]
pub(crate) struct Inbox {
    waiting: Mutex<VecDeque<Delivery>>,
    arrived: Notify,
    wish: watch::Sender<Wish>,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::default(),
            arrived: Notify::new(),
            wish: watch::Sender::new(Wish::Consume),
        }
    }

    /// Adds a delivery, or requeues it while the reader is paused or gone.
    pub(crate) fn offer(&self, delivery: Delivery) {
        let mut waiting = self.lock();
        // Under the lock, so that a pause sees either this delivery here or none at all.
        if *self.wish.borrow() == Wish::Consume {
            waiting.push_back(delivery);
            drop(waiting);
            self.arrived.notify_one();
        }
    }

    /// The next delivery if there is one.
    pub(crate) fn try_next(&self) -> Option<Delivery> {
        self.lock().pop_front()
    }

    /// The next delivery. Cancel-safe.
    pub(crate) async fn next(&self) -> Delivery {
        loop {
            let arrived = self.arrived.notified();
            if let Some(delivery) = self.try_next() {
                return delivery;
            }
            arrived.await;
        }
    }

    /// Changes the wish; unless it is `Consume`, requeues everything in the inbox.
    pub(crate) fn set_wish(&self, wish: Wish) {
        let returned = {
            let mut waiting = self.lock();
            self.wish.send_replace(wish);
            if wish == Wish::Consume { VecDeque::new() } else { std::mem::take(&mut *waiting) }
        };
        drop(returned);
    }

    /// The wish, for the background task.
    pub(crate) fn watch_wish(&self) -> watch::Receiver<Wish> {
        self.wish.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Delivery>> {
        self.waiting.lock()
    }
}
