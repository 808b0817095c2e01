//! A tenant's limits over three api processes that count in one Redis.

use crate::client::request;
use crate::limits::{early_in_the_hour, limited};
use crate::server::{ALL_SCOPES, NOOP, Server, Twin};
use futures::future::join_all;
use runtime::clock::{monotonic, sleep};
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use testkit::poll::until_some;
use testkit::services::TestRedis;

const PER_SECOND: u32 = 200;
const BURST: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(10);

struct Replicas {
    server: Server,
    _twins: [Twin; 2],
    addrs: [SocketAddr; 3],
    _redis: TestRedis,
}

/// Three api processes, and a tenant with these rates; ready when all three count in Redis and the bucket is full.
async fn replicas(rates: (u32, u32, u32)) -> Replicas {
    let redis = TestRedis::new().await.unwrap();
    let settings = [
        ("BERTH_REDIS__URL", redis.url()),
        ("BERTH_REDIS__KEY_PREFIX", redis.key_prefix()),
        // Other tests have the same two cores.
        ("BERTH_REDIS__COMMAND_TIMEOUT", "2s"),
    ];
    let server = limited(&settings, rates).await;
    let twins = [server.twin_with(&settings).await, server.twin_with(&settings).await];
    let addrs = [server.addr, twins[0].addr, twins[1].addr];
    for addr in addrs {
        until_some("Redis to count", PATIENCE, || counts_in_redis(addr, &server.key))
            .await
            .unwrap();
    }
    // A new Redis begins with empty buckets; the others have counted for longer than it takes to fill.
    sleep(Duration::from_secs_f64(f64::from(rates.1) / f64::from(rates.0))).await;
    Replicas { server, _twins: twins, addrs, _redis: redis }
}

async fn counts_in_redis(addr: SocketAddr, key: &str) -> Option<()> {
    let bearer = format!("Bearer {key}");
    let answer = request(addr, "GET", "/v1/tasks", &[("Authorization", &bearer)], b"").await;
    (!answer.header("ratelimit-policy")?.contains("berth-local")).then_some(())
}

/// One way of sending: tasks of a request, and how it is written.
#[derive(Clone, Copy)]
enum Way {
    Single,
    Batch(usize),
    Lines(usize),
}

impl Way {
    fn tasks(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Batch(count) | Self::Lines(count) => count,
        }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Sent {
    tasks: u64,
    admitted: u64,
    requests: u64,
}

/// Sends tasks at `per_second` in this way for `length`, over all addresses and keys in turn. Nothing but success, 401 and 429 may
/// be the answer.
async fn flood(
    addrs: &[SocketAddr],
    authorizations: &[String],
    (way, per_second): (Way, u32),
    length: Duration,
) -> Sent {
    const WORKERS: usize = 12;
    let pause = Duration::from_secs_f64((WORKERS * way.tasks()) as f64 / f64::from(per_second));
    let began = monotonic();
    let workers = (0..WORKERS).map(|worker| async move {
        let (mut sent, mut number) = (Sent::default(), worker);
        let mut next = began + pause.mul_f64(worker as f64 / WORKERS as f64);
        while next < began + length {
            runtime::clock::sleep_until(next).await;
            next += pause;
            let authorization = &authorizations[number % authorizations.len()];
            sent.admitted += post(addrs[number % addrs.len()], authorization, way).await;
            sent.tasks += way.tasks() as u64;
            sent.requests += 1;
            number += 7;
        }
        sent
    });
    join_all(workers).await.into_iter().fold(Sent::default(), |a, b| Sent {
        tasks: a.tasks + b.tasks,
        admitted: a.admitted + b.admitted,
        requests: a.requests + b.requests,
    })
}

async fn post(addr: SocketAddr, authorization: &str, way: Way) -> u64 {
    let (path, kind, body) = match way {
        Way::Single => ("/v1/tasks", "application/json", NOOP.to_owned()),
        Way::Batch(count) => {
            let tasks = vec![json!({"run": {"noop": {}}}); count];
            ("/v1/tasks/batch", "application/json", json!({ "tasks": tasks }).to_string())
        }
        Way::Lines(count) => {
            ("/v1/tasks/batch", "application/x-ndjson", format!("{NOOP}\n").repeat(count))
        }
    };
    let headers = [("Authorization", authorization), ("Content-Type", kind)];
    let answer = request(addr, "POST", path, &headers, body.as_bytes()).await;
    match (answer.status, way) {
        (201, Way::Single) => 1,
        (200, Way::Batch(_)) => answer.json()["accepted"].as_u64().unwrap(),
        (200, Way::Lines(_)) => {
            let text = std::str::from_utf8(&answer.body).unwrap();
            let summary: serde_json::Value =
                serde_json::from_str(text.lines().last().unwrap()).unwrap();
            summary["accepted"].as_u64().unwrap()
        }
        (401 | 429, _) => 0,
        _ => panic!("{answer:?}"),
    }
}

async fn stored(server: &Server) -> u64 {
    server.db.sql("select count(*) from task").await.unwrap().trim().parse().unwrap()
}

/// Calls to Redis by all three, which share one process here.
fn redis_calls() -> f64 {
    let text = runtime::metrics::render();
    let calls = text.lines().filter(|line| line.starts_with("berth_limit_redis_calls_total"));
    calls.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

#[tokio::test]
async fn no_way_of_sending_passes_the_limit_of_a_tenant() {
    let replicas = replicas((PER_SECOND, BURST, 0)).await;
    let (server, addrs) = (&replicas.server, replicas.addrs);
    let bearer = format!("Bearer {}", server.key);
    // In another case: of the scheme it is the same key, of the key none at all.
    let cases = [
        bearer.clone(),
        format!("bearer {}", server.key),
        format!("BEARER {}", server.key),
        format!("Bearer {}", server.key.to_uppercase()),
    ];
    let mut keys = vec![bearer.clone()];
    for _ in 0..5 {
        keys.push(format!("Bearer {}", server.new_key(server.tenant, &ALL_SCOPES).await));
    }
    let one = vec![bearer];
    let three_times = 3 * PER_SECOND;
    let evasions: [(&str, &[String], &[SocketAddr], Way); 5] = [
        ("the key in other cases", &cases, &addrs[..1], Way::Single),
        ("many keys", &keys, &addrs[..1], Way::Single),
        ("many connections at all replicas", &one, &addrs, Way::Single),
        ("batches", &one, &addrs, Way::Batch(100)),
        ("lines over many keys", &keys, &addrs, Way::Lines(50)),
    ];
    for (evasion, keys, addrs, way) in evasions {
        let (before, began) = (stored(server).await, monotonic());
        let sent = flood(addrs, keys, (way, three_times), Duration::from_secs(2)).await;
        let (took, admitted) = (began.elapsed().as_secs_f64(), stored(server).await - before);
        assert_eq!(admitted, sent.admitted, "{evasion}: what was answered is what is stored");
        let limit = f64::from(BURST) + took * f64::from(PER_SECOND);
        let figure = format!("{evasion}: {admitted} of {} admitted, limit {limit:.0}", sent.tasks);
        eprintln!("{figure}");
        assert!(admitted as f64 <= 1.05 * limit, "{figure}");
        assert!(sent.tasks as f64 > 1.5 * limit, "no overload: {figure}");
        // Of batches that come once in a while the bucket, which is small, runs over in between.
        let least = if way.tasks() > BURST as usize { 0.3 } else { 0.8 };
        assert!(admitted as f64 >= least * 2.0 * f64::from(PER_SECOND), "{figure}");
    }
}

#[tokio::test]
async fn three_replicas_at_three_times_the_limit_admit_it_within_5_percent() {
    let replicas = replicas((PER_SECOND, PER_SECOND, 0)).await;
    let (server, addrs) = (&replicas.server, replicas.addrs);
    let mut keys = vec![format!("Bearer {}", server.key)];
    for _ in 0..9 {
        keys.push(format!("Bearer {}", server.new_key(server.tenant, &ALL_SCOPES).await));
    }
    // The burst goes first; what is measured is the steady flow after it.
    flood(&addrs, &keys, (Way::Batch(10), 3 * PER_SECOND), Duration::from_secs(2)).await;
    let (before, calls, began) = (stored(server).await, redis_calls(), monotonic());
    let length = Duration::from_secs(6);
    let (singles, batches, lines) = tokio::join!(
        flood(&addrs, &keys, (Way::Single, 2 * PER_SECOND), length),
        flood(&addrs, &keys, (Way::Batch(10), PER_SECOND / 2), length),
        flood(&addrs, &keys, (Way::Lines(7), PER_SECOND / 2), length),
    );
    let took = began.elapsed().as_secs_f64();
    let admitted = (stored(server).await - before) as f64;
    let calls = redis_calls() - calls;
    let share = admitted / (took * f64::from(PER_SECOND));
    let requests = singles.requests + batches.requests + lines.requests;
    let tasks = singles.tasks + batches.tasks + lines.tasks;
    let a_request = calls / requests as f64;
    eprintln!(
        "{share:.3} of the limit, {tasks} tasks in {requests} requests, {a_request:.3} calls to Redis a request"
    );
    assert!(tasks as f64 >= 2.5 * took * f64::from(PER_SECOND), "no overload");
    assert!((0.95..=1.05).contains(&share), "{share}");
}

#[tokio::test]
async fn a_busy_tenant_costs_redis_next_to_nothing() {
    let replicas = replicas((10_000, 20_000, 0)).await;
    let addrs = replicas.addrs;
    let bearer = vec![format!("Bearer {}", replicas.server.key)];
    let calls = redis_calls();
    let sent = flood(&addrs, &bearer, (Way::Single, 600), Duration::from_secs(5)).await;
    let calls = redis_calls() - calls;
    let a_request = calls / sent.requests as f64;
    eprintln!("{calls} calls for {} requests: {a_request:.4} a request", sent.requests);
    assert_eq!(sent.admitted, sent.tasks);
    assert!(sent.requests > 1000 && calls > 0.0);
    assert!(a_request <= 0.05, "{a_request}");
}

#[tokio::test]
async fn an_hour_is_counted_over_all_replicas() {
    early_in_the_hour().await;
    let replicas = replicas((1000, 1000, 50)).await;
    let bearer = format!("Bearer {}", replicas.server.key);
    let mut admitted = 0;
    for (addr, count) in replicas.addrs.iter().cycle().zip([20, 20, 20, 20, 1, 1, 1]) {
        admitted += post(*addr, &bearer, Way::Batch(count)).await;
    }
    assert_eq!(admitted, 50);
    assert_eq!(stored(&replicas.server).await, 50);
}
