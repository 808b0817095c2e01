//! Lone hints past the broker: who takes them, who does not, and that they come where there is no such way.

#![expect(clippy::unwrap_used, reason = "a test may fail this way")]

mod support;

use bus::{Delivery, HintBatch, PublishOutcome};
use lapin::BasicProperties;
use runtime::clock;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use support::{Carrier, Rig, SOON, batch, metric, next, nothing_comes};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;

const PLACES: u8 = 0;
const HOLDS: u8 = 1;
const DROPS: u8 = 2;
const PAUSES: u8 = 3;

/// Somebody to whom hints come.
struct Taker {
    rig: Rig,
    does: Arc<AtomicU8>,
    came: mpsc::UnboundedReceiver<(HintBatch, Option<Delivery>)>,
}

impl Taker {
    async fn beside(rig: &Rig) -> Self {
        let (rig, does) = (rig.sibling().await, Arc::new(AtomicU8::new(PLACES)));
        let (mut consumer, doing, (tell, came)) =
            (rig.consume(8), Arc::clone(&does), mpsc::unbounded_channel());
        drop(rig.tasks.spawn("taker", async move {
            loop {
                if doing.load(Ordering::Acquire) == PAUSES {
                    consumer.pause();
                } else {
                    consumer.resume();
                }
                let next = clock::timeout(Duration::from_millis(5), consumer.next());
                let Ok(delivery) = next.await else { continue };
                let Some(delivery) = delivery else { return };
                let batch = delivery.batch().clone();
                let mut held = Some(delivery);
                match doing.load(Ordering::Acquire) {
                    PLACES => held.take().into_iter().for_each(Delivery::ack),
                    DROPS => drop(held.take()),
                    _ => {}
                }
                // What only introduces its sender is nobody's business here.
                if !batch.hints.is_empty() && tell.send((batch, held)).is_err() {
                    return;
                }
            }
        }));
        Self { rig, does, came }
    }

    fn does(&self, what: u8) {
        self.does.store(what, Ordering::Release);
    }

    /// Everything that comes until nothing more does.
    async fn all(&mut self) -> Vec<HintBatch> {
        let mut all = Vec::new();
        let moment = Duration::from_millis(300);
        while let Ok(Some((batch, _))) = clock::timeout(moment, self.came.recv()).await {
            all.push(batch);
        }
        all
    }
}

async fn publish(rig: &Rig, batch: &HintBatch) -> PublishOutcome {
    rig.bus.publish(&rig.pool, vec![batch.clone()]).await[0]
}

/// Publishes one at a time until one goes past the broker.
async fn until_direct(rig: &Rig) {
    let direct = || async { rig.publish_one().await == PublishOutcome::Direct };
    testkit::poll::until("a hint goes past the broker", SOON, direct).await.unwrap();
}

fn failed(reason: &str) -> f64 {
    metric("berth_bus_direct_hints_failed_total", &[("reason", reason)])
}

#[tokio::test]
async fn lone_hints_go_past_the_broker_in_their_order_and_once_and_others_through_it() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let mut taker = Taker::beside(&rig).await;
    until_direct(&rig).await;
    taker.all().await;
    let sent: Vec<_> = (0..40).map(|count| batch(1 + count % 3)).collect();
    for batch in &sent {
        assert_eq!(publish(&rig, batch).await, PublishOutcome::Direct);
    }
    assert_eq!(taker.all().await, sent);
    let some = batch(60);
    assert_eq!(publish(&rig, &some).await, PublishOutcome::Direct);
    let parts = taker.all().await;
    let hints: Vec<_> = parts.iter().flat_map(|part| part.hints.clone()).collect();
    assert_eq!((parts.len(), hints), (3, some.hints), "not in datagrams that fit any network");
    let two = vec![batch(1), batch(1)];
    assert_eq!(rig.bus.publish(&rig.pool, two.clone()).await, [PublishOutcome::Confirmed; 2]);
    let large = batch(100);
    assert_eq!(publish(&rig, &large).await, PublishOutcome::Confirmed);
    assert_eq!(taker.all().await, [two, vec![large]].concat());
    assert_eq!(failed("refused") + failed("unanswered"), 0.0);
}

#[tokio::test]
async fn what_is_not_placed_in_time_goes_through_the_broker_besides() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let mut taker = Taker::beside(&rig).await;
    until_direct(&rig).await;
    taker.all().await;
    taker.does(HOLDS);
    let (held, began) = (batch(1), clock::monotonic());
    assert_eq!(publish(&rig, &held).await, PublishOutcome::Confirmed);
    assert!(began.elapsed() >= Duration::from_millis(400), "nobody waited for a receipt");
    assert_eq!(failed("unanswered"), 1.0);
    let (mut first, mut second) =
        (taker.came.recv().await.unwrap(), taker.came.recv().await.unwrap());
    assert_eq!((&first.0, &second.0), (&held, &held));
    // A receipt that comes too late is no answer to anything.
    first.1.take().unwrap().ack();
    second.1.take().unwrap().ack();
    taker.does(PLACES);
    until_direct(&rig).await;
    assert_eq!(failed("unanswered"), 1.0);
}

#[tokio::test]
async fn what_is_dropped_goes_through_the_broker_at_once() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let mut taker = Taker::beside(&rig).await;
    until_direct(&rig).await;
    taker.all().await;
    taker.does(DROPS);
    let dropped = batch(1);
    assert_eq!(publish(&rig, &dropped).await, PublishOutcome::Confirmed);
    assert_eq!(failed("refused"), 1.0);
    taker.does(PLACES);
    let came = taker.all().await;
    assert!(came.len() >= 2 && came.iter().all(|batch| *batch == dropped), "{came:?}");
}

#[tokio::test]
async fn takers_take_turns_and_who_pauses_is_left_out() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let (mut one, mut other) = (Taker::beside(&rig).await, Taker::beside(&rig).await);
    let (mut sent, began) = (HashSet::new(), clock::monotonic());
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    let is_among = |batch: &HintBatch, all: &[HintBatch]| all.contains(batch);
    let mut in_turn = 0;
    let mut last_was_ones = None;
    // Whoever is not known yet is found within a second or two, through the broker.
    while in_turn < 10 {
        assert!(began.elapsed() < SOON, "one takes them all");
        clock::sleep(Duration::from_millis(10)).await;
        let batch = batch(1);
        sent.insert(batch.hints[0].task);
        let outcome = publish(&rig, &batch).await;
        clock::sleep(Duration::from_millis(10)).await;
        ones.extend(std::iter::from_fn(|| one.came.try_recv().ok()).map(|(batch, _)| batch));
        others.extend(std::iter::from_fn(|| other.came.try_recv().ok()).map(|(batch, _)| batch));
        let is_ones = is_among(&batch, &ones);
        let turned = last_was_ones.replace(is_ones) == Some(!is_ones);
        in_turn = if outcome == PublishOutcome::Direct && turned { in_turn + 1 } else { 0 };
    }
    one.does(PAUSES);
    clock::sleep(Duration::from_millis(50)).await;
    for _ in 0..20 {
        let batch = batch(1);
        sent.insert(batch.hints[0].task);
        assert!(publish(&rig, &batch).await.is_confirmed());
    }
    assert!(one.all().await.is_empty(), "something came to who pauses");
    others.extend(other.all().await);
    let came: HashSet<_> = ones.iter().chain(&others).map(|batch| batch.hints[0].task).collect();
    assert_eq!(came, sent);
    assert_eq!(failed("refused"), 1.0, "who pauses was asked more than once");
}

#[tokio::test]
async fn a_taker_that_is_gone_costs_a_moment_and_loses_nothing() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let taker = Taker::beside(&rig).await;
    until_direct(&rig).await;
    // Whether it still refuses what comes or says nothing at all: it places none of it.
    taker.does(HOLDS);
    taker.rig.stop.shut_down();
    drop(taker);
    let (left, began) = (batch(1), clock::monotonic());
    assert_eq!(publish(&rig, &left).await, PublishOutcome::Confirmed);
    assert!(began.elapsed() < Duration::from_secs(2));
    let mut heir = Taker::beside(&rig).await;
    assert_eq!(heir.all().await, [left]);
    until_direct(&rig).await;
}

#[tokio::test]
async fn where_it_is_switched_off_all_go_through_the_broker() {
    for (sends, takes) in [(true, false), (false, true)] {
        let rig = Carrier::RabbitMq.rig(|config| config.direct_hints = takes).await;
        let mut taker = Taker::beside(&rig).await;
        let mut config = rig.config.clone();
        config.direct_hints = sends;
        let mut sender = Rig::over(config);
        sender.pool = rig.pool.clone();
        assert!(sender.bus.wait_connected(SOON).await);
        for _ in 0..10 {
            assert_eq!(sender.publish_one().await, PublishOutcome::Confirmed);
        }
        assert_eq!(taker.all().await.len(), 10);
    }
}

/// A socket of somebody, and the properties with which the broker would introduce it.
async fn somebody() -> (UdpSocket, BasicProperties) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let properties = BasicProperties::default()
        .with_reply_to(socket.local_addr().unwrap().to_string().into())
        .with_correlation_id(format!("{:032x}", 7).into());
    (socket, properties)
}

async fn heard(socket: &UdpSocket) -> Option<(Vec<u8>, SocketAddr)> {
    let mut bytes = [0; 2000];
    let heard = clock::timeout(Duration::from_millis(300), socket.recv_from(&mut bytes)).await;
    heard.ok().map(|heard| heard.map(|(length, from)| (bytes[..length].to_vec(), from)).unwrap())
}

#[tokio::test]
async fn only_who_was_introduced_by_the_broker_can_bring_hints() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let mut consumer = rig.consume(8);
    let (admin, (socket, properties)) = (rig.admin().await, somebody().await);
    let nothing = HintBatch { hints: Vec::new(), ..batch(0) }.encode().unwrap();
    admin.put_with(&rig.queue(), &nothing, properties).await;
    next(&mut consumer).await.ack();
    let (offer, taker) = heard(&socket).await.expect("it does not say that it takes hints");
    assert_eq!(offer[..16], 7_u128.to_be_bytes());
    assert_eq!(&offer[32..], rig.pool.as_str().as_bytes());

    let secret = &offer[16..32];
    let wrong: Vec<u8> = secret.iter().map(|byte| !byte).collect();
    let brought = batch(1);
    let call = |secret: &[u8], body: &[u8]| [secret, &9_u64.to_be_bytes(), body].concat();
    let body = brought.encode().unwrap();
    let (stranger, _) = somebody().await;
    for (from, bytes) in [
        (&socket, call(&wrong, &body)),
        (&socket, secret.to_vec()),
        (&socket, Vec::new()),
        (&socket, vec![0; 2000]),
        (&stranger, call(secret, &body)),
    ] {
        from.send_to(&bytes, taker).await.unwrap();
        assert!(nothing_comes(&mut consumer).await, "{bytes:?} was taken");
        assert_eq!(heard(from).await, None);
    }
    // What it cannot read somebody else may.
    socket.send_to(&call(secret, b"\x09from the future"), taker).await.unwrap();
    let (receipt, _) = heard(&socket).await.expect("no receipt");
    assert_eq!((receipt.len(), &receipt[16..]), (25, [0, 0, 0, 0, 0, 0, 0, 9, 0].as_slice()));
    socket.send_to(&call(secret, &body), taker).await.unwrap();
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.batch(), &brought);
    assert_eq!(heard(&socket).await, None, "there is a receipt before it is placed");
    delivery.ack();
    let (receipt, _) = heard(&socket).await.expect("no receipt");
    assert_eq!(receipt[16..], [0, 0, 0, 0, 0, 0, 0, 9, 1]);
}

#[tokio::test]
async fn only_who_has_the_secret_from_the_broker_is_brought_hints() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    assert_eq!(rig.publish_one().await, PublishOutcome::Confirmed);
    let properties = rig.admin().await.get(&rig.queue()).await;
    let caller = properties.reply_to().clone().unwrap().to_string();
    let secret = properties.correlation_id().clone().unwrap().to_string();
    let secret = u128::from_str_radix(&secret, 16).unwrap();
    let (socket, _) = somebody().await;
    let pool = rig.pool.as_str();
    for (secret, pool, is_called) in
        [(!secret, pool, false), (secret, "other", false), (secret, pool, true)]
    {
        let offer = [secret.to_be_bytes().as_slice(), &[5; 16], pool.as_bytes()].concat();
        socket.send_to(&offer, &caller).await.unwrap();
        // So that it is read before the next hint goes.
        clock::sleep(Duration::from_millis(100)).await;
        let sent = batch(1);
        // It gives no receipt.
        assert_eq!(publish(&rig, &sent).await, PublishOutcome::Confirmed);
        let called = heard(&socket).await.map(|(bytes, _)| bytes);
        assert_eq!(called.is_some(), is_called);
        if let Some(bytes) = called {
            assert_eq!(bytes[..16], [5; 16]);
            assert_eq!(HintBatch::decode(&bytes[24..]).unwrap(), sent);
        }
    }
}
