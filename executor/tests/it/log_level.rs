//! What is logged changes while the executor runs, through its internal address.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use nix::sys::signal::Signal;
use protocol::result::Outcome;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const CONFIGURED: &str = "info,h2=off";
const FINER: &str = "info,h2=off,executor=debug";

/// The status and the body of the answer; none: no connection.
fn ask(address: &str, method: &str, query: &str, extra: &str, body: &str) -> Option<(u16, String)> {
    let mut socket = TcpStream::connect(address).ok()?;
    let len = body.len();
    let head = format!("{method} /log-level{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
    write!(socket, "{head}{extra}Content-Length: {len}\r\n\r\n{body}").ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

#[tokio::test]
async fn the_log_filter_changes_for_a_time_or_for_good_and_a_wrong_one_changes_nothing() {
    let (rm, home) = (Rm::start().await, Home::new());
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let settings = [
        ("EXECUTOR__HEALTH_LISTEN", address.as_str()),
        ("TELEMETRY__LOG", CONFIGURED),
        ("EXECUTOR__ISOLATION", "none"),
    ];
    let mut agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    let now = || ask(&address, "GET", "", "", "").map(|(_, text)| text).unwrap_or_default();
    until("it says what is logged", LIMIT, || now() == format!("{CONFIGURED}\n")).await;
    let run = async || outcome(&rm.result(rm.assign(&bash("true"))).await);
    // Not logged.
    assert_eq!(run().await, Outcome::Succeeded);

    let of_a_task = "Berth-Task-Id: task_1\r\n";
    for (query, extra, body, status, why) in [
        ("", "", "debgu", 400, "`debgu` is not a level"),
        ("", "", "info,executor=loud", 400, "\"info,executor=loud\" is no log filter"),
        ("", "", "", 400, "empty"),
        ("?for=soon", "", "debug", 400, "`for`"),
        ("?for=25h", "", "debug", 400, "1s to 24h"),
        ("?until=10m", "", "debug", 400, "`until`"),
        ("", of_a_task, "debug", 403, "not for tasks"),
    ] {
        let (got, text) = ask(&address, "PUT", query, extra, body).unwrap();
        assert!(got == status && text.contains(why), "{query} {body}: {got} {text}");
    }
    assert_eq!(ask(&address, "POST", "", "", "debug").unwrap().0, 405);
    assert_eq!(now(), format!("{CONFIGURED}\n"));
    assert!(!agent.log().contains("The log filter changes"), "{}", agent.log());

    let (status, text) = ask(&address, "PUT", "", "", FINER).unwrap();
    assert_eq!((status, text), (200, format!("{FINER}\n")));
    // Logged, once.
    assert_eq!(run().await, Outcome::Succeeded);
    let (status, text) = ask(&address, "PUT", "?for=1s", "", "warn").unwrap();
    assert!(status == 200 && text.starts_with("warn\nuntil 2"), "{status} {text}");
    assert!(text.ends_with(&format!(", then {FINER}\n")), "{text}");
    until("what was there before comes back", LIMIT, || now() == format!("{FINER}\n")).await;
    // One for a time, that ends before its time.
    ask(&address, "PUT", "?for=1h", "", "off").unwrap();
    let (status, text) = ask(&address, "DELETE", "", "", "").unwrap();
    assert_eq!((status, text), (200, format!("{CONFIGURED}\n")));
    // Not logged.
    assert_eq!(run().await, Outcome::Succeeded);

    agent.signal(Signal::SIGTERM);
    assert!(agent.wait(LIMIT).await.success());
    let log = agent.log();
    assert_eq!(log.matches("Attempt 1 of").count(), 1, "{log}");
    assert_eq!(log.matches("The log filter changes to").count(), 4, "{log}");
}
