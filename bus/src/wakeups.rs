//! The receiving end of wake-ups.
//!
//! Held by a loop that also polls. The rule: wake-ups coalesce. Any number of them while the loop is
//! busy are one, because the loop takes no input from them: it reads the database.

use crate::metrics;
use crate::topic::Topic;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// Wake-ups that arrived and were not received by the loop yet.
#[derive(Debug, Default)]
pub(crate) struct Raised {
    each: [Arc<Notify>; Topic::ALL.len()],
    /// A bit a topic, for [`Wakeups::next`].
    pending: AtomicU8,
    any: Notify,
}

impl Raised {
    /// Wakes the loop that waits for `topic`, or the next one that does.
    pub(crate) fn raise(&self, topic: Topic) {
        metrics::wake_received(topic).inc();
        self.pending.fetch_or(topic.bit(), Ordering::AcqRel);
        self.each[topic.index()].notify_one();
        self.any.notify_one();
    }
}

/// All listeners of this process.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<Vec<Listener>>);

#[derive(Debug)]
struct Listener {
    topics: Vec<Topic>,
    raised: Weak<Raised>,
}

impl Listeners {
    /// Adds `raised` as a listener of `topics`, until it is dropped elsewhere.
    pub(crate) fn add(&self, topics: Vec<Topic>, raised: &Arc<Raised>) {
        let listener = Listener { topics, raised: Arc::downgrade(raised) };
        self.0.lock().push(listener);
    }

    /// Wakes all listeners of `topic`.
    pub(crate) fn raise(&self, topic: Topic) {
        self.0.lock().retain(|listener| {
            let Some(raised) = listener.raised.upgrade() else { return false };
            if listener.topics.contains(&topic) {
                raised.raise(topic);
            }
            true
        });
    }
}

/// The wake-ups of some topics. Dropping it ends them.
#[derive(Debug)]
pub struct Wakeups {
    pub(crate) raised: Arc<Raised>,
    pub(crate) topics: Vec<Topic>,
}

impl Wakeups {
    /// Fires on each wake-up of `topic`; for a tick driver. Never fires for a topic that is not subscribed.
    ///
    /// Use either this or [`Self::next`] for a topic: each of them receives every wake-up.
    #[must_use]
    pub fn notify(&self, topic: Topic) -> Arc<Notify> {
        Arc::clone(&self.raised.each[topic.index()])
    }

    /// The next topic that was woken. Cancel-safe.
    pub async fn next(&self) -> Topic {
        loop {
            let any = self.raised.any.notified();
            if let Some(topic) = self.take_pending() {
                return topic;
            }
            any.await;
        }
    }

    /// Subscribed topics.
    #[must_use]
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    fn take_pending(&self) -> Option<Topic> {
        let pending = self.raised.pending.load(Ordering::Acquire);
        let topic = Topic::ALL.into_iter().find(|topic| pending & topic.bit() != 0)?;
        self.raised.pending.fetch_and(!topic.bit(), Ordering::AcqRel);
        Some(topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn wake_ups_of_one_topic_are_one_and_of_two_topics_two() {
        let raised = Arc::new(Raised::default());
        let wakeups =
            Wakeups { raised: Arc::clone(&raised), topics: vec![Topic::Batcher, Topic::Output] };
        for topic in [Topic::Output, Topic::Batcher, Topic::Output, Topic::Output] {
            raised.raise(topic);
        }
        assert_eq!(wakeups.next().now_or_never(), Some(Topic::Batcher));
        assert_eq!(wakeups.next().now_or_never(), Some(Topic::Output));
        assert_eq!(wakeups.next().now_or_never(), None);
        assert_eq!(wakeups.notify(Topic::Output).notified().now_or_never(), Some(()));
        assert_eq!(wakeups.notify(Topic::Output).notified().now_or_never(), None);
    }
}
