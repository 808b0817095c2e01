//! One channel in confirm mode, with many messages in flight.
//!
//! Run by the publisher, once per session. All publishes go through this one task, because which
//! message was returned shows only in all confirms together. The rule: it never waits for a single
//! message; frames are queued one after the other and confirms are received in any order.

use super::fault::{Fault, within};
use super::in_flight::{BrokerReply, InFlight, Job};
use super::session::Session;
use super::topology;
use crate::metrics;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, future::BoxFuture};
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::ShortString;
use lapin::{BasicProperties, Channel, Confirmation};
use runtime::clock;
use runtime::config::QueueType;
use runtime::fault::FaultPoint;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;

/// Most messages without a confirm. More gains nothing (measured: 1000 is as fast as 4 × 1000).
const WINDOW: usize = 2048;
/// Timed-out messages without a confirm at which the connection is given up.
const GIVE_UP_AT: usize = 1024;
const TRANSIENT: u8 = 1;
const PERSISTENT: u8 = 2;

type Confirm = BoxFuture<'static, (u64, lapin::Result<Confirmation>)>;

/// Serves jobs until the session ends. `ready` is called once jobs may come.
pub(super) async fn serve(
    session: &Session,
    mut jobs: mpsc::Receiver<Job>,
    ready: impl FnOnce(),
) -> Result<(), Fault> {
    let channel = session.channel().await?;
    within(session.limit(), channel.confirm_select(ConfirmSelectOptions::default())).await?;
    ready();
    let mut work = Confirming {
        channel,
        exchange: topology::hint_exchange(&session.settings.prefix).into(),
        // A classic queue confirms a persistent message only when it is on disk, and nothing relies on that.
        delivery_mode: match session.settings.queue_type {
            QueueType::Quorum => PERSISTENT,
            QueueType::Classic => TRANSIENT,
        },
        flight: InFlight::default(),
        to_send: VecDeque::new(),
        confirms: FuturesUnordered::new(),
        late: 0,
    };
    let result = work.run(session, &mut jobs).await;
    jobs.close();
    while let Ok(job) = jobs.try_recv() {
        work.flight.admit(job.bodies.len(), job.deadline, job.reply);
    }
    work.flight.lose_all();
    result
}

/// A message with its number.
struct NumberedMessage {
    number: u64,
    queue: String,
    body: Vec<u8>,
}

struct Confirming {
    channel: Channel,
    exchange: ShortString,
    flight: InFlight,
    /// Of each message.
    delivery_mode: u8,
    to_send: VecDeque<NumberedMessage>,
    confirms: FuturesUnordered<Confirm>,
    /// Messages with the outcome `TimedOut` whose confirm is outstanding.
    late: usize,
}

impl Confirming {
    async fn run(
        &mut self,
        session: &Session,
        jobs: &mut mpsc::Receiver<Job>,
    ) -> Result<(), Fault> {
        loop {
            self.fill_window();
            let deadline = self.flight.next_deadline();
            tokio::select! {
                Some(first) = self.confirms.next() => self.process_confirms(first)?,
                job = jobs.recv() => match job {
                    Some(job) => self.admit(job),
                    None => return Ok(()),
                },
                () = sleep_until(deadline) => {
                    self.late += self.flight.expire(clock::monotonic());
                    if self.late >= GIVE_UP_AT {
                        return Err(Fault::TimedOut(session.limit()));
                    }
                }
                () = session.ended() => return Ok(()),
            }
        }
    }

    fn admit(&mut self, job: Job) {
        let first = self.flight.admit(job.bodies.len(), job.deadline, job.reply);
        let numbered = (first..).zip(job.bodies);
        self.to_send.extend(numbered.map(|(number, body)| NumberedMessage {
            number,
            queue: job.queue.clone(),
            body,
        }));
    }

    fn fill_window(&mut self) {
        while self.confirms.len() < WINDOW {
            let Some(NumberedMessage { number, queue, body }) = self.to_send.pop_front() else {
                return;
            };
            // Its deadline may have passed while it was queued.
            if self.flight.is_waiting(number) {
                let properties = BasicProperties::default()
                    .with_delivery_mode(self.delivery_mode)
                    .with_message_id(number.to_string().into());
                let way = (self.channel.clone(), self.exchange.clone(), queue);
                self.confirms.push(publish(way, number, body, properties));
            } else {
                self.late = self.late.saturating_sub(1);
            }
        }
    }

    /// Processes every confirm that has arrived: returns first, then outcomes.
    fn process_confirms(&mut self, first: (u64, lapin::Result<Confirmation>)) -> Result<(), Fault> {
        let mut ended = vec![first];
        self.collect_ended(&mut ended);
        // lapin resolves the confirms of a multiple ack one by one, holding a lock, and spreads the
        // returned messages over them in no order. Acquiring that lock once means that it has
        // finished, so that the confirms received next are the rest of that ack.
        let _ = self.channel.wait_for_confirms().now_or_never();
        self.collect_ended(&mut ended);

        let mut broken = None;
        let mut answers = Vec::with_capacity(ended.len());
        for (number, result) in ended {
            let (answer, returned) = match result {
                Ok(Confirmation::Ack(message)) => (BrokerReply::Ack, message),
                Ok(Confirmation::Nack(message)) => (BrokerReply::Nack, message),
                // Only without confirm_select; then the outcome of the message is unknown.
                Ok(Confirmation::NotRequested) => (BrokerReply::Lost, None),
                Err(error) => {
                    broken = Some(error);
                    (BrokerReply::Lost, None)
                }
            };
            answers.push((number, answer));
            let name =
                returned.as_ref().and_then(|message| message.properties.message_id().as_ref());
            if let Some(returned) = name.and_then(|name| name.as_str().parse().ok())
                && !self.flight.returned(returned)
            {
                metrics::late_returns().inc();
            }
        }
        for (number, answer) in answers {
            if self.flight.answered(number, answer).is_none() {
                self.late = self.late.saturating_sub(1);
            }
        }
        match broken {
            Some(error) if !self.channel.status().connected() => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn collect_ended(&mut self, ended: &mut Vec<(u64, lapin::Result<Confirmation>)>) {
        while let Some(Some(next)) = self.confirms.next().now_or_never() {
            ended.push(next);
        }
    }
}

/// A message was sent, and its confirm has not arrived.
static SENT: FaultPoint = FaultPoint::new("bus.hints.sent");

/// Queues the frames when first polled; ends with the broker's confirm.
fn publish(
    (channel, exchange, queue): (Channel, ShortString, String),
    number: u64,
    body: Vec<u8>,
    properties: BasicProperties,
) -> Confirm {
    Box::pin(async move {
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let sent = channel.basic_publish(exchange, queue.into(), options, &body, properties).await;
        let result = match sent {
            Ok(confirm) => match SENT.hit().await {
                Ok(()) => confirm.await,
                // As if the confirm had been lost.
                Err(_) => Ok(Confirmation::NotRequested),
            },
            Err(error) => Err(error),
        };
        (number, result)
    })
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => {
            let left = deadline.saturating_duration_since(clock::monotonic());
            clock::sleep(left.max(Duration::from_millis(1))).await;
        }
        None => std::future::pending().await,
    }
}
