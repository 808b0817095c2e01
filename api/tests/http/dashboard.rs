//! The dashboard as a browser meets it: signing in and out, forms, what each kind of person sees, and what never becomes markup.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, Server};
use domain::access::Permission;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::SocketAddr;
use std::time::Duration;
use web::{Needs, PAGES, Verb};

const EVIL: &str = "<script>alert(1)</script>";
const OWN: [(&str, &str); 1] = [("Sec-Fetch-Site", "same-origin")];

/// A browser: it keeps cookies, and sends forms as a page of the dashboard would.
struct Browser {
    addr: SocketAddr,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    fn new(server: &Server) -> Self {
        Self { addr: server.addr, cookies: BTreeMap::new() }
    }

    /// One that has signed in with a key.
    async fn with_key(server: &Server, key: &str) -> Self {
        let mut browser = Self::new(server);
        let answer = browser.sign_in(&[("key", key)]).await;
        assert_eq!(answer.status, 303, "{}", text(&answer));
        browser
    }

    fn cookie(&self) -> String {
        let all = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        all.collect::<Vec<_>>().join("; ")
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let cookie = self.cookie();
        let mut headers = vec![("Accept", "text/html,*/*;q=0.8"), ("Cookie", cookie.as_str())];
        if method == "POST" {
            headers.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        headers.extend_from_slice(more);
        let answer = request(self.addr, method, path, &headers, body.as_bytes()).await;
        let set = answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        for (_, cookie) in set {
            let (pair, attributes) = cookie.split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    /// A page that must be there, as text.
    async fn page(&mut self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", text(&answer));
        text(&answer)
    }

    /// Sends a form with the token of a page.
    async fn post(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let token = token(&text(&self.get(page).await));
        self.post_with(action, &[&[("csrf", token.as_str())][..], fields].concat(), &OWN).await
    }

    async fn post_with(
        &mut self,
        action: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Answer {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send("POST", action, headers, &body).await
    }

    async fn sign_in(&mut self, fields: &[(&str, &str)]) -> Answer {
        self.post("/sign-in", "/sign-in", fields).await
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// The token of a form of a page.
fn token(html: &str) -> String {
    let at = html.find(r#"name="csrf" value=""#).unwrap_or_else(|| panic!("no form: {html}"));
    html[at..].split('"').nth(3).unwrap().to_owned()
}

fn location(answer: &Answer) -> &str {
    answer.header("location").unwrap_or_default()
}

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
    let lever = if path.starts_with("/schedules/") { "pause" } else { "cancel" };
    let path = path.replace("{file}", &web::ASSETS.style.name).replace("{lever}", lever);
    let path = path.replace("{format}", "pdf");
    for (start, part, route) in [
        ("/tasks/{id}", "{id}", "/v1/tasks/{id}"),
        ("/schedules/{name}", "{name}", "/v1/schedules/{name}"),
        ("/workflows/definitions/{name}", "{name}", "/v1/workflows/{name}"),
        ("/workflows/runs/{id}", "{id}", "/v1/workflow-runs/{id}"),
        ("/costs/invoices/{number}", "{number}", "/v1/invoices/{number}"),
        ("/account/keys/{id}", "{id}", "/v1/keys/{id}"),
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
            Needs::Operator(_) => (403, 403, 200),
        };
        assert_eq!((owner, operators), (wanted.0, wanted.2), "{page:?}");
        // Of a lever the page is the same path as for those who may.
        if !page.path.contains("{lever}") {
            assert_eq!(viewer, wanted.1, "{page:?}");
        }
    }
}

#[tokio::test]
async fn a_viewer_sees_no_lever_and_is_refused_when_sending_one() {
    let server = Server::start().await;
    let task = server.noop().await;
    let reader = server.new_key(server.tenant, &["read"]).await;
    let mut browser = Browser::with_key(&server, &reader).await;
    for path in ["/".to_owned(), "/tasks".to_owned(), format!("/tasks/{task}")] {
        let page = browser.page(&path).await;
        for lever in ["/do/", "/tasks/new", "/tasks/bulk\" class", "type=\"checkbox\""] {
            assert!(!page.contains(lever), "{path}: {lever}");
        }
    }
    let answer = browser.post("/", &format!("/tasks/{task}/do/cancel"), &[]).await;
    assert_eq!(answer.status, 403);
    let answer = browser
        .post("/", "/tasks/bulk", &[("lever", "cancel"), ("task", &task), ("sure", "yes")])
        .await;
    assert_eq!(answer.status, 403);
    assert_eq!(server.get(&format!("/v1/tasks/{task}")).await.json()["state"], "ready");
}

#[tokio::test]
async fn a_foreign_task_and_an_unknown_one_are_not_there() {
    let server = Server::start().await;
    let other = server.new_tenant("other").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    let task = server.noop().await;
    let mut browser = Browser::with_key(&server, &key).await;
    let unknown = domain::id::TaskId::fresh().to_string();
    for id in [task.as_str(), unknown.as_str(), "x", "%3Cscript%3E"] {
        for path in [
            format!("/tasks/{id}"),
            format!("/tasks/{id}/do/cancel"),
            format!("/tasks/{id}?fragment=output"),
        ] {
            let answer = browser.get(&path).await;
            assert_eq!(answer.status, 404, "{path}");
            assert!(!text(&answer).contains("<script>alert"), "{path}");
        }
    }
    assert!(!browser.page("/tasks").await.contains(&task));
    // A fragment that was made for one tenant is not shown to another.
    let mut owner = Browser::with_key(&server, &server.key).await;
    assert!(owner.page("/tasks?fragment=list").await.contains(&task));
    assert!(!browser.page("/tasks?fragment=list").await.contains(&task));
}

#[tokio::test]
async fn markup_in_what_people_chose_is_shown_as_text() {
    let server = Server::start().await;
    let body = serde_json::json!({
        "name": EVIL, "labels": {"team": EVIL}, "unique_key": EVIL, "concurrency_key": EVIL,
        "run": {"command": {"argv": [EVIL], "env": {"A": EVIL}}}
    });
    let answer = server.post("/v1/tasks", body.to_string()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    let mut browser = Browser::with_key(&server, &server.key).await;
    let paths = [
        "/".to_owned(),
        "/tasks".to_owned(),
        format!("/tasks/{id}"),
        format!("/tasks/{id}?find=%3Cscript%3Ealert(1)%3C/script%3E"),
        format!("/tasks/{id}/do/cancel"),
        format!("/tasks/new?from={id}"),
        "/tasks?q=%3Cscript%3Ealert(1)%3C/script%3E&schedule=%22%3E%3Cimg%20src=x%3E".to_owned(),
        "/sign-in?next=%22%3E%3Cscript%3Ealert(1)%3C/script%3E".to_owned(),
        "/no/%3Cscript%3Ealert(1)%3C/script%3E".to_owned(),
    ];
    for path in paths {
        let html = text(&browser.get(&path).await);
        assert!(!html.contains("<script>alert") && !html.contains("<img src=x"), "{path}");
    }
    let page = browser.page(&format!("/tasks/{id}")).await;
    assert!(page.matches("&#60;script&#62;alert(1)").count() >= 4, "{page}");
}

#[tokio::test]
async fn filters_stay_in_the_url_from_page_to_page() {
    let server = Server::start().await;
    for place in 0..60 {
        let body = format!(
            r#"{{"name":"n","labels":{{"team":"a b"}},"run":{{"noop":{{}}}},"delay":"{}m"}}"#,
            place + 10
        );
        assert_eq!(server.post("/v1/tasks", body).await.status, 201);
    }
    server.noop().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let page = browser.page("/tasks?q=team%3Da+b&state=scheduled,ready&tier=basic").await;
    assert_eq!(page.matches("<th scope=\"row\">").count(), 50);
    let next = page.split("href=\"").find(|href| href.contains("cursor=")).unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
    for kept in ["q=team%3Da+b", "state=scheduled%2Cready", "tier=basic"] {
        assert!(next.contains(kept), "{next}");
    }
    let page = browser.page(&next).await;
    assert_eq!(page.matches("<th scope=\"row\">").count(), 10);
    assert!(page.contains("Newest") && !page.contains("data-live"), "an older page does not move");
    // An id leads to its task; what is wrong is told.
    let task = server.noop().await;
    assert_eq!(location(&browser.get(&format!("/tasks?q={task}")).await), format!("/tasks/{task}"));
    let answer = browser.get("/tasks?state=nonsense").await;
    assert_eq!(answer.status, 400);
    assert!(text(&answer).contains("is not a state"), "{}", text(&answer));
}

#[tokio::test]
async fn a_task_is_submitted_once_and_what_is_wrong_is_told_at_its_field() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let wrong = [
        ("kind", "command"),
        ("command", "echo hi"),
        ("delay", "soon"),
        ("max_attempts", "x"),
        ("once", "a"),
    ];
    let answer = browser.post("/tasks/new", "/tasks/new", &wrong).await;
    let html = text(&answer);
    assert_eq!(answer.status, 422, "{html}");
    assert!(
        html.matches("aria-invalid=\"true\"").count() >= 1 && html.contains("echo hi"),
        "{html}"
    );
    let good =
        [("kind", "command"), ("command", "echo hi"), ("name", "from a form"), ("once", "b")];
    let first = browser.post("/tasks/new", "/tasks/new", &good).await;
    let again = browser.post("/tasks/new", "/tasks/new", &good).await;
    assert_eq!((first.status, location(&first)), (303, location(&again)), "{}", text(&first));
    let page = browser.page(location(&first)).await;
    assert!(page.contains("from a form") && page.contains("The task was submitted."), "{page}");
    assert_eq!(
        server.get("/v1/tasks?name=from+a+form").await.json()["data"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn several_tasks_are_cancelled_after_a_question() {
    let server = Server::start().await;
    let tasks = [server.noop().await, server.noop().await];
    let mut browser = Browser::with_key(&server, &server.key).await;
    let picked = [
        ("lever", "cancel"),
        ("task", tasks[0].as_str()),
        ("task", tasks[1].as_str()),
        ("task", "x"),
    ];
    let answer = browser.post("/tasks", "/tasks/bulk", &picked).await;
    assert!(
        answer.status == 200 && text(&answer).contains("Cancel these tasks?"),
        "{}",
        text(&answer)
    );
    assert_eq!(server.get(&format!("/v1/tasks/{}", tasks[0])).await.json()["state"], "ready");
    let sure = [&picked[..], &[("sure", "yes"), ("once", "k")]].concat();
    let answer = browser.post("/tasks", "/tasks/bulk", &sure).await;
    let html = text(&answer);
    assert_eq!(
        (html.matches("now cancelled").count(), html.matches("refused").count()),
        (2, 1),
        "{html}"
    );
    for task in &tasks {
        assert_eq!(server.get(&format!("/v1/tasks/{task}")).await.json()["state"], "cancelled");
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
