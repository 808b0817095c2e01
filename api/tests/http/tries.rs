//! Guessing (C8): how often, and from where.

use crate::client::{Answer, request};
use crate::server::{Server, secret};
use crate::users::{JWT, PASSWORD, server, sign_in, signed_in, user};
use domain::access::Role;
use identity::key::generate;
use runtime::config::ExposeSecret;
use serde_json::json;
use std::time::Duration;
use testkit::poll::until_some;

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

/// A try through a proxy that is listed, from a client that it names.
async fn from(server: &Server, client: &str, email: &str, password: &str) -> Answer {
    let body = json!({"tenant": "first", "email": email, "password": password}).to_string();
    let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", client)];
    request(server.addr, "POST", "/v1/sessions", &headers, body.as_bytes()).await
}

/// Behind a proxy, so that a test can come from many places.
const PROXY: (&str, &str) = ("BERTH_API__TRUSTED_PROXIES", "127.0.0.0/8");
const WRONG: &str = "wrong, wrong, wrong";

#[tokio::test]
async fn one_place_keeps_nobody_else_out_of_an_account_and_all_together_try_it_ten_times() {
    let server = Server::start_with(&[JWT, PROXY]).await;
    user(&server, "victim@example.com", Role::Viewer).await;
    let tried = async |client: &str, times: usize| {
        let mut verified = 0;
        for _ in 0..times {
            let answer = from(&server, client, "victim@example.com", WRONG).await;
            assert!([401, 429].contains(&answer.status), "{answer:?}");
            verified += usize::from(answer.status == 401);
        }
        verified
    };
    assert_eq!(tried("198.51.100.1", 40).await, 5);
    let owner = from(&server, "198.51.100.9", "victim@example.com", PASSWORD).await;
    assert_eq!(owner.status, 201, "the owner, from elsewhere: {owner:?}");
    let there = from(&server, "198.51.100.1", "victim@example.com", PASSWORD).await;
    assert_eq!(there.status, 429, "nor the right one, from there");
    assert_eq!(tried("198.51.100.2", 40).await + tried("198.51.100.3", 40).await, 5);
}

#[tokio::test]
async fn places_that_guess_together_do_not_keep_the_owner_out_of_where_they_signed_in_before() {
    let server = Server::start_with(&[JWT, PROXY]).await;
    user(&server, "victim@example.com", Role::Viewer).await;
    let (home, elsewhere) = ("198.51.100.9", "198.51.100.8");
    let status = async |client: &str, password: &str| {
        from(&server, client, "victim@example.com", password).await.status
    };
    assert_eq!(status(home, PASSWORD).await, 201);
    for client in ["198.51.100.1", "198.51.100.2"] {
        for _ in 0..5 {
            assert_eq!(status(client, WRONG).await, 401);
        }
    }
    for _ in 0..2 {
        assert_eq!(status("198.51.100.3", WRONG).await, 429, "the account's tries are used up");
        assert_eq!(status(elsewhere, PASSWORD).await, 429);
        assert_eq!(status(home, PASSWORD).await, 201);
    }
    // Known for 30 days.
    let seen = async |days: u32| {
        let seen = format!("update sign_in_place set seen_at = now() - interval '{days} days'");
        server.db.sql(&seen).await.unwrap();
    };
    seen(31).await;
    assert_eq!(status(home, PASSWORD).await, 429);
    seen(29).await;
    let opened = async || (status(home, PASSWORD).await == 201).then_some(());
    until_some("a refusal to be forgotten", Duration::from_secs(3), opened).await.unwrap();
    // Who guesses from there has that place's tries, and no more.
    for _ in 0..5 {
        assert_eq!(status(home, WRONG).await, 401);
    }
    assert_eq!(status(home, WRONG).await, 429);
}

#[tokio::test]
async fn the_right_password_opens_sixty_times_an_hour_and_a_hundred_sign_ins_live() {
    let server = server().await;
    let id = user(&server, "ann@example.com", Role::Viewer).await;
    let (first, _) = signed_in(&server, "ann@example.com").await;
    for _ in 1..60 {
        assert_eq!(sign_in(&server, "ann@example.com", PASSWORD).await.status, 201);
    }
    let refused = sign_in(&server, "ann@example.com", PASSWORD).await;
    assert_eq!(refused.code(), "too_many_attempts");
    assert_eq!(server.get_as(&first, "/v1/tasks").await.status, 200, "what is open stays");
    let hex = id.trim_start_matches("user_");
    let more = format!(
        "insert into sign_in (id, tenant_id, user_id, token_version, refreshed_at, expires_at)
            select gen_random_uuid(), tenant_id, id, token_version, now() + interval '1 s', now() + interval '1 day'
            from app_user, generate_series(1, 40) where id = '{hex}'; delete from sign_in_attempt"
    );
    server.db.sql(&more).await.unwrap();
    let opened = async || {
        let answer = sign_in(&server, "ann@example.com", PASSWORD).await;
        (answer.status == 201).then_some(())
    };
    until_some("to sign in again", Duration::from_secs(5), opened).await.unwrap();
    let live = "select count(*) from sign_in where ended_at is null";
    assert_eq!(server.db.sql(live).await.unwrap().trim(), "100");
    let over = || async { (server.get_as(&first, "/v1/tasks").await.status == 401).then_some(()) };
    until_some("the oldest to be over", Duration::from_secs(2), over).await.unwrap();
}

#[tokio::test]
async fn a_flood_from_one_place_takes_no_turn_from_others_and_none_of_it_is_charged_for_waiting() {
    let server = Server::start_with(&[JWT, PROXY]).await;
    user(&server, "ann@example.com", Role::Viewer).await;
    let owner = async || {
        let asked = runtime::clock::monotonic();
        let answer = from(&server, "198.51.100.9", "ann@example.com", PASSWORD).await;
        (answer.status, asked.elapsed())
    };
    let flood = (0..40).map(|n| {
        let (server, email) = (&server, format!("x{n}@example.com"));
        async move { from(server, "198.51.100.1", &email, WRONG).await.status }
    });
    let others = async {
        let mut slowest = Duration::ZERO;
        for _ in 0..10 {
            let (status, took) = owner().await;
            assert_eq!(status, 201);
            slowest = slowest.max(took);
        }
        slowest
    };
    let (flood, slowest) = tokio::join!(futures::future::join_all(flood), others);
    println!("the slowest of the others took {slowest:?}");
    assert!(slowest < Duration::from_secs(3), "{slowest:?}");
    let verified = flood.iter().filter(|status| **status == 401).count();
    assert!(flood.iter().all(|status| [401, 429, 503].contains(status)), "{flood:?}");
    assert_eq!(counted(&server).await, verified as i64, "who waited in vain was not counted");
}

#[tokio::test]
async fn made_up_keys_from_one_place_starve_no_key_that_is_new_to_a_process() {
    let server = Server::start_with(&[JWT, PROXY]).await;
    let ask = async |key: String, client: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str()), ("X-Forwarded-For", client)];
        let asked = runtime::clock::monotonic();
        let answer = request(server.addr, "GET", "/v1/tasks", &headers, b"").await;
        (answer.status, asked.elapsed())
    };
    let answered = std::cell::Cell::new(0);
    let made_up = (0..1500).map(|_| {
        let key = generate("live", &secret()).unwrap().text.expose_secret().to_owned();
        async {
            let answer = ask(key, "198.51.100.1").await;
            answered.set(answered.get() + 1);
            answer
        }
    });
    let fresh = server.new_key(server.tenant, &["read"]).await;
    let good = async {
        // When the others stand in line.
        until_some("an answer to the flood", Duration::from_secs(30), async || {
            (answered.get() > 0).then_some(())
        })
        .await
        .unwrap();
        let before = answered.get();
        let (status, took) = ask(fresh, "198.51.100.9").await;
        (status, took, before, answered.get())
    };
    let (flood, (status, took, before, after)) =
        tokio::join!(futures::future::join_all(made_up), good);
    assert_eq!(status, 200);
    println!("the good one took {took:?}, in which {} of the flood were answered", after - before);
    assert!(flood.iter().all(|(status, _)| *status == 401));
    // Counted, as a busy machine delays all alike. A quarter of those that were left, and what stood in line with it is all of them.
    let left = flood.len() - before;
    assert!(after - before < left / 4, "{} of {left}, in {took:?}", after - before);
}

#[tokio::test]
async fn who_is_signed_in_refreshes_while_others_knock_from_the_same_place() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    let (_, token) = signed_in(&server, "ann@example.com").await;
    let knocking = (0..400).map(|n| forging(&server, "x@example.com", WRONG, n));
    let refreshing = async {
        let body = json!({ "refresh_token": token }).to_string();
        let headers = [("Content-Type", "application/json")];
        request(server.addr, "POST", "/v1/sessions/refresh", &headers, body.as_bytes()).await
    };
    let (knocked, refreshed) = tokio::join!(futures::future::join_all(knocking), refreshing);
    assert_eq!(refreshed.status, 200, "{refreshed:?}");
    let limited =
        knocked.iter().find(|answer| answer.status == 429 && answer.code() == "rate_limited");
    assert_eq!(limited.unwrap().json()["limit"], "peer_sign_ins_per_second");
}

#[tokio::test]
async fn an_account_is_tried_five_times_from_one_place_whatever_the_headers_say() {
    let server = server().await;
    let twin = server.twin_with(&[JWT]).await;
    user(&server, "victim@example.com", Role::Viewer).await;
    let mut verified = 0;
    for n in 0..1000 {
        let answer = forging(&server, "victim@example.com", "wrong, wrong, wrong", n).await;
        match answer.status {
            401 => verified += 1,
            // More at once than anybody may send.
            429 if answer.code() == "rate_limited" => {}
            429 => {
                assert_eq!(answer.code(), "too_many_attempts");
                let wait: u32 = answer.header("retry-after").unwrap().parse().unwrap();
                assert!((800..=901).contains(&wait), "{wait}");
            }
            other => panic!("{other}: {answer:?}"),
        }
    }
    assert_eq!(verified, 5);
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
    let opened = async || {
        let answer = sign_in(&server, "victim@example.com", PASSWORD).await;
        (answer.status == 201).then_some(())
    };
    until_some("its owner to get in", Duration::from_secs(2), opened).await.unwrap();
}

#[tokio::test]
async fn tries_at_once_do_not_pass_together() {
    let server = server().await;
    user(&server, "victim@example.com", Role::Viewer).await;
    let tries = (0..40).map(|n| forging(&server, "victim@example.com", "wrong, wrong, wrong", n));
    let answers = futures::future::join_all(tries).await;
    let verified = answers.iter().filter(|answer| answer.status == 401).count();
    assert!((1..=5).contains(&verified), "{verified}");
    assert!(answers.iter().all(|answer| [401, 429, 503].contains(&answer.status)));
    assert!(counted(&server).await <= 40);
}

#[tokio::test]
async fn a_spray_over_accounts_is_stopped_at_a_hundred_an_hour_from_one_place() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    let mut verified = 0;
    // Those that were let through take their time; what comes after the limit does not.
    for n in 0..1000 {
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
async fn who_signs_in_rightly_has_tried_nothing() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    for _ in 0..15 {
        assert_eq!(sign_in(&server, "ann@example.com", PASSWORD).await.status, 201);
    }
    let tries = "select count(*) from sign_in_attempt where cardinality(times) > 0";
    assert_eq!(server.db.sql(tries).await.unwrap().trim(), "1", "as sign-ins, and as nothing else");
}
