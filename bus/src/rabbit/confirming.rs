//! One channel in confirm mode, with many messages in flight; and one beside it for lone messages that a later confirm answers for.
//!
//! Run by the publisher, once a session. All publishes go through this one task, because only who
//! sees every confirm can tell which message was returned. The rule: it never waits for a single
//! message; frames are queued one after the other and confirms are taken as they come.

use super::cover::Cover;
use super::fault::{Fault, within};
use super::in_flight::{Answer, InFlight, Job};
use super::session::Session;
use super::topology;
use crate::metrics;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, future::BoxFuture};
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::{BasicProperties, Channel, Confirmation, PublisherConfirm};
use runtime::clock::{self, Instant};
use runtime::config::QueueType;
use runtime::fault::FaultPoint;
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Messages without a confirm, at most. More gains nothing (measured: 1000 is as fast as 4 × 1000).
const WINDOW: usize = 2048;
/// Time-outs whose confirm still has not come: so many mean that it never will.
const GIVE_UP_AT: usize = 1024;
const TRANSIENT: u8 = 1;
const PERSISTENT: u8 = 2;

type Confirm = BoxFuture<'static, (u64, lapin::Result<Confirmation>)>;
type Sending = BoxFuture<'static, lapin::Result<PublisherConfirm>>;

/// Serves jobs until the session ends. `ready` is called once jobs may come.
pub(super) async fn serve(
    session: &Session,
    mut jobs: mpsc::Receiver<Job>,
    ready: impl FnOnce(),
) -> Result<(), Fault> {
    let (channel, quiet) = (session.channel().await?, session.channel().await?);
    within(session.limit(), channel.confirm_select(ConfirmSelectOptions::default())).await?;
    ready();
    let mut work = Confirming {
        channel,
        quiet,
        // A classic queue that takes it to the disk, too, makes its confirm wait for that, and nothing rests on it.
        delivery_mode: match session.settings.queue_type {
            QueueType::Quorum => PERSISTENT,
            QueueType::Classic => TRANSIENT,
        },
        flight: InFlight::default(),
        to_send: VecDeque::new(),
        confirms: FuturesUnordered::new(),
        cover: Cover::default(),
        unwritten: Vec::new(),
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

/// A message that has its number.
struct ToSend {
    number: u64,
    queue: String,
    body: Vec<u8>,
    /// The only one of its job.
    lone: bool,
}

struct Confirming {
    channel: Channel,
    /// Confirms nothing.
    quiet: Channel,
    flight: InFlight,
    /// For each message.
    delivery_mode: u8,
    to_send: VecDeque<ToSend>,
    confirms: FuturesUnordered<Confirm>,
    cover: Cover,
    /// Handed over on the quiet channel, and not written yet when last looked at.
    unwritten: Vec<Sending>,
    /// Messages that were answered as timed out and whose confirm is still to come.
    late: usize,
}

impl Confirming {
    async fn run(
        &mut self,
        session: &Session,
        jobs: &mut mpsc::Receiver<Job>,
    ) -> Result<(), Fault> {
        loop {
            self.fill_window()?;
            let until = self.flight.next_deadline().into_iter().chain(self.cover.due()).min();
            tokio::select! {
                Some(first) = self.confirms.next() => self.settle(first)?,
                job = jobs.recv() => match job {
                    Some(job) => self.admit(job),
                    None => return Ok(()),
                },
                () = sleep_until(until) => {
                    let now = clock::monotonic();
                    if self.cover.due().is_some_and(|due| due <= now) {
                        self.ask(session, now);
                    }
                    self.late += self.flight.expire(now);
                    if self.late >= GIVE_UP_AT {
                        return Err(Fault::TimedOut(session.limit()));
                    }
                }
                () = session.ended() => return Ok(()),
            }
        }
    }

    fn admit(&mut self, job: Job) {
        let (queue, lone) = (job.queue, job.bodies.len() == 1);
        let first = self.flight.admit(job.bodies.len(), job.deadline, job.reply);
        let numbered = (first..).zip(job.bodies);
        self.to_send.extend(numbered.map(|(number, body)| ToSend {
            number,
            queue: queue.clone(),
            body,
            lone,
        }));
    }

    fn fill_window(&mut self) -> Result<(), Fault> {
        while self.confirms.len() < WINDOW {
            let Some(ToSend { number, queue, body, lone }) = self.to_send.pop_front() else {
                break;
            };
            // It may have run out of time while it waited for its turn.
            if !self.flight.is_waiting(number) {
                self.late = self.late.saturating_sub(1);
                continue;
            }
            let now = clock::monotonic();
            let properties = self.properties(number);
            if lone && self.cover.takes(number, now) {
                self.send_quietly(queue, body, properties)?;
            } else {
                self.cover.ask(now);
                let sending = send(self.channel.clone(), queue, true, body, properties);
                self.confirms.push(confirmed(number, sending));
            }
        }
        Ok(())
    }

    fn properties(&self, number: u64) -> BasicProperties {
        BasicProperties::default()
            .with_delivery_mode(self.delivery_mode)
            .with_message_id(number.to_string().into())
    }

    /// Hands a message over. Nobody waits until it is written: that would be to be woken for nothing.
    fn send_quietly(
        &mut self,
        queue: String,
        body: Vec<u8>,
        properties: BasicProperties,
    ) -> Result<(), Fault> {
        self.unwritten.push(send(self.quiet.clone(), queue, true, body, properties));
        let mut broken = None;
        self.unwritten.retain_mut(|sending| {
            match sending.poll_unpin(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(sent) => {
                    broken = sent.err().or(broken.take());
                    false
                }
                Poll::Pending => true,
            }
        });
        broken.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Sends a message to nobody, whose confirm answers for what was sent before.
    fn ask(&mut self, session: &Session, now: Instant) {
        // Nobody waits for it, and its own answer is like any other's.
        let (reply, _) = oneshot::channel();
        let number = self.flight.admit(1, now + session.limit(), reply);
        self.cover.ask(now);
        let nobody = topology::no_queue(&session.settings.prefix);
        let sending =
            send(self.channel.clone(), nobody, false, Vec::new(), self.properties(number));
        self.confirms.push(confirmed(number, sending));
    }

    /// Takes every confirm that is there. Returns are booked before outcomes are given out.
    fn settle(&mut self, first: (u64, lapin::Result<Confirmation>)) -> Result<(), Fault> {
        let mut ended = vec![first];
        self.take_ended(&mut ended);
        // lapin resolves the confirms of a multiple ack one by one, holding a lock, and spreads the
        // returned messages over them in no order. Taking that lock once means that it is through,
        // so that what is taken next completes the picture.
        let _ = self.channel.wait_for_confirms().now_or_never();
        self.take_ended(&mut ended);

        let mut broken = None;
        let mut answers = Vec::with_capacity(ended.len());
        let mut returned = Vec::new();
        let quiet_lives = self.quiet.status().connected();
        for (number, result) in ended {
            let (answer, back) = match result {
                Ok(Confirmation::Ack(message)) => (Answer::Ack, message),
                Ok(Confirmation::Nack(message)) => (Answer::Nack, message),
                // Cannot be without confirm_select; then nothing is known of the message.
                Ok(Confirmation::NotRequested) => (Answer::Lost, None),
                Err(error) => {
                    broken = Some(error);
                    (Answer::Lost, None)
                }
            };
            let for_others = if quiet_lives { answer } else { Answer::Lost };
            let others = self.cover.answered(number).into_iter();
            answers.extend(others.map(|before| (before, for_others)));
            answers.push((number, answer));
            returned.extend(back.and_then(|message| number_of(&message.properties)));
        }
        // It waits for no confirm, so it answers at once.
        if let Some(Ok(back)) = self.quiet.wait_for_confirms().now_or_never() {
            returned.extend(back.iter().filter_map(|message| number_of(&message.properties)));
        }
        for number in returned {
            if !self.flight.returned(number) {
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
            _ if !quiet_lives => Err(Fault::NoSession),
            _ => Ok(()),
        }
    }

    fn take_ended(&mut self, ended: &mut Vec<(u64, lapin::Result<Confirmation>)>) {
        while let Some(Some(next)) = self.confirms.next().now_or_never() {
            ended.push(next);
        }
    }
}

/// A message is on its way, and whether it arrived is not known.
static SENT: FaultPoint = FaultPoint::new("bus.hints.sent");

/// Queues the frames when first polled; ends when they are written.
fn send(
    channel: Channel,
    queue: String,
    mandatory: bool,
    body: Vec<u8>,
    properties: BasicProperties,
) -> Sending {
    Box::pin(async move {
        let options = BasicPublishOptions { mandatory, ..BasicPublishOptions::default() };
        channel.basic_publish("".into(), queue.into(), options, &body, properties).await
    })
}

/// Ends with the broker's confirm.
fn confirmed(number: u64, sending: Sending) -> Confirm {
    Box::pin(async move {
        let result = match sending.await {
            Ok(confirm) => match SENT.hit().await {
                Ok(()) => confirm.await,
                // As if the answer had been lost on its way.
                Err(_) => Ok(Confirmation::NotRequested),
            },
            Err(error) => Err(error),
        };
        (number, result)
    })
}

/// Which message it is, of one that came back.
fn number_of(properties: &BasicProperties) -> Option<u64> {
    properties.message_id().as_ref()?.as_str().parse().ok()
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => {
            let left = deadline.saturating_duration_since(clock::monotonic());
            clock::sleep(left.max(Duration::from_millis(1))).await;
        }
        None => std::future::pending().await,
    }
}
