//! Live output: server-sent events with resume, across cuts, processes and slow readers.

use crate::client::request;
use crate::server::{ALL_SCOPES, Server};
use client::{Client, ClientError, Follow, FollowEvent, LogFilter, RetryPolicy, Stream};
use domain::task::State;
use std::time::Duration;
use testkit::proxy::{Mode, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn uuid(id: &str) -> &str {
    id.trim_start_matches("task_")
}

/// As the resource manager does when it places a task.
async fn place(server: &Server, id: &str, attempt: u32) {
    let sql = format!(
        "update task set state = 'running', attempt = {attempt}, session_id = gen_random_uuid(), assignment = 1,
            placed_at = now(), wake_at = now() + interval '1 hour', first_started_at = now() where id = '{}'",
        uuid(id)
    );
    server.db.sql(&sql).await.unwrap();
}

async fn write(server: &Server, id: &str, (attempt, stream, seq): (u32, u8, u32), text: &str) {
    let sql = format!(
        "insert into task_output (tenant_id, task_id, attempt, stream, seq, \"offset\", data)
         values ('{}', '{}', {attempt}, {stream}, {seq}, {}, convert_to('{text}', 'UTF8'))",
        server.tenant.uuid(),
        uuid(id),
        seq * 10
    );
    server.db.sql(&sql).await.unwrap();
}

/// Chunks of 64 KiB, of which sockets do not hold many.
pub async fn write_much(server: &Server, id: &str, chunks: u32) {
    let sql = format!(
        "insert into task_output (tenant_id, task_id, attempt, stream, seq, \"offset\", data)
         select '{}', '{}'::uuid, 1, 1, n, n::bigint * 65536, decode(repeat(to_hex(97 + n % 26), 65536), 'hex')
         from generate_series(0, {chunks} - 1) n",
        server.tenant.uuid(),
        uuid(id)
    );
    server.db.sql(&sql).await.unwrap();
}

async fn end(server: &Server, id: &str, state: &str, exit_code: i32) {
    let sql = format!(
        "with gone as (delete from task where id = '{}' returning *)
         insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at,
            start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, finished_at, exit_code)
         select tenant_id, id, pool, '{state}', tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at, start_deadline,
            cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, now(), {exit_code} from gone",
        uuid(id)
    );
    server.db.sql(&sql).await.unwrap();
}

fn typed(server: &Server, url: &str) -> Client {
    let retry = RetryPolicy {
        tries: 20,
        first_wait: Duration::from_millis(20),
        wait_max: Duration::from_millis(500),
    };
    Client::builder(url).api_key(server.key.as_str()).retry(retry).build().unwrap()
}

fn follow(server: &Server, id: &str) -> Follow {
    typed(server, &format!("http://{}", server.addr))
        .follow(id.parse().unwrap(), LogFilter::default())
}

async fn next(following: &mut Follow) -> FollowEvent {
    let event = tokio::time::timeout(Duration::from_secs(20), following.next()).await;
    event.expect("an event within 20 s").unwrap().expect("an event")
}

/// The text of the next output, over any states.
async fn text(following: &mut Follow) -> (u32, Stream, u32, String) {
    loop {
        if let FollowEvent::Output(chunk) = next(following).await {
            let text = String::from_utf8(chunk.data).unwrap();
            return (chunk.attempt, chunk.stream.known().copied().unwrap(), chunk.seq, text);
        }
    }
}

#[tokio::test]
async fn output_comes_as_it_is_written_with_states_and_the_end() {
    let server = Server::start().await;
    let id = server.noop().await;
    let mut following = follow(&server, &id);
    let state = |event| match event {
        FollowEvent::State(state) => (state.state, state.attempt),
        other => panic!("{other:?}"),
    };
    assert_eq!(state(next(&mut following).await), (State::Ready.into(), 0));
    place(&server, &id, 1).await;
    assert_eq!(state(next(&mut following).await), (State::Running.into(), 1));
    // Both streams grow side by side: neither hides the other.
    for (stream, seq, word) in [(2, 0, "err"), (1, 0, "one"), (2, 1, "more"), (1, 1, "two")] {
        write(&server, &id, (1, stream, seq), word).await;
        let shown = text(&mut following).await;
        let of = if stream == 2 { Stream::Stderr } else { Stream::Stdout };
        assert_eq!(shown, (1, of, seq, word.to_owned()));
    }
    place(&server, &id, 2).await;
    write(&server, &id, (2, 1, 0), "again").await;
    assert_eq!(text(&mut following).await, (2, Stream::Stdout, 0, "again".to_owned()));
    write(&server, &id, (2, 1, 1), "last words").await;
    end(&server, &id, "failed", 3).await;
    assert_eq!(text(&mut following).await.3, "last words");
    assert_eq!(state(next(&mut following).await), (State::Failed.into(), 2));
    let FollowEvent::End(last) = next(&mut following).await else { panic!("the end") };
    assert_eq!((last.state, last.exit_code), (State::Failed.into(), Some(3)));
    assert!(following.next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_task_that_has_ended_is_told_whole_and_the_answer_ends() {
    let server = Server::start().await;
    let id = server.noop().await;
    place(&server, &id, 1).await;
    for seq in 0..20 {
        write(&server, &id, (1, 1, seq), "x").await;
    }
    end(&server, &id, "succeeded", 0).await;
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), ("Accept", "text/event-stream, */*;q=0.1")];
    let target = format!("/v1/tasks/{id}/logs");
    let answer = request(server.addr, "GET", &target, &headers, b"").await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let whole = String::from_utf8(answer.body).unwrap();
    assert_eq!(whole.matches("event: output\n").count(), 20, "{whole}");
    assert!(whole.starts_with("retry: "), "{whole}");
    assert!(
        whole.contains(
            "event: end\nid: 1.20.0\ndata: {\"state\":\"succeeded\",\"attempt\":1,\"exit_code\":0"
        ),
        "{whole}"
    );
    // From the middle on, to the byte.
    let resumed = [headers[0], ("Last-Event-ID", "1.17.0")];
    let answer = request(server.addr, "GET", &format!("{target}?follow=true"), &resumed, b"").await;
    let rest = String::from_utf8(answer.body).unwrap();
    assert_eq!(rest.matches("event: output\n").count(), 3, "{rest}");
    assert!(rest.contains("\"seq\":17") && !rest.contains("\"seq\":16"), "{rest}");
    // Only one stream, and only one attempt.
    let other =
        request(server.addr, "GET", &format!("{target}?follow=true&stream=stderr"), &headers, b"")
            .await;
    assert!(!String::from_utf8(other.body).unwrap().contains("event: output"));
}

#[tokio::test]
async fn a_following_begins_with_the_last_lines_or_at_a_time_and_goes_on_from_its_own_place() {
    let server = Server::start().await;
    let id = server.noop().await;
    place(&server, &id, 1).await;
    write(&server, &id, (1, 1, 0), "old\none\n").await;
    write(&server, &id, (1, 2, 1), "err").await;
    let all = "update task_output set stored_at = stored_at - interval '1 hour'";
    server.db.sql(all).await.unwrap();
    let client = typed(&server, &format!("http://{}", server.addr));
    let tail = LogFilter { tail: Some(2), ..LogFilter::default() };
    let mut tailing = client.follow(id.parse().unwrap(), tail);
    assert_eq!(text(&mut tailing).await, (1, Stream::Stdout, 0, "one\n".to_owned()));
    assert_eq!(text(&mut tailing).await.3, "err");
    let since = LogFilter { since: "1m".parse().ok(), ..LogFilter::default() };
    let mut recent = client.follow(id.parse().unwrap(), since);
    write(&server, &id, (1, 1, 2), "new\n").await;
    for following in [&mut tailing, &mut recent] {
        assert_eq!(text(following).await, (1, Stream::Stdout, 2, "new\n".to_owned()));
    }
    end(&server, &id, "succeeded", 0).await;
    let bearer = format!("Bearer {}", server.key);
    // A place in the middle of a chunk that was not sent yet is kept in the id.
    let headers = [("Authorization", bearer.as_str()), ("Last-Event-ID", "1.0.2.4.0")];
    let target = format!("/v1/tasks/{id}/logs?follow=true&tail=1");
    let answer = request(server.addr, "GET", &target, &headers, b"").await;
    let rest = String::from_utf8(answer.body).unwrap();
    let output: Vec<&str> =
        rest.split("\n\n").filter(|event| event.starts_with("event: output")).collect();
    assert_eq!(output.len(), 2, "{rest}");
    assert!(
        output[0].contains("\"offset\":4") && output[0].contains("\"text\":\"one\\n\""),
        "{rest}"
    );
}

#[tokio::test]
async fn a_following_that_cannot_be_is_refused() {
    let server = Server::start().await;
    let id = server.noop().await;
    let target = format!("/v1/tasks/{id}/logs");
    for (query, pointer) in [
        ("follow=yes", "query:follow"),
        ("follow=true&cursor=x", "query:cursor"),
        ("follow=true&limit=5", "query:limit"),
        ("follow=true&format=raw", "query:format"),
    ] {
        let answer = server.get(&format!("{target}?{query}")).await;
        assert_eq!((answer.status, answer.pointers()), (400, vec![pointer.to_owned()]), "{query}");
    }
    let bearer = format!("Bearer {}", server.key);
    for bad in ["x", "1.2", "1.2.3.4", "-1.0.0", "99999999999.0.0"] {
        let headers = [("Authorization", bearer.as_str()), ("Last-Event-ID", bad)];
        let answer =
            request(server.addr, "GET", &format!("{target}?follow=true"), &headers, b"").await;
        assert_eq!(answer.pointers(), ["header:Last-Event-ID"], "{bad}");
    }
    let foreign = server.new_key(server.new_tenant("second").await, &ALL_SCOPES).await;
    let answer = server.get_as(&foreign, &format!("{target}?follow=true")).await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"));
}

#[tokio::test]
async fn a_cut_connection_is_made_good_without_a_gap_and_without_repeating() {
    let server = Server::start().await;
    let id = server.noop().await;
    place(&server, &id, 1).await;
    let proxy = Proxy::start(server.addr.to_string()).await.unwrap();
    let client = typed(&server, &format!("http://{}", proxy.address()));
    let mut following = client.follow(id.parse().unwrap(), LogFilter::default());
    for round in 0..4 {
        for seq in [round * 2, round * 2 + 1] {
            write(&server, &id, (1, 1, seq), "x").await;
            assert_eq!(text(&mut following).await.2, seq);
        }
        proxy.set(Mode::Reset);
        write(&server, &id, (1, 2, round), "while it was cut").await;
        proxy.set(Mode::Pass);
        assert_eq!(
            text(&mut following).await,
            (1, Stream::Stderr, round, "while it was cut".to_owned())
        );
    }
    assert!(proxy.accepted() >= 4, "{}", proxy.accepted());
}

#[tokio::test]
async fn a_process_that_stops_lets_go_at_once_and_another_goes_on() {
    let mut server = Server::start().await;
    let id = server.noop().await;
    place(&server, &id, 1).await;
    let second = server.twin().await;
    // A front that sends new connections to the second process once the first has stopped.
    let proxy = Proxy::start(server.addr.to_string()).await.unwrap();
    let mut first = typed(&server, &format!("http://{}", proxy.address()))
        .follow(id.parse().unwrap(), LogFilter::default());
    write(&server, &id, (1, 1, 0), "before").await;
    assert_eq!(text(&mut first).await.3, "before");
    let raw = stream(&server, &id, "").await;
    server.stop.shut_down();
    let stopped =
        tokio::time::timeout(Duration::from_secs(10), server.handle.take().unwrap().stopped());
    stopped.await.expect("a stream must not hold up the stop").unwrap();
    let (seen, last_id) = drained(raw).await;
    assert!(seen.contains("before") && !seen.contains("event: end"), "{seen}");
    write(&server, &id, (1, 1, 1), "after").await;
    end(&server, &id, "succeeded", 0).await;
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), ("Last-Event-ID", last_id.as_str())];
    let answer =
        request(second.addr, "GET", &format!("/v1/tasks/{id}/logs?follow=true"), &headers, b"")
            .await;
    let rest = String::from_utf8(answer.body).unwrap();
    assert!(
        rest.contains("after") && !rest.contains("before") && rest.contains("event: end"),
        "{rest}"
    );
}

/// A following as bytes on a socket.
pub async fn stream(server: &Server, id: &str, more: &str) -> TcpStream {
    stream_as(server, &server.key, id, more).await
}

async fn stream_as(server: &Server, key: &str, id: &str, more: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let head = format!(
        "GET /v1/tasks/{id}/logs?follow=true HTTP/1.1\r\nHost: berth\r\nAuthorization: Bearer {key}\r\n{more}\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    socket.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    socket
}

/// All that comes until the end, and the last event's id.
pub async fn drained(mut socket: TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), socket.read_to_end(&mut bytes));
    read.await.expect("an end").unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let id =
        text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap_or_default();
    (text.clone(), id.to_owned())
}

#[tokio::test]
async fn streams_are_limited_for_a_tenant_and_for_the_process_and_come_back() {
    let limits = [("BERTH_API__MAX_TENANT_STREAMS", "2"), ("BERTH_API__MAX_STREAMS", "3")];
    let server = Server::start_with(&limits).await;
    let id = server.noop().await;
    let target = format!("/v1/tasks/{id}/logs?follow=true");
    let first = stream(&server, &id, "").await;
    let _second = stream(&server, &id, "").await;
    let refused = server.get(&target).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_streams"));
    assert_eq!(refused.header("retry-after"), Some("1"));

    let key = server.new_key(server.new_tenant("second").await, &ALL_SCOPES).await;
    let theirs = server.post_as(&key, "/v1/tasks", &[], crate::server::NOOP).await.json();
    let theirs = theirs["id"].as_str().unwrap().to_owned();
    let _third = stream_as(&server, &key, &theirs, "").await;
    let full = server.get_as(&key, &format!("/v1/tasks/{theirs}/logs?follow=true")).await;
    assert_eq!((full.status, full.code().as_str()), (503, "overloaded"));
    assert!(full.header("retry-after").is_some());

    // A client that goes away gives its place back with the next thing that is to be told.
    drop(first);
    place(&server, &id, 1).await;
    let free = || async {
        write(&server, &id, (1, 1, rand_seq()), "x").await;
        let answer = tokio::time::timeout(Duration::from_millis(300), server.get(&target)).await;
        // No answer within the time: it is a stream, and open.
        answer.is_err().then_some(())
    };
    testkit::poll::until_some("a free place", Duration::from_secs(10), free).await.unwrap();
}

fn rand_seq() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[tokio::test]
async fn a_slow_reader_holds_a_bounded_buffer_and_gets_everything() {
    let server = Server::start().await;
    let id = server.noop().await;
    place(&server, &id, 1).await;
    // 64 MiB: far more than sockets hold.
    write_much(&server, &id, 1024).await;
    end(&server, &id, "succeeded", 0).await;
    let before = resident_mib();
    let mut sockets = Vec::new();
    for _ in 0..4 {
        sockets.push(stream(&server, &id, "Connection: close\r\n").await);
    }
    // The server fills what it may fill; then it waits for the readers, and grows no more.
    let last = std::cell::Cell::new((resident_mib(), runtime::clock::monotonic()));
    let stands_still = async || {
        let now = resident_mib();
        if now != last.get().0 {
            last.set((now, runtime::clock::monotonic()));
        }
        last.get().1.elapsed() >= Duration::from_millis(500)
    };
    let limit = Duration::from_secs(20);
    testkit::poll::until("the server to wait for its readers", limit, stands_still).await.unwrap();
    let grown = resident_mib().saturating_sub(before);
    assert!(grown < 64, "four readers that do not read cost {grown} MiB");
    let mut bytes = Vec::new();
    sockets.pop().unwrap().read_to_end(&mut bytes).await.unwrap();
    assert!(bytes.len() > 64 * 1024 * 1024);
    assert!(String::from_utf8_lossy(&bytes[bytes.len() - 300..]).contains("event: end"));
}

fn resident_mib() -> usize {
    testkit::memory::resident_kib(std::process::id()).unwrap() / 1024
}

#[tokio::test]
async fn silence_is_broken_so_that_nobody_takes_the_connection_for_dead() {
    let server = Server::start_with(&[("BERTH_API__STREAM_KEEP_ALIVE", "1s")]).await;
    let id = server.noop().await;
    let mut socket = stream(&server, &id, "").await;
    let mut seen = String::new();
    let mut buffer = [0; 4096];
    while seen.matches(": still here").count() < 2 {
        let read = tokio::time::timeout(Duration::from_secs(5), socket.read(&mut buffer)).await;
        seen.push_str(&String::from_utf8_lossy(&buffer[..read.expect("a sign of life").unwrap()]));
    }
}

#[tokio::test]
async fn the_typed_client_gives_up_in_the_end_and_says_so() {
    let server = Server::start().await;
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let retry = RetryPolicy {
        tries: 2,
        first_wait: Duration::from_millis(1),
        wait_max: Duration::from_millis(2),
    };
    let client =
        Client::builder(format!("http://{nowhere}")).api_key("k").retry(retry).build().unwrap();
    let mut following = client.follow(domain::id::TaskId::fresh(), LogFilter::default());
    assert!(matches!(following.next().await, Err(ClientError::Unreachable { tries: 2, .. })));
    let mut unknown = follow(&server, &domain::id::TaskId::fresh().to_string());
    assert_eq!(unknown.next().await.unwrap_err().api().unwrap().status, 404);
}

/// What is about seconds that pass waits for them.
mod waits {
    use super::*;

    #[tokio::test]
    async fn who_follows_with_a_key_that_was_revoked_sees_nothing_more() {
        let server = Server::start().await;
        let id = server.noop().await;
        place(&server, &id, 1).await;
        write(&server, &id, (1, 1, 0), "for you").await;
        let mut socket = stream(&server, &id, "").await;
        let mut seen = String::new();
        let mut buffer = [0; 4096];
        while !seen.contains("event: output") {
            let read = socket.read(&mut buffer).await.unwrap();
            seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        server.db.sql("update api_key set revoked_at = now()").await.unwrap();
        runtime::clock::sleep(Duration::from_secs(2)).await;
        write(&server, &id, (1, 1, 1), "for others").await;
        let mut rest = Vec::new();
        let ended =
            tokio::time::timeout(Duration::from_secs(10), socket.read_to_end(&mut rest)).await;
        ended.expect("the stream ends").unwrap();
        let rest = String::from_utf8_lossy(&rest);
        assert_eq!(rest.matches("event: output").count(), 0, "{rest}");
    }
}
