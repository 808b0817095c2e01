//! RabbitMQ with TLS of a private CA, which wants to know who connects.
//!
//! One broker for all: it takes seconds to start, and no case harms it.

#![expect(clippy::unwrap_used, reason = "a test may fail this way")]

mod support;

use bus::{Bus, ConnectError};
use parking_lot::Mutex;
use runtime::config::{BusConfig, BusKind, SecretString};
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::io::{self, Write};
use std::time::Duration;
use support::{Rig, SOON, batch, config, next};
use tempfile::NamedTempFile;
use testkit::authority::Authority;
use testkit::poll::until_some;
use testkit::services::PrivateRabbit;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct ToLog;

impl Write for ToLog {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        LOG.lock().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The next line that says that the broker is unreachable.
async fn refusal() -> String {
    let line = || async {
        let log = std::mem::take(&mut *LOG.lock());
        let log = String::from_utf8_lossy(&log).into_owned();
        log.lines().find(|line| line.contains("is unreachable")).map(str::to_owned)
    };
    until_some("a line about the broker", SOON, line).await.unwrap()
}

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn path(file: &NamedTempFile) -> String {
    file.path().to_str().unwrap().to_owned()
}

/// Whether hints go through a bus with this configuration.
async fn works(config: &BusConfig) {
    let rig = Rig::over(config.clone());
    assert!(rig.bus.wait_connected(SOON).await, "no connection");
    let sent = vec![batch(3)];
    rig.publish(sent.clone()).await;
    let mut consumer = rig.consume(10);
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.batch(), &sent[0]);
    delivery.ack();
    rig.stop.shut_down();
    rig.tasks.join_all(SOON).await.unwrap();
}

/// What the log says of a bus that cannot connect.
async fn refused(config: BusConfig) -> String {
    let rig = Rig::over(config);
    let line = refusal().await;
    assert!(!rig.bus.wait_connected(Duration::from_millis(100)).await);
    rig.stop.shut_down();
    rig.tasks.join_all(SOON).await.unwrap();
    line
}

mod own_engines {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_broker_with_a_private_ca_is_trusted_by_name_of_its_file_and_no_other() {
        tracing_subscriber::fmt().with_writer(|| ToLog).with_ansi(false).init();
        let authority = Authority::new("a private CA").unwrap();
        let (broker, port) = PrivateRabbit::start_secret(&authority).await.unwrap();
        let plain = broker.url().unwrap();
        let password = plain.split(':').nth(2).unwrap().split('@').next().unwrap();
        let own = authority.issue("berth").unwrap();
        let (ca, certificate, key) =
            (file(&authority.certificate), file(&own.certificate), file(&own.key));
        let other = file(&Authority::new("another CA").unwrap().certificate);
        let url = format!("amqps://berth:{password}@localhost:{port}/%2f");
        let good = BusConfig {
            ca_file: path(&ca),
            client_cert_file: path(&certificate),
            client_key_file: path(&key),
            ..config(BusKind::RabbitMq, &url, "secret")
        };
        works(&good).await;
        // The certificate in the place of user and password.
        let external = format!("amqps://localhost:{port}/%2f?auth_mechanism=external");
        works(&BusConfig { url: SecretString::from(external), ..good.clone() }).await;

        for (ca_file, url) in [(String::new(), &url), (path(&other), &url)] {
            let url = SecretString::from(url.clone());
            let line = refused(BusConfig { ca_file, url, ..good.clone() }).await;
            assert!(line.contains("UnknownIssuer") && line.contains("`bus.ca_file`"), "{line}");
        }
        let none = || (String::new(), String::new());
        let (client_cert_file, client_key_file) = none();
        let line = refused(BusConfig { client_cert_file, client_key_file, ..good.clone() }).await;
        assert!(line.contains("`bus.client_cert_file`"), "{line}");
        assert!(!LOG.lock().windows(password.len()).any(|part| part == password.as_bytes()));
    }
}

#[tokio::test]
async fn files_that_cannot_be_used_end_the_start_and_are_named() {
    let authority = Authority::new("a private CA").unwrap();
    let (one, two) = (authority.issue("one").unwrap(), authority.issue("two").unwrap());
    let (ca, certificate) = (file(&authority.certificate), file(&one.certificate));
    let (key, other) = (file(&one.key), file(&two.key));
    let good = BusConfig {
        ca_file: path(&ca),
        client_cert_file: path(&certificate),
        client_key_file: path(&key),
        ..config(BusKind::RabbitMq, "amqps://localhost:1/%2f", "secret")
    };
    let connect = |config: &BusConfig| {
        let (_stop, shutdown) = Shutdown::new();
        match Bus::connect(config, &TaskGroup::new(), &shutdown) {
            Err(error @ ConnectError::Tls(_)) => error.to_string(),
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    let missing = "/no/such/file.pem".to_owned();
    let of = |ca_file: &str| BusConfig { ca_file: ca_file.to_owned(), ..good.clone() };
    for (config, words) in [
        (of(&missing), ["`bus.ca_file`", "cannot be read"]),
        (of(&path(&key)), ["`bus.ca_file`", "holds no certificate"]),
        (
            BusConfig { client_cert_file: missing.clone(), ..good.clone() },
            ["`bus.client_cert_file`", &missing],
        ),
        (
            BusConfig { client_key_file: path(&ca), ..good.clone() },
            ["`bus.client_key_file`", "holds no private key"],
        ),
        (
            BusConfig { client_key_file: String::new(), ..good.clone() },
            ["`bus.client_cert_file` is set", "`bus.client_key_file` is not"],
        ),
        (
            BusConfig { client_key_file: path(&other), ..good.clone() },
            ["`bus.client_key_file`", "cannot be used together"],
        ),
    ] {
        let error = connect(&config);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
}
