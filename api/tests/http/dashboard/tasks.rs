//! Tasks: the list and its filters, forms, levers, and what others may not see.

use super::browser::{Browser, EVIL, location, text};
use crate::server::{ALL_SCOPES, Server};

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
async fn a_call_has_a_status_and_a_script_an_exit_code() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    for (run, code, label) in [
        (r#"{"http":{"url":"https://example.com/"}}"#, 204, "Status"),
        (r#"{"command":{"argv":["true"]}}"#, 0, "Exit code"),
    ] {
        let made = server.post("/v1/tasks", format!(r#"{{"run":{run}}}"#)).await;
        let id = made.json()["id"].as_str().unwrap().to_owned();
        server.end(&id, "succeeded", Some(code)).await;
        let page = browser.page(&format!("/tasks/{id}")).await;
        assert!(page.contains(&format!("<dt>{label}</dt><dd>{code}</dd>")), "{page}");
    }
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
