//! What the form of a task shows as code: the Rust of it is compiled here, and the Python is run; both submit the task of the form.

use super::browser::{Browser, OWN, location, text};
use crate::server::Server;
use client::Client;
use serde_json::Value;
use std::error::Error;
use std::process::Command;

/// A program as the page shows it, compiled.
macro_rules! shown {
    ($name:ident, $file:literal) => {
        #[expect(
            dead_code,
            clippy::disallowed_methods,
            clippy::print_stdout,
            reason = "as the page shows it"
        )]
        mod $name {
            include!($file);

            pub const TEXT: &str = include_str!($file);

            pub fn made() -> Result<NewTask, Box<dyn Error>> {
                task()
            }
        }
    };
}

shown!(command, "shown/command.rs");
shown!(call, "shown/call.rs");
shown!(short, "shown/short.rs");

const COMMAND: Sent<'_> = &[
    ("kind", "command"),
    ("command", "echo 'a \\ \"b\"' $HOME\nexit 3"),
    ("env", "A=x y"),
    ("name", "it's \"quoted\""),
    ("tier", "regular"),
    ("delay", "2h"),
    ("delay_tolerance", "1500ms"),
    ("execution_cap", "90s"),
    ("max_attempts", "3"),
    ("pool", "default"),
    ("unique_key", "u"),
    ("concurrency_key", "one at a time"),
    ("labels", "team=<media> é\nenv=b=c"),
    ("expire_if_late", "yes"),
];
const CALL: Sent<'_> = &[
    ("kind", "http"),
    ("url", "https://example.com/hook?a=1"),
    ("method", "POST"),
    ("body", "{\"a\": \"ü\"}"),
];
const SHORT: Sent<'_> = &[("kind", "command"), ("command", "echo hi")];

/// A task that a program makes.
type Made = fn() -> Result<client::NewTask, Box<dyn Error>>;

/// Fields of the form.
type Sent<'a> = &'a [(&'a str, &'a str)];

/// The code under a heading of the page.
fn code(html: &str, heading: &str) -> String {
    let at = html.find(&format!("<h3>{heading}")).unwrap_or_else(|| panic!("{heading}: {html}"));
    let code = html[at..].split_once("<pre>").unwrap().1.split_once("</pre>").unwrap().0;
    let plain = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    plain.iter().fold(code.to_owned(), |code, (from, to)| code.replace(from, to))
}

/// What was asked for, of a stored task that is cancelled now: its unique key is free again.
async fn asked(server: &Server, id: &str) -> Value {
    let mut task = server.get(&format!("/v1/tasks/{id}")).await.json();
    assert_eq!(server.post(&format!("/v1/tasks/{id}/cancel"), "").await.status, 200);
    let fields = task.as_object_mut().unwrap();
    for own in [
        "id",
        "created_at",
        "updated_at",
        "due_at",
        "run_at",
        "start_deadline",
        "version",
        "idempotency_key",
        "warnings",
        "traceparent",
    ] {
        fields.remove(own);
    }
    task
}

/// Runs a program of Python with the key in its environment; what it printed.
async fn python(code: String, key: &str) -> String {
    let mut program = Command::new("python3");
    program.args(["-I", "-c", &code]).env("BERTH_API_KEY", key);
    let run = tokio::task::spawn_blocking(move || program.output().unwrap()).await.unwrap();
    assert!(run.status.success(), "{}\n{code}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn the_code_beside_the_form_submits_the_task_of_the_form() {
    let server = Server::start().await;
    let address = format!("http://{}", server.addr);
    let client = Client::builder(address.as_str()).api_key(server.key.as_str()).build().unwrap();
    let mut browser = Browser::with_key(&server, &server.key).await;
    let all: [(Sent<'_>, &str, Made); 3] = [
        (COMMAND, command::TEXT, command::made),
        (CALL, call::TEXT, call::made),
        (SHORT, short::TEXT, short::made),
    ];
    for (fields, program, made) in all {
        let sent = browser.post("/tasks/new", "/tasks/new", fields).await;
        let by_form = location(&sent).trim_start_matches("/tasks/").split('?').next().unwrap();
        assert_eq!(sent.status, 303, "{}", text(&sent));
        let by_form = asked(&server, by_form).await;

        let shown = [fields, &[("show", "yes")]].concat();
        let html = text(&browser.post("/tasks/new", "/tasks/new", &shown).await);
        assert_eq!(code(&html, "Rust"), program, "the page shows what is compiled here");
        let by_rust = client.submit(&made().unwrap()).await.unwrap().id.to_string();
        assert_eq!(asked(&server, &by_rust).await, by_form);

        // The tests' browser calls the server so.
        let script = code(&html, "Python").replace("http://berth/", &format!("{address}/"));
        let by_python = python(script, &server.key).await;
        assert_eq!(asked(&server, &by_python).await, by_form);
    }
    // What neither the API nor Rust takes is left out of the Rust, and refused to the others.
    let wrong = [("kind", "command"), ("command", "true"), ("delay", "soon"), ("show", "yes")];
    let token = super::browser::token(&browser.page("/tasks/new").await);
    let fields = [&[("csrf", token.as_str())][..], &wrong].concat();
    let html = text(&browser.post_with("/tasks/new", &fields, &OWN).await);
    assert!(
        !code(&html, "Rust").contains("delay")
            && code(&html, "Python").contains("\"delay\": \"soon\""),
        "{html}"
    );
}
