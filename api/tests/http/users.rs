//! Users: invited, signed in, changed, removed; and what each role may.

use crate::client::{Answer, request};
use crate::server::Server;
use api::routes::table::{Access, TABLE};
use domain::access::{PermissionSet, Role};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll::until_some;

pub const JWT: (&str, &str) = ("BERTH_AUTH__JWT_KEY", "c8d7e6f504132231445566778899aabb");
pub const PASSWORD: &str = "correct horse battery staple";

/// What makes a token that was used just now one that was used before.
pub const TEN_SECONDS_LATER: &str = "update refresh_token set used_at = used_at - interval '11 s'";

/// A server on which users can sign in.
pub async fn server() -> Server {
    Server::start_with(&[JWT, ("BERTH_API__PUBLIC_STATUS", "true")]).await
}

/// Makes a user with a password, straight in the database for the sake of owners.
pub async fn user(server: &Server, email: &str, role: Role) -> String {
    let body = json!({"email": email, "role": "viewer", "password": PASSWORD}).to_string();
    let made = server.post("/v1/users", body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let role = format!("update app_user set role = '{role}' where email = '{email}'");
    server.db.sql(&role).await.unwrap();
    made.json()["id"].as_str().unwrap().to_owned()
}

pub async fn sign_in(server: &Server, email: &str, password: &str) -> Answer {
    let body = json!({"tenant": "first", "email": email, "password": password}).to_string();
    let headers = [("Content-Type", "application/json")];
    request(server.addr, "POST", "/v1/sessions", &headers, body.as_bytes()).await
}

async fn open(server: &Server, path: &str, body: Value) -> Answer {
    let headers = [("Content-Type", "application/json")];
    request(server.addr, "POST", path, &headers, body.to_string().as_bytes()).await
}

/// Signed in: access token and refresh token.
pub async fn signed_in(server: &Server, email: &str) -> (String, String) {
    let answer = sign_in(server, email, PASSWORD).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let json = answer.json();
    let text = |name: &str| json[name].as_str().unwrap().to_owned();
    assert_eq!((&json["token_type"], &json["expires_in"]), (&json!("Bearer"), &json!(300)));
    (text("access_token"), text("refresh_token"))
}

async fn delete(server: &Server, key: &str, path: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    request(server.addr, "DELETE", path, &[("Authorization", &bearer)], b"").await
}

async fn patch(server: &Server, key: &str, path: &str, body: Value) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    request(server.addr, "PATCH", path, &headers, body.to_string().as_bytes()).await
}

#[tokio::test]
async fn an_invited_user_sets_a_password_and_signs_in() {
    let server = server().await;
    let spec = json!({"email": "Ann@Example.com", "role": "developer"}).to_string();
    let once = [("Idempotency-Key", "ann")];
    let invited = server.post_with("/v1/users", &once, &spec).await;
    assert_eq!(invited.status, 201, "{invited:?}");
    let json = invited.json();
    assert_eq!((&json["email"], &json["state"]), (&json!("ann@example.com"), &json!("invited")));
    let token = json["invite_token"].as_str().unwrap();
    let again = server.post_with("/v1/users", &once, &spec).await.json();
    assert_eq!((&again["id"], &again["invite_token"]), (&json["id"], &Value::Null));
    assert_eq!(sign_in(&server, "ann@example.com", PASSWORD).await.status, 401);

    let accept = |token: &str, password: &str| {
        open(&server, "/v1/sessions/accept", json!({"token": token, "password": password}))
    };
    assert_eq!(accept(token, "too short").await.pointers(), ["/password"]);
    assert_eq!(accept("berthinvite_made-up", PASSWORD).await.code(), "unauthenticated");
    let accepted = accept(token, PASSWORD).await;
    assert_eq!((accepted.status, &accepted.json()["user"]), (200, &json["id"]));
    assert_eq!(accept(token, PASSWORD).await.code(), "unauthenticated", "good once");

    let (access, _) = signed_in(&server, " ANN@example.com ").await;
    assert_eq!(server.get_as(&access, "/v1/tasks").await.status, 200);
    let dump = server.db.sql("select u::text from app_user u").await.unwrap();
    assert!(dump.contains("$argon2id$v=19$m=19456,t=2,p=1$"), "{dump}");
    assert!(!dump.contains(PASSWORD) && !dump.contains(token), "{dump}");
    let kept = server.db.sql("select convert_from(answer, 'utf8') from idempotency").await.unwrap();
    assert!(!kept.contains("berthinvite_"), "{kept}");
}

#[tokio::test]
async fn a_refresh_token_is_good_once_and_a_second_use_ends_the_sign_in() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    let (_, first) = signed_in(&server, "ann@example.com").await;
    let refresh =
        |token: String| open(&server, "/v1/sessions/refresh", json!({"refresh_token": token}));
    let refreshed = refresh(first.clone()).await;
    assert_eq!(refreshed.status, 200, "{refreshed:?}");
    let (access, second) = {
        let json = refreshed.json();
        let text = |name: &str| json[name].as_str().unwrap().to_owned();
        (text("access_token"), text("refresh_token"))
    };
    assert_eq!(server.get_as(&access, "/v1/tasks").await.status, 200);
    assert_eq!(refresh("made up".to_owned()).await.code(), "unauthenticated");
    assert_eq!(server.get_as(&access, "/v1/tasks").await.status, 200, "a guess ends nothing");

    server.db.sql(TEN_SECONDS_LATER).await.unwrap();
    assert_eq!(refresh(first).await.code(), "unauthenticated", "used before");
    assert_eq!(refresh(second).await.code(), "unauthenticated", "the family is over");
    let over = || async { (server.get_as(&access, "/v1/tasks").await.status == 401).then_some(()) };
    until_some("the access token to be refused", Duration::from_secs(2), over).await.unwrap();
    let stored = server.db.sql("select t::text from refresh_token t").await.unwrap();
    assert!(!stored.contains("berthrefresh_"), "{stored}");
}

#[tokio::test]
async fn a_refresh_whose_answer_was_lost_is_sent_again_and_a_thief_who_is_as_quick_wins_nothing() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    let refresh = async |token: &str| {
        let body = json!({ "refresh_token": token });
        let answer = open(&server, "/v1/sessions/refresh", body).await;
        (answer.status == 200).then(|| answer.json()["refresh_token"].as_str().unwrap().to_owned())
    };
    // Lost several times, also all at once.
    let (_, token) = signed_in(&server, "ann@example.com").await;
    let lost = refresh(&token).await.unwrap();
    let again = futures::future::join_all((0..5).map(|_| refresh(&token))).await;
    assert!(again.iter().all(Option::is_some), "{again:?}");
    let kept = refresh(&token).await.unwrap();
    let next = refresh(&kept).await.unwrap();
    assert!(refresh(&next).await.is_some(), "the sign-in goes on");
    assert_eq!(refresh(&lost).await, None, "what was lost is good no more");
    // A thief takes the user's token at the same time. Whoever comes second of the two ends it for both.
    let (_, token) = signed_in(&server, "ann@example.com").await;
    let users = refresh(&token).await.unwrap();
    let thiefs = refresh(&token).await.unwrap();
    assert_eq!(refresh(&users).await, None);
    assert_eq!(refresh(&thiefs).await, None);
    // Once the successor was used, the one before is not good for a moment longer.
    let (_, token) = signed_in(&server, "ann@example.com").await;
    let next = refresh(&token).await.unwrap();
    let last = refresh(&next).await.unwrap();
    assert_eq!(refresh(&token).await, None);
    assert_eq!(refresh(&last).await, None);
}

#[tokio::test]
async fn a_key_that_a_users_key_made_goes_with_the_user() {
    let server = server().await;
    let id = user(&server, "ann@example.com", Role::Admin).await;
    let (access, _) = signed_in(&server, "ann@example.com").await;
    let made = async |by: &str| {
        let body = json!({"name": "n", "scopes": ["read", "admin"]}).to_string();
        let made = server.post_as(by, "/v1/keys", &[], body).await;
        assert_eq!(made.status, 201, "{made:?}");
        assert_eq!(made.json()["user"], json!(id));
        made.json()["key"].as_str().unwrap().to_owned()
    };
    let child = made(&access).await;
    let grandchild = made(&child).await;
    let rotated = grandchild.split('_').nth(2).unwrap().to_owned();
    let rotated =
        server.post_as(&child, &format!("/v1/keys/{rotated}/rotate"), &[], "").await.json();
    let rotated = rotated["new"]["key"].as_str().unwrap().to_owned();
    // A key that no user made, and whose successor ann is handed.
    let body = json!({"name": "n", "scopes": ["read"]}).to_string();
    let of_nobody = server.post("/v1/keys", body).await.json();
    let rotate = format!("/v1/keys/{}/rotate", of_nobody["id"].as_str().unwrap());
    let handed = server.post_as(&access, &rotate, &[], "").await.json();
    assert_eq!((&handed["old"]["user"], &handed["new"]["user"]), (&Value::Null, &json!(id)));
    let handed = handed["new"]["key"].as_str().unwrap().to_owned();
    for key in [&child, &grandchild, &rotated, &handed] {
        assert_eq!(server.get_as(key, "/v1/tasks").await.status, 200);
    }
    assert_eq!(delete(&server, &server.key, &format!("/v1/users/{id}")).await.status, 200);
    for key in [&child, &grandchild, &rotated, &handed] {
        let gone = || async { (server.get_as(key, "/v1/tasks").await.status == 401).then_some(()) };
        until_some("the key to be refused", Duration::from_secs(2), gone).await.unwrap();
    }
    // One that no user made is nobody's.
    let body = json!({"name": "n", "scopes": ["read"]}).to_string();
    let made = server.post("/v1/keys", body).await.json();
    assert_eq!(made["user"], Value::Null);
}

#[tokio::test]
async fn who_knows_the_old_password_changes_it_and_is_signed_out_everywhere_else() {
    let server = server().await;
    let id = user(&server, "ann@example.com", Role::Billing).await;
    let (here, refresh) = signed_in(&server, "ann@example.com").await;
    let (there, _) = signed_in(&server, "ann@example.com").await;
    let change = async |old: &str, new: &str| {
        let body = json!({"old_password": old, "password": new}).to_string();
        server.post_as(&here, "/v1/sessions/password", &[], body).await
    };
    let new = "another horse, another battery";
    assert_eq!(change(PASSWORD, "too short").await.pointers(), ["/password"]);
    assert_eq!(change("wrong wrong wrong", new).await.pointers(), ["/old_password"]);
    assert_eq!(server.get_as(&there, "/v1/sessions").await.status, 200);
    let changed = change(PASSWORD, new).await;
    assert_eq!((changed.status, changed.json()), (200, json!({"ended_sessions": 1})));
    let over =
        || async { (server.get_as(&there, "/v1/sessions").await.status == 401).then_some(()) };
    until_some("the other sign-in to be over", Duration::from_secs(2), over).await.unwrap();
    let stays =
        || async { (server.get_as(&here, "/v1/sessions").await.status == 200).then_some(()) };
    until_some("this one to go on", Duration::from_secs(2), stays).await.unwrap();
    let refreshed = open(&server, "/v1/sessions/refresh", json!({"refresh_token": refresh})).await;
    assert_eq!(refreshed.status, 200, "{refreshed:?}");
    assert_eq!(sign_in(&server, "ann@example.com", PASSWORD).await.status, 401);
    assert_eq!(sign_in(&server, "ann@example.com", new).await.status, 201);
    // Guesses at it are counted.
    let mut compared = 0;
    for _ in 0..20 {
        compared += usize::from(change("wrong wrong wrong", new).await.status == 422);
    }
    assert_eq!(compared, 9, "ten, with the one above");
    let told = server.get("/v1/audit?action=session.password").await.json();
    assert_eq!(told["data"][0]["target"], json!({"kind": "user", "id": id}));
    assert_eq!(told["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_customer_signs_up_where_that_is_configured_and_nowhere_else() {
    let closed = server().await;
    let body = json!({"tenant": "acme", "email": "Ann@Example.com", "password": PASSWORD});
    assert_eq!(open(&closed, "/v1/sign-up", body.clone()).await.code(), "not_available");

    let server = Server::start_with(&[JWT, ("BERTH_AUTH__SIGN_UP_PLAN", "free")]).await;
    // An address that another tenant knows is as good as any.
    user(&server, "ann@example.com", Role::Viewer).await;
    let signed_up = open(&server, "/v1/sign-up", body.clone()).await;
    assert_eq!(signed_up.status, 201, "{signed_up:?}");
    let access = signed_up.json()["access_token"].as_str().unwrap().to_owned();
    let submitted = server.post_as(&access, "/v1/tasks", &[], crate::server::NOOP).await;
    assert_eq!(submitted.status, 201, "{submitted:?}");
    let key = json!({"name": "first", "scopes": ["read", "submit", "admin"]}).to_string();
    assert_eq!(server.post_as(&access, "/v1/keys", &[], key).await.status, 201);
    assert_eq!(server.get_as(&access, "/v1/limits").await.json()["plan"], "free");
    let told = server.get_as(&access, "/v1/audit").await.json();
    let first = told["data"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&first["action"], &first["actor"]["kind"]),
        (&json!("session.sign_up"), &json!("user"))
    );
    assert_eq!(first["actor"]["id"], signed_up.json()["user"]);
    let owner = json!({"tenant": "acme", "email": "ann@example.com", "password": PASSWORD});
    assert_eq!(open(&server, "/v1/sessions", owner).await.status, 201);
    assert_eq!(open(&server, "/v1/sign-up", body).await.code(), "conflict");
    let wrong = json!({"tenant": "", "email": "ann", "password": "short"});
    let wrong = open(&server, "/v1/sign-up", wrong).await;
    assert_eq!(wrong.pointers(), ["/tenant", "/email", "/password"]);
    let mut made = 2;
    for n in 0..20 {
        let body = json!({"tenant": format!("farm{n}"), "email": "a@b", "password": PASSWORD});
        let answer = open(&server, "/v1/sign-up", body).await;
        made += usize::from(answer.status == 201);
        assert!([201, 429].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(made, 10, "an hour from one place, the one that was taken included");
}

#[tokio::test]
async fn a_name_is_one_name_however_it_is_typed_and_has_nothing_that_nobody_sees() {
    let server = Server::start_with(&[JWT, ("BERTH_AUTH__SIGN_UP_PLAN", "free")]).await;
    let body =
        |tenant: &str| json!({"tenant": tenant, "email": "ann@example.com", "password": PASSWORD});
    let sign_up = async |tenant: &str| open(&server, "/v1/sign-up", body(tenant)).await;
    assert_eq!(sign_up(" Ａcme\u{a0} Straße ").await.status, 201);
    let name = "select name || '|' || name_key from tenant where plan = 'free'";
    assert_eq!(server.db.sql(name).await.unwrap().trim(), "Acme Straße|acme strasse");
    for same in ["Acme Straße", "ACME STRASSE", "acme  strasse"] {
        assert_eq!(sign_up(same).await.code(), "conflict", "{same}");
        assert_eq!(open(&server, "/v1/sessions", body(same)).await.status, 201, "{same}");
    }
    for unseen in ["ac\u{200b}me", "\u{202e}acme", "ac\nme", "acme\u{feff}", "\u{3164}", "  "] {
        let refused = sign_up(unseen).await;
        assert_eq!((refused.status, refused.pointers()), (422, vec!["/tenant".to_owned()]));
    }
    // An operator's tenants have names of the same kind.
    let key = server.new_operator("ops", &["read", "admin"]).await;
    let create = async |name: &str| {
        let body = json!({"name": name}).to_string();
        server.post_as(&key, "/v1/admin/tenants", &[], body).await
    };
    assert_eq!(create("acme STRASSE").await.code(), "conflict");
    assert_eq!(create("a\u{ad}b").await.pointers(), ["/name"]);
    assert_eq!(create(" Other ").await.json()["name"], "Other");
}

#[tokio::test]
async fn tries_to_sign_in_count_for_the_account_however_its_tenant_is_written() {
    let server = server().await;
    user(&server, "ann@example.com", Role::Developer).await;
    let mut refused = 0;
    for tenant in ["first", "FIRST", "First", " first", "first ", "fIRST", "ｆirst", "firsT"] {
        let body =
            json!({"tenant": tenant, "email": "ann@example.com", "password": "wrong wrong wrong"});
        let answer = open(&server, "/v1/sessions", body).await;
        assert!([401, 429].contains(&answer.status), "{answer:?}");
        refused += usize::from(answer.status == 429);
    }
    assert_eq!(refused, 3, "five tries from one place");
}

#[tokio::test]
async fn signing_out_a_change_of_role_and_a_removal_are_felt_on_all_processes_within_two_seconds() {
    let server = server().await;
    let twin = server.twin_with(&[JWT]).await;
    let id = user(&server, "ann@example.com", Role::Developer).await;
    let (access, _) = signed_in(&server, "ann@example.com").await;
    let submit = async |addr| {
        let bearer = format!("Bearer {access}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let body = crate::server::NOOP.as_bytes();
        request(addr, "POST", "/v1/tasks", &headers, body).await.status
    };
    let becomes = async |status: u16, what: &str| {
        for addr in [server.addr, twin.addr] {
            let there = || async { (submit(addr).await == status).then_some(()) };
            until_some(what, Duration::from_secs(2), there).await.unwrap();
        }
    };
    becomes(201, "a developer to submit").await;
    let path = format!("/v1/users/{id}");
    let changed = patch(&server, &server.key, &path, json!({"role": "viewer"})).await;
    assert_eq!(changed.json()["role"], "viewer");
    becomes(403, "a viewer to be refused").await;
    let changed = patch(&server, &server.key, &path, json!({"role": "admin"})).await;
    assert_eq!(changed.status, 200);
    becomes(201, "an admin to submit").await;

    let listed = server.get_as(&access, "/v1/sessions").await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed["data"][0]["current"], true);
    assert_eq!(delete(&server, &access, "/v1/sessions").await.status, 200);
    becomes(401, "a sign-in that is over").await;

    let (access, _) = signed_in(&server, "ann@example.com").await;
    assert_eq!(server.get_as(&access, "/v1/tasks").await.status, 200);
    assert_eq!(delete(&server, &server.key, &format!("/v1/users/{id}")).await.status, 200);
    let over = || async { (server.get_as(&access, "/v1/tasks").await.status == 401).then_some(()) };
    until_some("a removed user to be refused", Duration::from_secs(2), over).await.unwrap();
    assert_eq!(sign_in(&server, "ann@example.com", PASSWORD).await.status, 401);
    user(&server, "ann@example.com", Role::Viewer).await;
}

#[tokio::test]
async fn each_role_may_exactly_what_the_table_of_roles_says_on_every_route() {
    let server = server().await;
    for role in Role::ALL {
        let email = format!("{role}@example.com");
        user(&server, &email, role).await;
        let may = role.permissions().with(PermissionSet::OF_EVERY_USER);
        let may = may.with(PermissionSet::OF_EVERYBODY);
        let (mut access, _) = signed_in(&server, &email).await;
        for endpoint in &TABLE {
            let Access::Tenant(needed, _) = endpoint.access else { continue };
            let path = server.filled(endpoint.path).await;
            let bearer = format!("Bearer {access}");
            let headers =
                [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
            let answer = request(server.addr, endpoint.verb.as_str(), &path, &headers, b"").await;
            let refused = answer.status == 403;
            assert_eq!(refused, !may.contains(needed), "{role} {endpoint:?} {answer:?}");
            assert_ne!(answer.status, 401, "{role} {endpoint:?}");
            if endpoint.name == "session.sign_out" {
                access = signed_in(&server, &email).await.0;
            }
        }
    }
}

#[tokio::test]
async fn nobody_gives_or_takes_what_they_do_not_hold_and_an_owner_remains() {
    let server = server().await;
    let owner = user(&server, "owner@example.com", Role::Owner).await;
    let other = user(&server, "other@example.com", Role::Owner).await;
    user(&server, "admin@example.com", Role::Admin).await;
    let (admin, _) = signed_in(&server, "admin@example.com").await;
    let (as_owner, _) = signed_in(&server, "owner@example.com").await;
    let (at_owner, at_other) = (format!("/v1/users/{owner}"), format!("/v1/users/{other}"));
    for key in [&admin, &server.key] {
        let spec = json!({"email": "x@example.com", "role": "owner"}).to_string();
        assert_eq!(server.post_as(key, "/v1/users", &[], &spec).await.code(), "scope_missing");
        let demoted = patch(&server, key, &at_owner, json!({"role": "viewer"})).await;
        assert_eq!(demoted.code(), "scope_missing");
        assert_eq!(delete(&server, key, &at_owner).await.code(), "scope_missing");
    }
    let keeper = server.new_key(server.tenant, &["admin"]).await;
    let spec = json!({"email": "y@example.com", "role": "viewer"}).to_string();
    assert_eq!(server.post_as(&keeper, "/v1/users", &[], &spec).await.code(), "scope_missing");

    assert_eq!(delete(&server, &as_owner, &at_other).await.status, 200);
    assert_eq!(delete(&server, &as_owner, &at_other).await.code(), "not_found");
    assert_eq!(delete(&server, &as_owner, &at_owner).await.code(), "last_owner");
    let demoted = patch(&server, &as_owner, &at_owner, json!({"role": "admin"})).await;
    assert_eq!(demoted.code(), "last_owner");
    let same = patch(&server, &as_owner, &at_owner, json!({"role": "owner"})).await;
    assert_eq!(same.status, 200, "{same:?}");
    let taken = json!({"email": "ADMIN@example.com", "role": "viewer"}).to_string();
    let taken = server.post_as(&as_owner, "/v1/users", &[], &taken).await;
    assert_eq!(
        (taken.code().as_str(), taken.pointers()),
        ("validation_failed", vec!["/email".to_owned()])
    );
}

#[tokio::test]
async fn two_owners_cannot_take_each_other_at_once() {
    let server = server().await;
    for round in 0..5 {
        let (one, other) = (format!("one{round}@example.com"), format!("other{round}@example.com"));
        let ids =
            [user(&server, &one, Role::Owner).await, user(&server, &other, Role::Owner).await];
        let [(a, _), (b, _)] = [signed_in(&server, &one).await, signed_in(&server, &other).await];
        let paths = ids.map(|id| format!("/v1/users/{id}"));
        let (first, second) =
            tokio::join!(delete(&server, &a, &paths[1]), delete(&server, &b, &paths[0]));
        let statuses = [first.status, second.status];
        assert!(statuses.contains(&200), "{statuses:?}");
        let left = "select count(*) from app_user where role = 'owner' and state = 'active'";
        assert_eq!(server.db.sql(left).await.unwrap().trim(), "1", "{statuses:?}");
        server.db.sql("update app_user set state = 'removed', password_hash = null").await.unwrap();
    }
}

#[tokio::test]
async fn a_developer_manages_keys_of_their_own_and_they_go_with_the_developer() {
    let server = server().await;
    let id = user(&server, "dev@example.com", Role::Developer).await;
    let (dev, _) = signed_in(&server, "dev@example.com").await;
    let make = |scopes: Value| {
        server.post_as(&dev, "/v1/keys", &[], json!({"name": "mine", "scopes": scopes}).to_string())
    };
    assert_eq!(make(json!(["admin"])).await.code(), "scope_missing");
    let made = make(json!(["read", "submit"])).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    assert_eq!(made["user"], json!(id));
    let listed = server.get_as(&dev, "/v1/keys").await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "only their own");
    let others = server.key_id().await;
    assert_eq!(delete(&server, &dev, &format!("/v1/keys/{others}")).await.code(), "not_found");
    let rotate = format!("/v1/keys/{others}/rotate");
    assert_eq!(server.post_as(&dev, &rotate, &[], "").await.code(), "not_found");

    let key = made["key"].as_str().unwrap();
    assert_eq!(server.get_as(key, "/v1/tasks").await.status, 200);
    let path = format!("/v1/users/{id}");
    let viewer = patch(&server, &server.key, &path, json!({"role": "viewer"})).await;
    assert_eq!(viewer.status, 200);
    let gone = || async { (server.get_as(key, "/v1/tasks").await.status == 401).then_some(()) };
    until_some("a key beyond the role to be revoked", Duration::from_secs(2), gone).await.unwrap();
}

#[tokio::test]
async fn without_a_key_for_tokens_nobody_signs_in() {
    let server = Server::start().await;
    for (path, body) in [
        ("/v1/sessions", json!({"tenant": "first", "email": "a@b", "password": PASSWORD})),
        ("/v1/sessions/refresh", json!({"refresh_token": "x"})),
        ("/v1/sessions/accept", json!({"token": "x", "password": PASSWORD})),
    ] {
        assert_eq!(open(&server, path, body).await.code(), "not_available", "{path}");
    }
    let forged = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.";
    assert_eq!(server.get_as(forged, "/v1/tasks").await.code(), "unauthenticated");
}
