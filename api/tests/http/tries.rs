//! Guessing (C8, C9): how often, from where, and what is learnt by it.

use crate::client::{Answer, request};
use crate::server::Server;
use crate::users::{JWT, PASSWORD, server, sign_in, user};
use domain::access::Role;
use serde_json::json;
use std::time::Duration;

/// A try with headers that claim to come from elsewhere.
async fn forging(server: &Server, email: &str, password: &str, n: usize) -> Answer {
    let body = json!({"tenant": "first", "email": email, "password": password}).to_string();
    let claimed = format!("203.0.{}.{}", n / 250, n % 250);
    let forwarded = format!("for={claimed}");
    let headers = [
        ("Content-Type", "application/json"),
        ("X-Forwarded-For", claimed.as_str()),
        ("X-Real-IP", claimed.as_str()),
        ("Forwarded", forwarded.as_str()),
    ];
    request(server.addr, "POST", "/v1/sessions", &headers, body.as_bytes()).await
}

/// Tries that were let through to the password.
async fn counted(server: &Server) -> i64 {
    let sql = "select coalesce(max(cardinality(times)), 0) from sign_in_attempt";
    server.db.sql(sql).await.unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn an_account_is_tried_ten_times_whatever_the_headers_say_and_then_by_its_owner_again() {
    let server = server().await;
    let twin = server.twin_with(&[JWT]).await;
    user(&server, "victim@example.com", Role::Viewer).await;
    let mut verified = 0;
    for n in 0..60 {
        let answer = forging(&server, "victim@example.com", "wrong, wrong, wrong", n).await;
        match answer.status {
            401 => verified += 1,
            429 => {
                assert_eq!(answer.code(), "too_many_attempts");
                let wait: u32 = answer.header("retry-after").unwrap().parse().unwrap();
                assert!((800..=901).contains(&wait), "{wait}");
            }
            other => panic!("{other}: {answer:?}"),
        }
    }
    assert_eq!(verified, 10);
    // Not even the right password, and not on another process.
    assert_eq!(sign_in(&server, "victim@example.com", PASSWORD).await.status, 429);
    let body =
        json!({"tenant": "first", "email": "Victim@example.com", "password": PASSWORD}).to_string();
    let headers = [("Content-Type", "application/json")];
    let there = request(twin.addr, "POST", "/v1/sessions", &headers, body.as_bytes()).await;
    assert_eq!(there.status, 429);
    // A quarter of an hour later.
    let later = "update sign_in_attempt set times = array(select t - interval '15 minutes' from unnest(times) t)";
    server.db.sql(later).await.unwrap();
    assert_eq!(sign_in(&server, "victim@example.com", PASSWORD).await.status, 201);
}

#[tokio::test]
async fn tries_at_once_do_not_pass_together() {
    let server = server().await;
    user(&server, "victim@example.com", Role::Viewer).await;
    let tries = (0..40).map(|n| forging(&server, "victim@example.com", "wrong, wrong, wrong", n));
    let answers = futures::future::join_all(tries).await;
    let verified = answers.iter().filter(|answer| answer.status == 401).count();
    assert!((1..=10).contains(&verified), "{verified}");
    assert!(answers.iter().all(|answer| [401, 429, 503].contains(&answer.status)));
    assert!(counted(&server).await <= 40);
}

#[tokio::test]
async fn a_spray_over_accounts_is_stopped_at_a_hundred_an_hour_from_one_place() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    let mut verified = 0;
    // Those that were let through take their time; what comes after the limit does not.
    for n in 0..130 {
        let answer =
            forging(&server, &format!("someone{n}@example.com"), "wrong, wrong, wrong", n).await;
        verified += usize::from(answer.status == 401);
    }
    assert_eq!(verified, 100);
    let own = sign_in(&server, "ann@example.com", PASSWORD).await;
    assert_eq!(own.status, 429, "nor the right one, from there");
}

#[tokio::test]
async fn behind_a_listed_proxy_each_client_counts_by_itself_and_what_it_claims_does_not() {
    let server = Server::start_with(&[JWT, ("BERTH_API__TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    let body = |n: usize| {
        json!({"tenant": "first", "email": format!("x{n}@example.com"), "password": "wrong, wrong, wrong"}).to_string()
    };
    // The proxy appends who connected to it; what the client sent stands left of that.
    let from = async |claimed: String, client: &str, n: usize| {
        let forwarded = format!("{claimed}, {client}");
        let headers =
            [("Content-Type", "application/json"), ("X-Forwarded-For", forwarded.as_str())];
        request(server.addr, "POST", "/v1/sessions", &headers, body(n).as_bytes()).await.status
    };
    let mut verified = 0;
    for n in 0..110 {
        let status = from(format!("203.0.113.{n}"), "198.51.100.7", n).await;
        verified += usize::from(status == 401);
    }
    assert_eq!(verified, 100);
    assert_eq!(from("198.51.100.7".to_owned(), "198.51.100.8", 200).await, 401, "a neighbour");
}

#[tokio::test]
async fn who_signs_in_rightly_is_not_counted() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    for _ in 0..15 {
        assert_eq!(sign_in(&server, "ann@example.com", PASSWORD).await.status, 201);
    }
    assert_eq!(counted(&server).await, 0);
}

/// What is measured has the machine to itself.
mod alone {
    use super::*;

    /// C9, with fewer rounds than the row's: Mann-Whitney over times of answers for an account that exists and one that does not.
    #[tokio::test]
    async fn whether_an_account_exists_cannot_be_told_from_the_answer_or_its_time() {
        const ROUNDS: usize = 60;
        let server = server().await;
        user(&server, "ann@example.com", Role::Viewer).await;
        let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
        let mut bodies = std::collections::BTreeSet::new();
        for round in 0..ROUNDS {
            // Which comes first changes, so that what a round leaves behind is nobody's advantage.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for which in order {
                let email = ["ann@example.com", "nobody@example.com"][which];
                server.db.sql("delete from sign_in_attempt").await.unwrap();
                let asked = runtime::clock::monotonic();
                let answer = sign_in(&server, email, "wrong, wrong, wrong").await;
                times[which].push(asked.elapsed());
                let mut body = answer.json();
                body.as_object_mut().unwrap().remove("request_id");
                bodies.insert(format!("{} {body}", answer.status));
            }
        }
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        let median = |times: &[Duration]| {
            let mut sorted = times.to_vec();
            sorted.sort_unstable();
            sorted[sorted.len() / 2]
        };
        let [known, unknown] = &times;
        let apart = median(known).abs_diff(median(unknown));
        let p = mann_whitney(known, unknown);
        println!(
            "medians {:?} and {:?}, {apart:?} apart, p = {p:.3}",
            median(known),
            median(unknown)
        );
        assert!(apart < Duration::from_millis(2) || p > 0.01, "{apart:?} apart, p = {p}");
        // That the test can see a difference: half a hash more would be one.
        let slower: Vec<_> = known.iter().map(|time| *time + median(known) / 2).collect();
        assert!(mann_whitney(&slower, unknown) < 0.01);
    }
}

/// Two-sided p of the rank sum, by the normal approximation.
fn mann_whitney(a: &[Duration], b: &[Duration]) -> f64 {
    let (n, m) = (a.len() as f64, b.len() as f64);
    let wins: f64 = a
        .iter()
        .flat_map(|x| b.iter().map(move |y| x.cmp(y)))
        .map(|order| match order {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
        .sum();
    let z = (wins - n * m / 2.0).abs() / (n * m * (n + m + 1.0) / 12.0).sqrt();
    // The upper tail of the normal distribution, by Abramowitz and Stegun 26.2.17; good to 1e-7.
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let poly = t
        * (0.319_381_53
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    2.0 * poly * (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt()
}
