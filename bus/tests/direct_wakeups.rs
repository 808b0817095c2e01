//! Wake-ups past the broker: who hears them, who does not, and that they come where there is no such way.

#![expect(clippy::unwrap_used, reason = "a test may fail this way")]

mod support;

use bus::{Bus, Topic, Wakeups};
use futures::{FutureExt, StreamExt};
use lapin::BasicProperties;
use runtime::clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::{Carrier, Rig, SOON, metric};
use tokio::net::UdpSocket;

/// Longer than anybody is called without having answered.
const FORGOTTEN: Duration = Duration::from_millis(250);

#[derive(Clone, Default)]
struct Acts(Arc<AtomicBool>);

impl Acts {
    fn set(&self, acts: bool) {
        self.0.store(acts, Ordering::Release);
    }

    fn listen(&self, bus: &Bus) -> Wakeups {
        let acts = Arc::clone(&self.0);
        bus.wakeups_while(Topic::Batcher, move || acts.load(Ordering::Acquire))
    }
}

fn direct() -> f64 {
    metric("berth_bus_wakes_direct_total", &[("topic", "batcher")])
}

/// Wakes once, and waits until it is heard.
async fn wake(sender: &Rig, wakeups: &Wakeups) {
    // The pause between two wake-ups: so each is sent on its own.
    clock::sleep(Duration::from_millis(10)).await;
    sender.bus.wake(Topic::Batcher);
    let heard = clock::timeout(SOON, wakeups.next()).await;
    assert!(heard.is_ok(), "a wake-up was lost");
}

/// Wakes until `often` more have gone past the broker; each is heard.
async fn wake_directly(sender: &Rig, wakeups: &Wakeups, often: u32) {
    let (before, began) = (direct(), clock::monotonic());
    while direct() < before + f64::from(often) {
        wake(sender, wakeups).await;
        assert!(began.elapsed() < SOON, "they go through the broker");
    }
}

async fn nothing_comes(wakeups: &Wakeups) -> bool {
    clock::timeout(Duration::from_millis(300), wakeups.next()).await.is_err()
}

#[tokio::test]
async fn who_acts_is_woken_past_the_broker_and_each_wake_up_is_heard() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let (sender, acts) = (rig.sibling().await, Acts::default());
    acts.set(true);
    let wakeups = acts.listen(&rig.bus);
    support::heard(&sender.bus, &wakeups).await;
    let mut through = rig.admin().await.wake_ups(&rig.config.queue_prefix, Topic::Batcher).await;
    let count = || metric("berth_bus_wakes_sent_total", &[("topic", "batcher")]) - direct();
    let before = count();
    wake_directly(&sender, &wakeups, 20).await;
    let mut went = 0.0;
    while clock::timeout(Duration::from_millis(300), through.next()).await.is_ok() {
        went += 1.0;
    }
    assert_eq!(went, count() - before, "not all others went through the broker, or more than they");
}

#[tokio::test]
async fn a_wake_up_that_goes_both_ways_is_one() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let (sender, acts) = (rig.sibling().await, Acts::default());
    acts.set(true);
    let wakeups = acts.listen(&rig.bus);
    support::heard(&sender.bus, &wakeups).await;
    wake_directly(&sender, &wakeups, 1).await;
    let count = || metric("berth_bus_wakes_received_total", &[("topic", "batcher")]);
    for _ in 0..3 {
        // It has not been answered for so long that the broker is asked again.
        clock::sleep(FORGOTTEN).await;
        let (before, directly) = (count(), direct());
        wake(&sender, &wakeups).await;
        assert_eq!(direct(), directly, "it went one way only");
        assert!(nothing_comes(&wakeups).await, "it came twice");
        assert_eq!(count(), before + 1.0);
    }
}

#[tokio::test]
async fn who_acts_next_is_woken_through_the_broker_first_and_then_past_it() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let (sender, other) = (rig.sibling().await, rig.sibling().await);
    let (acts, acts_next) = (Acts::default(), Acts::default());
    let (wakeups, next) = (acts.listen(&rig.bus), acts_next.listen(&other.bus));
    acts.set(true);
    support::heard(&sender.bus, &wakeups).await;
    wake_directly(&sender, &wakeups, 3).await;
    acts.set(false);
    clock::sleep(FORGOTTEN).await;
    let _before = next.notify(Topic::Batcher);
    while clock::timeout(Duration::from_millis(50), next.next()).await.is_ok() {}
    let directly = direct();
    wake(&sender, &next).await;
    assert_eq!(direct(), directly, "nobody answers");
    acts_next.set(true);
    wake_directly(&sender, &next, 3).await;
    // It ends, and nobody acts.
    drop(other);
    clock::sleep(FORGOTTEN).await;
    while clock::timeout(Duration::from_millis(50), wakeups.next()).await.is_ok() {}
    wake(&sender, &wakeups).await;
}

#[tokio::test]
async fn where_it_is_switched_off_all_go_through_the_broker() {
    for (sends, listens) in [(true, false), (false, true)] {
        let rig = Carrier::RabbitMq.rig(|config| config.direct_wakeups = listens).await;
        let mut config = rig.config.clone();
        config.direct_wakeups = sends;
        let (sender, acts) = (Rig::over(config), Acts::default());
        assert!(sender.bus.wait_connected(SOON).await);
        acts.set(true);
        let wakeups = acts.listen(&rig.bus);
        support::heard(&sender.bus, &wakeups).await;
        for _ in 0..10 {
            wake(&sender, &wakeups).await;
        }
        assert_eq!(direct(), 0.0);
    }
}

/// A socket of somebody, and the properties with which the broker would introduce it.
async fn somebody() -> (UdpSocket, BasicProperties) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let properties = BasicProperties::default()
        .with_reply_to(socket.local_addr().unwrap().to_string().into())
        .with_correlation_id(format!("{:032x}", 7).into())
        .with_message_id("1".into());
    (socket, properties)
}

#[tokio::test]
async fn only_who_was_introduced_by_the_broker_wakes_who_acts() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let (sender, acts) = (rig.sibling().await, Acts::default());
    let wakeups = acts.listen(&rig.bus);
    support::heard(&sender.bus, &wakeups).await;
    let (admin, prefix) = (rig.admin().await, rig.config.queue_prefix.as_str());
    let (socket, properties) = somebody().await;
    let mut bytes = [0; 64];
    // It does not act: it is woken, and does not answer.
    admin.wake(prefix, Topic::Batcher, properties.clone()).await;
    clock::timeout(SOON, wakeups.next()).await.unwrap();
    let answer = clock::timeout(Duration::from_millis(200), socket.recv_from(&mut bytes)).await;
    assert!(answer.is_err(), "it answered");
    acts.set(true);
    admin.wake(prefix, Topic::Batcher, properties.with_message_id("2".into())).await;
    clock::timeout(SOON, wakeups.next()).await.unwrap();
    let (length, listener) =
        clock::timeout(SOON, socket.recv_from(&mut bytes)).await.unwrap().unwrap();
    assert_eq!((length, &bytes[..16]), (33, 7_u128.to_be_bytes().as_slice()));

    let call = |secret: &[u8], number: u64| [secret, &number.to_be_bytes()].concat();
    let secret = bytes[16..32].to_vec();
    let wrong: Vec<u8> = secret.iter().map(|byte| !byte).collect();
    for nothing in [call(&wrong, 9), secret.clone(), Vec::new(), vec![0; 1000], call(&secret, 2)] {
        socket.send_to(&nothing, listener).await.unwrap();
        assert!(nothing_comes(&wakeups).await, "{nothing:?} woke it");
    }
    socket.send_to(&call(&secret, 3), listener).await.unwrap();
    clock::timeout(SOON, wakeups.next()).await.unwrap();
}

#[tokio::test]
async fn only_who_has_the_secret_from_the_broker_is_called() {
    let rig = Carrier::RabbitMq.rig(|_| {}).await;
    let sender = rig.sibling().await;
    let wakeups = rig.bus.wakeups(&[Topic::Batcher]);
    support::heard(&sender.bus, &wakeups).await;
    let mut through = rig.admin().await.wake_ups(&rig.config.queue_prefix, Topic::Batcher).await;
    wake(&sender, &wakeups).await;
    let introduced = clock::timeout(SOON, through.next()).await.unwrap().unwrap().unwrap();
    let properties = introduced.properties;
    let caller = properties.reply_to().clone().unwrap().to_string();
    let secret = properties.correlation_id().clone().unwrap().to_string();
    let secret = u128::from_str_radix(&secret, 16).unwrap();

    let (socket, _) = somebody().await;
    let answer = |secret: u128| {
        // "Call me with these sixteen bytes": the batcher's topic is the first bit.
        [secret.to_be_bytes().as_slice(), &[5; 16], &[1]].concat()
    };
    let mut bytes = [0; 64];
    for (secret, is_called) in [(!secret, false), (secret, true)] {
        socket.send_to(&answer(secret), &caller).await.unwrap();
        let called = async {
            loop {
                sender.bus.wake(Topic::Batcher);
                let called =
                    clock::timeout(Duration::from_millis(20), socket.recv_from(&mut bytes));
                if let Ok(called) = called.await {
                    break called.unwrap();
                }
            }
        };
        // Sent again and again: what must not happen is waited for less long.
        let limit = if is_called { SOON } else { Duration::from_millis(500) };
        let called = clock::timeout(limit, called).await;
        assert_eq!(called.is_ok(), is_called);
        if let Ok((length, from)) = called {
            assert_eq!((length, from.to_string()), (24, caller.clone()));
            assert_eq!(bytes[..16], [5; 16]);
        }
    }
    assert!(wakeups.next().now_or_never().is_some(), "the others still hear through the broker");
}
