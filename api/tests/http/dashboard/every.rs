//! What holds for every page of the table: headers, and who may see it.

use super::browser::{Browser, OWN, text};
use super::webhooks::{delivery, webhook};
use crate::client::request;
use crate::server::Server;
use domain::access::{OperatorScope, Permission};
use flate2::read::GzDecoder;
use std::io::Read;
use std::time::Duration;
use testkit::poll::until;
use web::{Needs, PAGES, Verb};

#[tokio::test]
async fn every_page_has_the_policy_and_is_kept_by_no_cache() {
    let server = Server::start().await;
    let operator = server.new_operator("ops", &["read", "admin"]).await;
    let mut browsers = [
        Browser::new(&server),
        Browser::with_key(&server, &server.key).await,
        Browser::with_key(&server, &operator).await,
    ];
    for page in &PAGES {
        let path = filled(&server, page.path).await;
        for browser in &mut browsers {
            let answer = match page.method {
                Verb::Get => browser.get(&path).await,
                Verb::Post => browser.post_with(&path, &[], &OWN).await,
            };
            assert!(answer.status < 500, "{page:?}: {}", text(&answer));
            let policy = answer.header("content-security-policy").unwrap_or_default();
            assert!(
                policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
                "{page:?}"
            );
            assert!(
                policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
                "{page:?}"
            );
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{page:?}");
            if !path.starts_with("/assets/") {
                assert_eq!(answer.header("cache-control"), Some("no-store"), "{page:?}");
            }
            let html = text(&answer);
            assert!(!html.contains(" style=") && !html.contains("<style"), "{page:?}");
            assert!(!html.contains(" onclick=") && !html.contains("javascript:"), "{page:?}");
            assert_eq!(
                html.matches("<script").count(),
                html.matches("<script src=\"/assets/").count(),
                "{page:?}"
            );
        }
    }
}

/// A path of a page with parts that exist.
async fn filled(server: &Server, path: &str) -> String {
    let lever = match path {
        path if path.starts_with("/schedules/") || path.starts_with("/operators/pools/") => "pause",
        path if path.contains("/invoices/{number}/do/") => "void",
        path if path.starts_with("/operators/tenants/") => "suspend",
        path if path.starts_with("/workflows/definitions/") => "run",
        path if path.contains("/nodes/{node}/") => "rerun",
        path if path.starts_with("/webhooks/") => "rotate",
        _ => "cancel",
    };
    let path = path.replace("{file}", &web::ASSETS.style.name).replace("{lever}", lever);
    let path = path.replace("{format}", "pdf").replace("{node}", "a").replace("{line}", "1");
    if path.starts_with("/operators/") {
        let number = if path.contains("{number}") {
            server.invoice(server.tenant).await
        } else {
            String::new()
        };
        let path = path.replace("{id}", &server.tenant.to_string()).replace("{number}", &number);
        return path.replace("{name}", "default");
    }
    if path.starts_with("/webhooks/{name}") {
        webhook(server, "ops").await;
        let id = if path.contains("{id}") { delivery(server, "ops").await } else { String::new() };
        return path.replace("{name}", "ops").replace("{id}", &id);
    }
    for (start, part, route) in [
        ("/tasks/{id}", "{id}", "/v1/tasks/{id}"),
        ("/schedules/{name}", "{name}", "/v1/schedules/{name}"),
        ("/workflows/definitions/{name}", "{name}", "/v1/workflows/{name}"),
        ("/workflows/runs/{id}", "{id}", "/v1/workflow-runs/{id}"),
        ("/costs/invoices/{number}", "{number}", "/v1/invoices/{number}"),
        ("/costs/caps/{name}", "{name}", "/v1/spend-caps/{name}"),
        ("/account/keys/{id}", "{id}", "/v1/keys/{id}"),
        ("/account/users/{id}", "{id}", "/v1/users/{id}"),
    ] {
        if path.starts_with(start) {
            let route = server.filled(route).await;
            return path.replace(part, route.rsplit('/').next().unwrap());
        }
    }
    assert!(!path.contains('{'), "{path}: a new page needs its own thing here");
    path
}

#[tokio::test]
async fn each_page_shows_to_those_who_may_see_it_and_no_others() {
    let server = Server::start().await;
    let reader = server.new_key(server.tenant, &["read"]).await;
    let operator = server.new_operator("ops", &["read"]).await;
    for page in PAGES.iter().filter(|page| page.method == Verb::Get) {
        let path = filled(&server, page.path).await;
        let status =
            async |key: &str| Browser::with_key(&server, key).await.get(&path).await.status;
        let (owner, viewer, operators) =
            (status(&server.key.clone()).await, status(&reader).await, status(&operator).await);
        let wanted = match page.needs {
            Needs::Nothing | Needs::SignedIn => continue,
            Needs::Tenant => (200, 200, 403),
            Needs::May(permission) => {
                let reads = matches!(permission, Permission::ReadTasks | Permission::ReadUsage);
                (200, if reads { 200 } else { 403 }, 403)
            }
            Needs::Operator(OperatorScope::Read) => (403, 403, 200),
            Needs::Operator(OperatorScope::Admin | OperatorScope::Report) => (403, 403, 403),
        };
        assert_eq!((owner, operators), (wanted.0, wanted.2), "{page:?}");
        // Of a lever the page is the same path as for those who may.
        if !page.path.contains("{lever}") {
            assert_eq!(viewer, wanted.1, "{page:?}");
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_page_to_a_browser_and_a_problem_to_a_program() {
    let server = Server::start().await;
    let html = [("Accept", "text/html,application/xhtml+xml")];
    let answer = request(server.addr, "GET", "/nothing", &html, b"").await;
    assert_eq!(answer.status, 404);
    assert!(answer.header("content-type").unwrap().starts_with("text/html"));
    assert!(answer.header("content-security-policy").is_some());
    assert!(!text(&answer).contains("<nav"), "a stranger has nowhere to go but to sign in");
    let mut owner = Browser::with_key(&server, &server.key).await;
    let missing = owner.get("/nothing").await;
    let shown = text(&missing);
    assert_eq!(missing.status, 404);
    assert!(
        shown.contains("There is no such page") && shown.contains("href=\"/tasks\""),
        "{shown}"
    );
    assert!(shown.contains("Sign out"), "{shown}");
    let reader = server.new_key(server.tenant, &["read"]).await;
    let mut gone = Browser::with_key(&server, &reader).await;
    server.db.sql("update api_key set revoked_at = now() where scopes = '{read}'").await.unwrap();
    let is_out = || async { server.get_as(&reader, "/v1/tasks").await.status == 401 };
    until("the key is revoked", Duration::from_secs(10), is_out).await.unwrap();
    let missing = gone.get("/nothing").await;
    assert!(missing.status == 404 && !text(&missing).contains("<nav"), "{}", text(&missing));
    for (path, headers) in
        [("/nothing", &[][..]), ("/v1/nothing", &html[..]), ("/nothing", &[("Accept", "*/*")][..])]
    {
        assert_eq!(request(server.addr, "GET", path, headers, b"").await.code(), "route_not_found");
    }
}

#[tokio::test]
async fn the_first_load_is_small_and_its_files_are_kept_for_ever() {
    let server = Server::start().await;
    for _ in 0..60 {
        server.noop().await;
    }
    let mut browser = Browser::with_key(&server, &server.key).await;
    let gzip = [("Accept-Encoding", "gzip")];
    let page = browser.send("GET", "/tasks", &gzip, "").await;
    assert_eq!(page.header("content-encoding"), Some("gzip"));
    let mut html = String::new();
    GzDecoder::new(&page.body[..]).read_to_string(&mut html).unwrap();
    let mut bytes = page.body.len();
    let files: Vec<&str> = html.split('"').filter(|part| part.starts_with("/assets/")).collect();
    let mut seen = Vec::new();
    for file in files {
        let answer = browser.send("GET", file, &gzip, "").await;
        assert_eq!(
            answer.header("cache-control"),
            Some("public, max-age=31536000, immutable"),
            "{file}"
        );
        assert!(answer.header("set-cookie").is_none(), "{file}");
        if !seen.contains(&file) {
            bytes += answer.body.len();
            seen.push(file);
        }
    }
    assert_eq!(seen.len(), 3, "style, script and icon");
    assert!(bytes <= 90 * 1024, "{bytes} bytes");
    assert_eq!(browser.get("/assets/berth-000000000000.css").await.status, 404);
}
