//! What only a broker can do to us: queues that vanish, messages nobody can read, a bad network.

#![expect(clippy::unwrap_used, reason = "a test may fail this way")]

mod support;

use bus::{PublishOutcome, Topic};
use futures::FutureExt;
use lapin::types::{AMQPValue, FieldTable};
use runtime::clock;
use runtime::config::{BusKind, ExposeSecret, SecretString};
use std::collections::HashSet;
use std::time::Duration;
use support::{Carrier, Rig, SOON, batch, metric, next, nothing_comes, until};
use testkit::proxy::{Mode, Proxy};

/// The publish limit of these tests, and a little for a loaded machine.
const ANSWERED: Duration = Duration::from_millis(2500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_is_away_is_passed_over() {
    // Whichever of them is first by chance.
    for _ in 0..3 {
        let away = |config: &mut runtime::config::BusConfig| {
            let url = config
                .url
                .expose_secret()
                .replace("@127.0.0.1:", "@127.0.0.1:1,127.0.0.1:2,127.0.0.1:");
            config.url = url.into();
        };
        let rig = Carrier::RabbitMq.rig(away).await;
        let mut consumer = rig.consume(1);
        rig.publish(vec![batch(1)]).await;
        next(&mut consumer).await.ack();
    }
}

#[tokio::test]
async fn what_is_published_to_a_deleted_queue_is_returned_and_the_queue_made_again() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    rig.publish(vec![batch(1)]).await;
    let admin = rig.admin().await;
    for _ in 0..5 {
        admin.delete(&rig.queue()).await;
        let outcomes = rig.bus.publish(&rig.pool, (0..300).map(|_| batch(1)).collect()).await;
        assert_eq!(
            outcomes.iter().collect::<HashSet<_>>(),
            HashSet::from([&PublishOutcome::Returned])
        );
        rig.publish((0..300).map(|_| batch(1)).collect()).await;
    }
    assert_eq!(metric("berth_bus_late_returns_total", &[]), 0.0);
}

#[tokio::test]
async fn a_returned_message_does_not_affect_its_neighbours() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let whole: domain::id::PoolName = format!("whole-{}", rig.pool).parse().unwrap();
    assert!(rig.bus.publish(&whole, vec![batch(1)]).await[0].is_confirmed());
    let admin = rig.admin().await;
    for _ in 0..5 {
        rig.publish(vec![batch(1)]).await;
        admin.delete(&rig.queue()).await;
        let to = |pool| rig.bus.publish(pool, (0..200).map(|_| batch(1)).collect());
        let (gone, here) = tokio::join!(to(&rig.pool), to(&whole));
        assert!(gone.iter().all(|outcome| *outcome == PublishOutcome::Returned), "{gone:?}");
        assert!(here.iter().all(|outcome| outcome.is_confirmed()), "{here:?}");
    }
}

#[tokio::test]
async fn hints_flow_on_after_their_queue_was_deleted_under_load() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let admin = rig.admin().await;
    let mut consumer = rig.consume(100);
    // It consumes by now: on a busy machine all rounds might else be over before it has subscribed.
    rig.publish(vec![batch(1)]).await;
    next(&mut consumer).await.ack();
    let (mut confirmed, mut consumed) = (0, 0);
    for round in 0..60 {
        if round % 20 == 10 {
            admin.delete(&rig.queue()).await;
        }
        let outcomes = rig.bus.publish(&rig.pool, (0..50).map(|_| batch(1)).collect()).await;
        confirmed += outcomes.iter().filter(|outcome| outcome.is_confirmed()).count();
        while let Some(delivery) = consumer.try_next() {
            consumed += 1;
            delivery.ack();
        }
    }
    assert!(confirmed > 2000 && consumed > 0, "{confirmed} confirmed, {consumed} consumed");
    // Whatever was lost with the queues: a new hint arrives.
    let last = batch(1);
    rig.publish(vec![last.clone()]).await;
    loop {
        let delivery = next(&mut consumer).await;
        let found = *delivery.batch() == last;
        delivery.ack();
        if found {
            break;
        }
    }
}

#[tokio::test]
async fn a_waiting_consumer_survives_its_queue() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let mut consumer = rig.consume(10);
    rig.publish(vec![batch(1)]).await;
    let held = next(&mut consumer).await;
    rig.admin().await.delete(&rig.queue()).await;
    let labels = [("pool", rig.pool.as_str())];
    until("the consumer is cancelled", || {
        metric("berth_bus_consumer_cancels_total", &labels) == 1.0
    })
    .await;
    held.ack();
    assert!(metric("berth_bus_late_acks_total", &[]) >= 1.0);
    // Nobody published meanwhile: the consumer itself has declared the queue.
    rig.until_confirmed().await;
    next(&mut consumer).await.ack();
}

#[tokio::test]
async fn a_message_nobody_can_read_is_dropped_and_counted() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let good = batch(1);
    rig.publish(vec![]).await;
    let mut consumer = rig.consume(2);
    rig.until_confirmed().await;
    next(&mut consumer).await.ack();
    let admin = rig.admin().await;
    for body in [&b""[..], b"\x09from the future", b"\x01\x02\x03", b"{\"json\":true}"] {
        admin.put(&rig.queue(), body).await;
    }
    rig.publish(vec![good.clone()]).await;
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.batch(), &good);
    delivery.ack();
    let labels = [("pool", rig.pool.as_str())];
    until("4 messages are dropped", || metric("berth_bus_undecodable_total", &labels) == 4.0).await;
    drop(consumer);
    assert!(nothing_comes(&mut rig.consume(10)).await);
}

#[tokio::test]
async fn a_queue_with_other_settings_is_used_as_it_is() {
    let mut rig = Carrier::RabbitMq.rig(|_| {}).await;
    rig.pool = format!("older-{}", rig.pool).parse().unwrap();
    let mut other = FieldTable::default();
    other.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    rig.admin().await.declare(&rig.queue(), other).await;
    rig.publish(vec![batch(1)]).await;
    next(&mut rig.consume(10)).await.ack();
}

#[tokio::test]
async fn without_a_broker_a_publish_is_answered_at_once_and_a_wake_up_forgotten() {
    // Bound and never listening: nobody else can answer there.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("amqp://guest:guest@{}/%2f", socket.local_addr().unwrap());
    let rig = Rig::over(support::config(BusKind::RabbitMq, &url, "nobody"));
    let began = clock::monotonic();
    assert_eq!(rig.publish_one().await, PublishOutcome::ConnectionLost);
    rig.bus.wake(Topic::Batcher);
    assert!(began.elapsed() < Duration::from_millis(200));
    assert!(!rig.bus.wait_connected(Duration::from_millis(300)).await);
}

#[tokio::test]
async fn a_wake_up_of_this_process_comes_at_once_and_not_again_from_the_broker() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let other = rig.sibling().await;
    let wakeups = rig.bus.wakeups(&[Topic::Batcher, Topic::Output]);
    let others = other.bus.wakeups(&[Topic::Output]);
    // Both listen to the broker.
    support::receives_wakeup(&other.bus, &wakeups).await;
    clock::timeout(SOON, others.next()).await.unwrap();
    rig.bus.wake(Topic::Output);
    assert_eq!(wakeups.next().now_or_never(), Some(Topic::Output));
    assert_eq!(clock::timeout(SOON, others.next()).await.unwrap(), Topic::Output);
    let again = clock::timeout(Duration::from_millis(200), wakeups.next()).await;
    assert!(again.is_err(), "it came from the broker, too");
    rig.bus.wake_here(Topic::Output);
    assert_eq!(wakeups.next().now_or_never(), Some(Topic::Output));
    let elsewhere = clock::timeout(Duration::from_millis(200), others.next()).await;
    assert!(elsewhere.is_err(), "it was for this process only");
}

#[tokio::test]
async fn a_wake_up_goes_at_once_and_those_within_the_interval_go_as_one() {
    let interval = Duration::from_millis(500);
    let rig = Carrier::RabbitMq.rig(|config| config.wake_interval = interval).await;
    let sender = rig.sibling().await;
    let wakeups = rig.bus.wakeups(&[Topic::Batcher, Topic::Output]);
    support::receives_wakeup(&sender.bus, &wakeups).await;
    // The interval of the last one, and the one that is pending then.
    while clock::timeout(2 * interval, wakeups.next()).await.is_ok() {}

    let first = clock::monotonic();
    sender.bus.wake(Topic::Output);
    let next = || clock::timeout(SOON, wakeups.next());
    assert_eq!(next().await.unwrap(), Topic::Output);
    assert!(first.elapsed() < interval, "it waited {:?}", first.elapsed());
    for _ in 0..10 {
        sender.bus.wake(Topic::Output);
    }
    assert_eq!(next().await.unwrap(), Topic::Output);
    assert!(first.elapsed() >= interval, "the second followed after {:?}", first.elapsed());
    let more = clock::timeout(2 * interval, wakeups.next()).await;
    assert!(more.is_err(), "ten wake-ups within the interval were more than one message");
}

#[tokio::test]
async fn a_reset_connection_is_replaced_and_open_deliveries_come_again() {
    let (rig, proxy) = behind_a_proxy().await;
    rig.publish(vec![batch(1), batch(1)]).await;
    let mut consumer = rig.consume(10);
    let (first, second) = (next(&mut consumer).await, next(&mut consumer).await);
    let expected = [first.batch().clone(), second.batch().clone()];
    proxy.set(Mode::Reset);
    until("the publishing connection is lost", || {
        metric("berth_bus_connections_lost_total", &[]) >= 2.0
    })
    .await;
    let late = metric("berth_bus_late_acks_total", &[]);
    first.ack();
    drop(second);
    until("late settlements are counted", || {
        metric("berth_bus_late_acks_total", &[]) == late + 2.0
    })
    .await;
    proxy.set(Mode::Pass);
    for _ in 0..2 {
        let again = next(&mut consumer).await;
        assert!(again.redelivered() && expected.contains(again.batch()));
        again.ack();
    }
    rig.until_confirmed().await;
}

#[tokio::test]
async fn an_ack_reaches_the_broker_though_no_other_follows() {
    let (rig, proxy) = behind_a_proxy().await;
    let mut consumer = rig.consume(10);
    rig.publish(vec![batch(100)]).await;
    next(&mut consumer).await.ack();
    clock::sleep(Duration::from_millis(200)).await;
    // From here on an ack that was not sent is lost.
    proxy.set(Mode::Reset);
    until("the connection is lost", || metric("berth_bus_connections_lost_total", &[]) >= 1.0)
        .await;
    proxy.set(Mode::Pass);
    rig.until_confirmed().await;
    let other = next(&mut consumer).await;
    assert!(!other.redelivered(), "what was acked was delivered again");
    other.ack();
}

#[tokio::test]
async fn a_black_hole_is_noticed_and_everything_comes_back_by_itself() {
    let (rig, proxy) = behind_a_proxy().await;
    let mut consumer = rig.consume(10);
    let wakeups = rig.bus.wakeups(&[Topic::Batcher]);
    rig.publish(vec![batch(1)]).await;
    next(&mut consumer).await.ack();

    proxy.set(Mode::Blackhole);
    let mut outcomes = HashSet::new();
    let began = clock::monotonic();
    while began.elapsed() < Duration::from_secs(5) {
        let started = clock::monotonic();
        outcomes.insert(rig.publish_one().await);
        assert!(started.elapsed() < ANSWERED, "answered after {:?}", started.elapsed());
        clock::sleep(Duration::from_millis(50)).await;
    }
    assert!(
        outcomes.contains(&PublishOutcome::TimedOut)
            && !outcomes.contains(&PublishOutcome::Confirmed),
        "{outcomes:?}"
    );
    assert!(
        outcomes.contains(&PublishOutcome::ConnectionLost),
        "the loss was not noticed: {outcomes:?}"
    );

    let _missed = wakeups.notify(Topic::Batcher);
    proxy.set(Mode::Pass);
    let healed = clock::monotonic();
    rig.until_confirmed().await;
    // Those that timed out may come too.
    next(&mut consumer).await.ack();
    clock::timeout(SOON, wakeups.next()).await.unwrap();
    assert!(healed.elapsed() < SOON, "back after {:?}", healed.elapsed());
    until("no thread of a dead connection is left", || io_threads() <= 2).await;
}

#[tokio::test]
async fn answers_that_get_lost_do_not_hang_a_publish() {
    let (rig, proxy) = behind_a_proxy().await;
    rig.publish(vec![batch(1)]).await;
    proxy.set(Mode::DropReplies);
    let started = clock::monotonic();
    let outcomes = rig.bus.publish(&rig.pool, (0..500).map(|_| batch(1)).collect()).await;
    assert!(started.elapsed() < ANSWERED);
    assert!(
        outcomes.iter().all(|outcome| *outcome == PublishOutcome::TimedOut),
        "{:?}",
        outcomes[0]
    );
    proxy.set(Mode::Reset);
    until("the connection is lost", || metric("berth_bus_connections_lost_total", &[]) >= 1.0)
        .await;
    proxy.set(Mode::Pass);
    rig.until_confirmed().await;
    // The broker had them all along: published again they are there twice, and nobody minds.
    let mut consumer = rig.consume(100);
    for _ in 0..502 {
        next(&mut consumer).await.ack();
    }
}

/// A rig whose every byte goes through the proxy.
async fn behind_a_proxy() -> (Rig, Proxy) {
    let mut rig = Carrier::RabbitMq.rig(|_| {}).await;
    let url = rig.config.url.expose_secret().to_owned();
    let address = url.rsplit('@').next().unwrap().split('/').next().unwrap();
    let proxy = Proxy::start(address).await.unwrap();
    rig.config.url = SecretString::from(proxy.url(&url).unwrap());
    let through = rig.sibling().await;
    rig.stop.shut_down();
    (through.keeping(&rig), proxy)
}

/// Threads of lapin in this process, one a connection.
fn io_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("lapin-io")).count()
}
