//! The account: keys that are shown once, users, and their roles.

use super::browser::{Browser, OWN, location, text};
use crate::client::{Answer, request};
use crate::server::Server;
use crate::users::{PASSWORD, server, user};
use domain::access::Role;
use runtime::clock::monotonic;
use std::time::Duration;

/// The text of a new key or token, which stands in its own block.
fn shown(answer: &Answer, id: &str) -> String {
    let html = text(answer);
    let at =
        html.split(&format!("<pre id=\"{id}\">")).nth(1).unwrap_or_else(|| panic!("none: {html}"));
    at.split('<').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_new_key_is_shown_once_and_a_rotation_replaces_it() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let form = "/account/keys/new";
    let fields =
        [("name", "ci"), ("scope", "read"), ("scope", "submit"), ("life", "720h"), ("once", "k1")];
    let made = browser.post(form, form, &fields).await;
    assert_eq!((made.status, location(&made)), (201, ""), "{}", text(&made));
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let key = shown(&made, "key");
    assert_eq!(server.get_as(&key, "/v1/tasks").await.status, 200);
    // The same form again makes no other, and does not show it.
    let again = browser.post(form, form, &fields).await;
    assert!(again.status == 201 && !text(&again).contains(&key), "{}", text(&again));
    assert!(text(&again).contains("only in the first answer"), "{}", text(&again));
    let list = browser.page("/account/keys").await;
    assert!(!list.contains(&key) && list.contains("Rotate ci"), "{list}");

    let id = key.split('_').nth(2).unwrap();
    let rotate = format!("/account/keys/{id}/rotate");
    let rotated = browser.post(&rotate, &rotate, &[("overlap", "1h"), ("once", "k2")]).await;
    let new = shown(&rotated, "key");
    assert!(new != key && text(&rotated).contains(id), "{}", text(&rotated));
    assert_eq!(server.get_as(&new, "/v1/tasks").await.status, 200);
    assert!(browser.page("/account/keys").await.contains("replaced"));
    for (wrong, part) in
        [(&[("name", "x")][..], "scope"), (&[("scope", "read")][..], "aria-invalid=\"true\"")]
    {
        let answer = browser.post(form, form, wrong).await;
        assert!(
            matches!(answer.status, 400 | 422) && text(&answer).contains(part),
            "{}",
            text(&answer)
        );
    }
}

#[tokio::test]
async fn a_user_is_invited_given_another_role_and_removed() {
    let server = server().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let form = "/account/users/new";
    assert!(
        !browser.page(form).await.contains("value=\"owner\""),
        "a key gives nobody the role of owners"
    );
    let made = browser
        .post(form, form, &[("email", "ann@example.com"), ("role", "viewer"), ("once", "u")])
        .await;
    assert_eq!((made.status, location(&made)), (201, ""), "{}", text(&made));
    assert!(shown(&made, "token").len() > 20);
    let id =
        server.db.sql("select id from app_user where email = 'ann@example.com'").await.unwrap();
    let id = format!("user_{}", id.trim().replace('-', ""));
    let path = format!("/account/users/{id}");
    assert!(browser.page("/account/users").await.contains(&path));
    let changed = browser.post(&path, &path, &[("role", "billing")]).await;
    assert_eq!(location(&changed), format!("{path}?done=changed"), "{}", text(&changed));
    assert_eq!(server.get(&format!("/v1/users/{id}")).await.json()["role"], "billing");
    let refused = browser.post(&path, &path, &[("role", "owner")]).await;
    assert!(
        refused.status == 403 && text(&refused).contains("Nothing was changed"),
        "{}",
        text(&refused)
    );
    let again = browser.post(form, form, &[("email", "ann@example.com"), ("role", "viewer")]).await;
    assert!(matches!(again.status, 409 | 422), "{}", text(&again));
    let removed = browser.post(&path, &format!("{path}/remove"), &[]).await;
    assert_eq!(location(&removed), "/account/users?done=removed", "{}", text(&removed));
    assert_eq!(browser.get(&path).await.status, 404);
}

#[tokio::test]
async fn a_user_signs_in_with_a_password_and_stays_signed_in_beyond_an_access_token() {
    // The shortest life; a page renews a token 20 s before its end.
    let server =
        Server::start_with(&[crate::users::JWT, ("BERTH_AUTH__ACCESS_TOKEN_LIFE", "30s")]).await;
    let ann = user(&server, "ann@example.com", Role::Developer).await;
    let mut browser = Browser::new(&server);
    let fields = [("tenant", "first"), ("email", "ann@example.com")];
    let wrong = [&fields[..], &[("password", "a wrong password")]].concat();
    let refused = browser.sign_in(&wrong).await;
    assert!(
        refused.status == 401 && !text(&refused).contains("a wrong password"),
        "{}",
        text(&refused)
    );
    let right = [&fields[..], &[("password", PASSWORD)]].concat();
    let entered = browser.sign_in(&right).await;
    assert_eq!((entered.status, location(&entered)), (303, "/"), "{}", text(&entered));
    let first = browser.cookies.clone();
    let deadline = monotonic() + Duration::from_secs(25);
    while browser.cookies == first {
        assert!(monotonic() < deadline, "the token was not renewed");
        assert_eq!(browser.get("/tasks").await.status, 200);
    }
    assert_eq!(browser.get("/account/keys").await.status, 200, "the renewed one is good");
    // Removed, the user is out; nothing renews that.
    let bearer = format!("Bearer {}", server.key);
    let path = format!("/v1/users/{ann}");
    let removed = request(server.addr, "DELETE", &path, &[("Authorization", &bearer)], b"").await;
    assert_eq!(removed.status, 200, "{removed:?}");
    let deadline = monotonic() + Duration::from_secs(10);
    let out = loop {
        let answer = browser.get("/tasks").await;
        if answer.status == 303 {
            break answer;
        }
        assert!(monotonic() < deadline, "the user is still in");
    };
    assert!(location(&out).starts_with("/sign-in?"), "{}", location(&out));
}

#[tokio::test]
async fn whoever_is_invited_chooses_a_password_and_is_signed_in() {
    let server = server().await;
    let mut owner = Browser::with_key(&server, &server.key).await;
    let form = "/account/users/new";
    let fields = [("email", "eve@example.com"), ("role", "viewer"), ("once", "i1")];
    let invited = owner.post(form, form, &fields).await;
    let token = shown(&invited, "token");
    assert!(text(&invited).contains("/sign-in/invitation"), "{}", text(&invited));

    let page = "/sign-in/invitation";
    let mut eve = Browser::new(&server);
    assert!(eve.page("/sign-in").await.contains(page));
    let sends = [("token", token.as_str()), ("password", PASSWORD), ("again", PASSWORD)];
    // Without the token of the form nothing is done.
    assert_eq!(eve.post_with(page, &sends, &OWN).await.status, 403);
    for (wrong, status, part) in [
        ([("token", "berthinvite_x"), sends[1], sends[2]], 401, "is not good, was used"),
        ([sends[0], ("password", "short"), ("again", "short")], 422, "12 to 256"),
        ([sends[0], sends[1], ("again", "another one")], 422, "not the same"),
    ] {
        let answer = eve.post(page, page, &wrong).await;
        assert_eq!(answer.status, status, "{}", text(&answer));
        assert!(text(&answer).contains(part), "{}", text(&answer));
        assert!(!text(&answer).contains(PASSWORD), "{}", text(&answer));
    }
    let accepted = eve.post(page, page, &sends).await;
    assert_eq!((accepted.status, location(&accepted)), (303, "/"), "{}", text(&accepted));
    let home = eve.page("/").await;
    assert!(home.contains("eve@example.com") && home.contains("Sign out"), "{home}");
    let late = Browser::new(&server).post(page, page, &sends).await;
    assert_eq!(late.status, 401, "a token is good once");
}
