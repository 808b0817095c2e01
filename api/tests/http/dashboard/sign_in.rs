//! Signing in and out with a key, and forms from elsewhere.

use super::browser::{Browser, EVIL, OWN, location, text, token};
use crate::server::Server;
use std::time::Duration;

#[tokio::test]
async fn a_key_signs_in_until_its_holder_signs_out() {
    let server = Server::start().await;
    let mut browser = Browser::new(&server);
    let answer = browser.get("/tasks?state=running").await;
    assert_eq!(
        (answer.status, location(&answer)),
        (303, "/sign-in?next=%2Ftasks%3Fstate%3Drunning")
    );
    let key = server.key.clone();
    let answer = browser.sign_in(&[("key", &key), ("next", "/tasks?state=running")]).await;
    assert_eq!((answer.status, location(&answer)), (303, "/tasks?state=running"));
    let cookie = answer.header("set-cookie").unwrap();
    for attribute in ["berth=", "; Path=/", "HttpOnly", "SameSite=Lax"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains(&key) && !cookie.contains("Secure"), "{cookie}");
    let page = browser.page("/").await;
    assert!(page.contains("first") && page.contains("Sign out"), "{page}");
    let kept = browser.cookies.clone();
    let answer = browser.post("/", "/sign-out", &[]).await;
    assert_eq!((answer.status, location(&answer)), (303, "/sign-in?done=signed-out"));
    assert!(browser.cookies.is_empty());
    assert_eq!(browser.get("/").await.status, 303);
    // A key that was revoked opens nothing, whoever still has its cookie.
    browser.cookies = kept;
    let id = server.key.split('_').nth(2).unwrap();
    server
        .db
        .sql(&format!("update api_key set revoked_at = now() where id = '{id}'"))
        .await
        .unwrap();
    let deadline = runtime::clock::monotonic() + Duration::from_secs(10);
    let answer = loop {
        let answer = browser.get("/tasks").await;
        if answer.status == 303 {
            break answer;
        }
        assert!(runtime::clock::monotonic() < deadline, "the key is still good");
    };
    assert_eq!(location(&answer), "/sign-in?next=%2Ftasks&done=session-over");
    assert!(browser.cookies.is_empty(), "its cookie is forgotten");
}

#[tokio::test]
async fn a_wrong_key_is_told_and_nobody_is_led_away() {
    let server = Server::start().await;
    let mut browser = Browser::new(&server);
    for key in ["x", "berth_live_aaaaaaaaaaaa_bbbb", EVIL] {
        let answer = browser.sign_in(&[("key", key)]).await;
        assert_eq!(answer.status, 401, "{}", text(&answer));
        assert!(text(&answer).contains(r#"role="alert""#) && !text(&answer).contains(EVIL));
    }
    let key = server.key.clone();
    for next in ["//evil.example", "https://evil.example", "/\\evil.example", "/sign-out"] {
        let answer = Browser::new(&server).sign_in(&[("key", &key), ("next", next)]).await;
        assert_eq!(location(&answer), "/", "{next}");
    }
}

#[tokio::test]
async fn behind_tls_the_cookie_is_of_this_host_alone() {
    let server = Server::start().await;
    let tls = [("X-Forwarded-Proto", "https"), ("Sec-Fetch-Site", "same-origin")];
    let mut browser = Browser::new(&server);
    let form = browser.send("GET", "/sign-in", &tls, "").await;
    let (token, key) = (token(&text(&form)), server.key.clone());
    let answer = browser.post_with("/sign-in", &[("csrf", &token), ("key", &key)], &tls).await;
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-berth=") && cookie.contains("; Secure"), "{cookie}");
    assert_eq!(browser.send("GET", "/tasks", &tls, "").await.status, 200);
    assert_eq!(browser.get("/tasks").await.status, 303, "without TLS it is not read");
}

#[tokio::test]
async fn a_form_from_elsewhere_or_without_its_token_does_nothing() {
    let server = Server::start().await;
    let task = server.noop().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let cancel = format!("/tasks/{task}/do/cancel");
    let good = token(&browser.page(&cancel).await);
    let foreign = token(&Browser::with_key(&server, &server.key).await.page(&cancel).await);
    let own = "http://berth".to_owned();
    for (token, headers) in [
        ("", &OWN[..]),
        (foreign.as_str(), &OWN[..]),
        (&good[1..], &OWN[..]),
        (good.as_str(), &[][..]),
        (good.as_str(), &[("Origin", "null")][..]),
        (good.as_str(), &[("Origin", "https://evil.example")][..]),
        (good.as_str(), &[("Origin", own.as_str()), ("Sec-Fetch-Site", "cross-site")][..]),
        (good.as_str(), &[("Sec-Fetch-Site", "same-site")][..]),
    ] {
        let answer = browser.post_with(&cancel, &[("csrf", token)], headers).await;
        assert_eq!(answer.status, 403, "{headers:?}");
        // Without cookies, too.
        let answer = Browser::new(&server).post_with(&cancel, &[("csrf", token)], headers).await;
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    assert_eq!(server.get(&format!("/v1/tasks/{task}")).await.json()["state"], "ready");
    let origin = [("Origin", own.as_str())];
    let answer = browser.post_with(&cancel, &[("csrf", &good)], &origin).await;
    assert_eq!(
        (answer.status, location(&answer)),
        (303, format!("/tasks/{task}?done=cancelled").as_str())
    );
    assert_eq!(server.get(&format!("/v1/tasks/{task}")).await.json()["state"], "cancelled");
}
