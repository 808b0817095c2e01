//! What a caller may rely on, whatever carries the bus: one suite, run on memory and on both kinds of queues of RabbitMQ.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail this way")]

mod support;

use bus::{HintBatch, Topic};
use futures::FutureExt;
use runtime::clock;
use std::time::Duration;
use support::{Carrier, batch, metric, next, nothing_comes, until};

macro_rules! on_all_carriers {
    ($($name:ident),+ $(,)?) => {
        mod in_process {
            $(#[tokio::test] async fn $name() { super::$name(super::Carrier::InProcess).await })+
        }
        mod rabbitmq {
            $(#[tokio::test] async fn $name() { super::$name(super::Carrier::RabbitMq).await })+
        }
        mod classic {
            $(#[tokio::test] async fn $name() { super::$name(super::Carrier::Classic).await })+
        }
    };
}

on_all_carriers!(
    batches_arrive_whole_and_in_order,
    what_was_acked_is_gone_and_what_was_not_comes_again,
    a_dropped_delivery_comes_again_marked,
    acks_out_of_order_leave_nothing_behind,
    no_more_than_the_prefetch_is_on_hand,
    a_paused_consumer_hands_out_nothing_and_others_get_it,
    what_was_handed_out_before_a_pause_can_be_acked,
    pools_do_not_mix,
    an_old_hint_dies_and_is_counted,
    the_oldest_hints_die_in_a_full_queue,
    a_hint_that_is_returned_again_and_again_dies,
    many_callers_publish_at_once,
    wake_ups_arrive_and_coalesce,
    a_shutdown_ends_the_consumer,
);

async fn batches_arrive_whole_and_in_order(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    let sent: Vec<_> = [1, 100, 0, 7].map(batch).into();
    rig.publish(sent.clone()).await;
    let mut consumer = rig.consume(10);
    for expected in &sent {
        let delivery = next(&mut consumer).await;
        assert_eq!((delivery.batch(), delivery.redelivered()), (expected, false));
        delivery.ack();
    }
    assert!(nothing_comes(&mut consumer).await);
}

async fn what_was_acked_is_gone_and_what_was_not_comes_again(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    let sent: Vec<_> = (0..50).map(|_| batch(1)).collect();
    rig.publish(sent.clone()).await;
    let mut first = rig.consume(50);
    let mut held = Vec::new();
    for _ in 0..50 {
        held.push(next(&mut first).await);
    }
    let kept: Vec<HintBatch> =
        held.split_off(30).iter().map(|delivery| delivery.batch().clone()).collect();
    held.into_iter().for_each(bus::Delivery::ack);
    drop(first);
    let mut second = rig.consume(50);
    let mut again = Vec::new();
    for _ in 0..20 {
        let delivery = next(&mut second).await;
        assert!(delivery.redelivered());
        again.push(delivery.batch().clone());
        delivery.ack();
    }
    assert!(kept.iter().all(|batch| again.contains(batch)));
    assert!(nothing_comes(&mut second).await);
}

async fn a_dropped_delivery_comes_again_marked(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    rig.publish(vec![batch(1)]).await;
    let mut consumer = rig.consume(10);
    drop(next(&mut consumer).await);
    let again = next(&mut consumer).await;
    assert!(again.redelivered());
    again.ack();
    assert!(nothing_comes(&mut consumer).await);
}

async fn acks_out_of_order_leave_nothing_behind(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    rig.publish((0..300).map(|_| batch(1)).collect()).await;
    let mut consumer = rig.consume(32);
    let mut received = 0;
    while received < 300 {
        let mut held = vec![next(&mut consumer).await];
        held.extend(std::iter::from_fn(|| consumer.try_next()));
        received += held.len();
        // The second half first, every third later than the rest.
        let half = held.len() / 2;
        held.rotate_left(half);
        let (late, early): (Vec<_>, Vec<_>) =
            held.into_iter().enumerate().partition(|(place, _)| place % 3 == 0);
        early.into_iter().chain(late).for_each(|(_, delivery)| delivery.ack());
    }
    assert!(nothing_comes(&mut consumer).await);
    drop(consumer);
    assert!(nothing_comes(&mut rig.consume(32)).await);
}

async fn no_more_than_the_prefetch_is_on_hand(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    rig.publish((0..5).map(|_| batch(1)).collect()).await;
    let mut consumer = rig.consume(2);
    let (one, _two) = (next(&mut consumer).await, next(&mut consumer).await);
    assert!(nothing_comes(&mut consumer).await);
    one.ack();
    let _three = next(&mut consumer).await;
    assert!(nothing_comes(&mut consumer).await);
}

async fn a_paused_consumer_hands_out_nothing_and_others_get_it(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    let mut full = rig.consume(10);
    rig.publish((0..6).map(|_| batch(1)).collect()).await;
    next(&mut full).await.ack();
    full.pause();
    assert!(full.try_next().is_none());
    let mut free = rig.consume(10);
    for _ in 0..5 {
        next(&mut free).await.ack();
    }
    rig.publish(vec![batch(1)]).await;
    next(&mut free).await.ack();
    free.pause();
    rig.publish(vec![batch(1)]).await;
    assert!(nothing_comes(&mut full).await && nothing_comes(&mut free).await);
    full.resume();
    next(&mut full).await.ack();
}

async fn what_was_handed_out_before_a_pause_can_be_acked(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    rig.publish(vec![batch(1), batch(1)]).await;
    let mut consumer = rig.consume(10);
    let (one, two) = (next(&mut consumer).await, next(&mut consumer).await);
    consumer.pause();
    one.ack();
    consumer.resume();
    two.ack();
    assert!(nothing_comes(&mut consumer).await);
    drop(consumer);
    assert!(nothing_comes(&mut rig.consume(10)).await);
}

async fn pools_do_not_mix(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    let other = format!("other-{}", rig.pool).parse().unwrap();
    let (mine, theirs) = (batch(1), batch(2));
    rig.publish(vec![mine.clone()]).await;
    assert!(rig.bus.publish(&other, vec![theirs.clone()]).await[0].is_confirmed());
    let (mut first, mut second) = (rig.consume(10), rig.bus.consume(&other, 10));
    assert_eq!(next(&mut second).await.batch(), &theirs);
    assert_eq!(next(&mut first).await.batch(), &mine);
}

async fn an_old_hint_dies_and_is_counted(carrier: Carrier) {
    let rig = carrier.rig(|config| config.hint_ttl = Duration::from_millis(200)).await;
    rig.bus.watch_dead_letters();
    rig.publish(vec![batch(3)]).await;
    let labels = [("reason", "expired"), ("pool", rig.pool.as_str())];
    until("3 expired hints are counted", || metric("berth_hints_dead_total", &labels) == 3.0).await;
    assert!(nothing_comes(&mut rig.consume(10)).await);
}

async fn the_oldest_hints_die_in_a_full_queue(carrier: Carrier) {
    let rig = carrier.rig(|config| config.hint_max_length = 5).await;
    rig.bus.watch_dead_letters();
    let sent: Vec<_> = (0..8).map(|_| batch(1)).collect();
    for one in &sent {
        rig.publish(vec![one.clone()]).await;
    }
    let labels = [("reason", "maxlen"), ("pool", rig.pool.as_str())];
    until("3 hints too many are counted", || metric("berth_hints_dead_total", &labels) == 3.0)
        .await;
    let mut consumer = rig.consume(10);
    for expected in &sent[3..] {
        let delivery = next(&mut consumer).await;
        assert_eq!(delivery.batch(), expected);
        delivery.ack();
    }
}

async fn a_hint_that_is_returned_again_and_again_dies(carrier: Carrier) {
    let rig = carrier.rig(|config| config.hint_ttl = Duration::from_secs(5)).await;
    rig.bus.watch_dead_letters();
    rig.publish(vec![batch(1)]).await;
    let mut consumer = rig.consume(1);
    let mut times = 0;
    while let Ok(delivery) = clock::timeout(Duration::from_secs(1), consumer.next()).await {
        drop(delivery.unwrap());
        times += 1;
    }
    // A classic queue does not count.
    let (reason, enough) = match carrier {
        Carrier::Classic => ("expired", times > 21),
        Carrier::InProcess | Carrier::RabbitMq => ("delivery_limit", times == 21),
    };
    assert!(enough, "gone after {times} times");
    let labels = [("reason", reason), ("pool", rig.pool.as_str())];
    until("the hint is counted", || metric("berth_hints_dead_total", &labels) == 1.0).await;
    assert!(nothing_comes(&mut consumer).await);
}

async fn many_callers_publish_at_once(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    let calls = (0..20).map(|size| {
        let batches: Vec<_> = (0..size * 5).map(|_| batch(1)).collect();
        async { (batches.len(), rig.bus.publish(&rig.pool, batches).await) }
    });
    let mut sent = 0;
    for (count, received) in futures::future::join_all(calls).await {
        assert_eq!(received.len(), count);
        assert!(received.iter().all(|outcome| outcome.is_confirmed()));
        sent += count;
    }
    let mut consumer = rig.consume(100);
    for _ in 0..sent {
        next(&mut consumer).await.ack();
    }
    assert!(nothing_comes(&mut consumer).await);
}

async fn wake_ups_arrive_and_coalesce(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    let other = match carrier {
        Carrier::InProcess => None,
        Carrier::RabbitMq | Carrier::Classic => Some(rig.sibling().await),
    };
    let sender = other.as_ref().map_or(&rig.bus, |other| &other.bus);
    let wakeups = rig.bus.wakeups(&[Topic::Batcher, Topic::Output]);
    support::receives_wakeup(sender, &wakeups).await;

    for _ in 0..1000 {
        sender.wake(Topic::Output);
        sender.wake(Topic::ShardOwner);
    }
    let woken = clock::timeout(support::SOON, wakeups.next()).await.expect("no wake-up arrived");
    assert_eq!(woken, Topic::Output);
    let mut more = 0;
    while let Ok(topic) = clock::timeout(Duration::from_millis(200), wakeups.next()).await {
        assert_eq!(topic, Topic::Output, "nobody asked for {topic:?}");
        more += 1;
    }
    assert!(more <= 3, "1000 wake-ups at once were {} wake-ups", more + 1);
}

async fn a_shutdown_ends_the_consumer(carrier: Carrier) {
    let rig = carrier.rig(|_| {}).await;
    let mut consumer = rig.consume(10);
    assert!(consumer.next().now_or_never().is_none());
    rig.stop.shut_down();
    let ended = clock::timeout(support::SOON, consumer.next()).await.expect("it did not end");
    assert!(ended.is_none());
    rig.tasks.join_all(support::SOON).await.unwrap();
}
