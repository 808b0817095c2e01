//! Links to the dashboard that sign in once, as `berth up` prints them.

use crate::client::{Answer, request};
use crate::server::{Server, secret};
use identity::key::KeyHasher;

async fn follow(server: &Server, path: &str, cookie: &str) -> Answer {
    let headers = [("Accept", "text/html"), ("Cookie", cookie)];
    request(server.addr, "GET", path, &headers, b"").await
}

/// The path of a link that signs in with `key`.
fn link(key: &str) -> String {
    api::sign_in_path(&KeyHasher::new(&secret()).unwrap(), key).unwrap()
}

#[tokio::test]
async fn a_link_signs_in_once_and_says_what_to_do_when_it_was_used() {
    let server = Server::start().await;
    let path = link(&server.key);
    assert!(!path.contains(&server.key), "{path}");

    let first = follow(&server, &path, "").await;
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap();
    assert_eq!(follow(&server, "/tasks", cookie).await.status, 200);

    let again = follow(&server, &path, cookie).await;
    assert_eq!(
        (again.status, again.header("location")),
        (303, Some("/")),
        "who is signed in stays"
    );
    let stranger = follow(&server, &path, "").await;
    let text = String::from_utf8_lossy(&stranger.body).into_owned();
    assert_eq!(stranger.status, 401);
    assert!(text.contains("This link was used") && text.contains("name=\"key\""), "{text}");
    for wrong in ["/sign-in/link", "/sign-in/link?token=AAAA"] {
        assert_eq!(follow(&server, wrong, "").await.status, 401, "{wrong}");
    }
}

#[tokio::test]
async fn a_link_with_what_is_no_key_signs_nobody_in() {
    let server = Server::start().await;
    let path = link("berth_live_nothing");
    assert_eq!(follow(&server, &path, "").await.status, 401);
}
