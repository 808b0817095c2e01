//! What commands write: exact at both ends, bounded between.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use runtime::clock;
use std::time::Duration;

#[tokio::test]
async fn head_and_tail_are_exact_and_the_middle_is_counted() {
    let (rm, home) = (Rm::start().await, Home::new());
    let settings =
        [("EXECUTOR__OUTPUT_HEAD_BYTES", "200000"), ("EXECUTOR__OUTPUT_TAIL_BYTES", "100000")];
    let _agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    let lease = rm.assign(&bash("seq 1 200000; printf '\\377\\000x' >&2"));
    let result = rm.result(lease).await;
    let whole: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(result.stdout_bytes, whole.len() as u64);
    let chunks: Vec<_> =
        rm.chunks(lease).into_iter().filter(|chunk| chunk.stream() == Stream::Stdout).collect();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    assert!(chunks.is_sorted_by(|one, next| one.seq < next.seq));
    for chunk in &chunks {
        assert!(chunk.data.len() <= protocol::MAX_OUTPUT_CHUNK);
        let end = if chunk.offset < 200_000 { &mut head } else { &mut tail };
        let start = if chunk.offset < 200_000 { 0 } else { whole.len() - 100_000 };
        assert_eq!(chunk.offset as usize, start + end.len());
        end.extend_from_slice(&chunk.data);
    }
    assert!(
        head == whole.as_bytes()[..200_000] && tail == whole.as_bytes()[whole.len() - 100_000..]
    );
    let stderr: Vec<_> =
        rm.chunks(lease).into_iter().filter(|chunk| chunk.stream() == Stream::Stderr).collect();
    assert_eq!((stderr.len(), &stderr[0].data[..]), (1, &b"\xff\0x"[..]));
}

#[tokio::test]
async fn lines_are_seen_while_the_command_runs_and_not_each_as_a_chunk() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&bash("for i in {1..100}; do echo $i; sleep 0.01; done; sleep 100"));
    until("all lines", LIMIT, || rm.output_text(lease, Stream::Stdout).ends_with("\n100\n")).await;
    let chunks = rm.chunks(lease).len();
    assert!((4..=25).contains(&chunks), "{chunks} chunks");
    rm.stop(lease);
    rm.result(lease).await;
}

#[tokio::test]
async fn chunks_of_both_streams_are_numbered_in_the_order_of_reading() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::plain(&home, &[&rm.address]);
    rm.hello(0).await;
    // Each word waits until the one before was sent: two pipes say nothing of the order in which they were written.
    let heard = home.shared("heard");
    let script = format!(
        "wait_for() {{ while [ \"$(cat {0} 2>/dev/null)\" != $1 ]; do sleep 0.01; done; }}
         for i in 1 2 3; do echo out $i; wait_for out$i; echo err $i >&2; wait_for err$i; done",
        heard.display()
    );
    let lease = rm.assign(&bash(&script));
    for i in 1..=3 {
        for (stream, name) in [(Stream::Stdout, "out"), (Stream::Stderr, "err")] {
            let said = || rm.output_text(lease, stream).ends_with(&format!("{name} {i}\n"));
            until("it was sent", LIMIT, said).await;
            std::fs::write(&heard, format!("{name}{i}")).unwrap();
        }
    }
    rm.result(lease).await;
    let mut chunks = rm.chunks(lease);
    assert!(chunks.is_sorted_by(|one, next| one.seq < next.seq), "sent in their order");
    chunks.sort_by_key(|chunk| chunk.seq);
    let text: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.data.to_vec()).collect();
    let wanted: String = (1..=3).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(String::from_utf8(text).unwrap(), wanted);
}

#[tokio::test]
async fn the_end_of_a_long_stream_stands_before_the_words_that_came_after_it() {
    let (rm, home) = (Rm::start().await, Home::new());
    let settings =
        [("EXECUTOR__OUTPUT_HEAD_BYTES", "10000"), ("EXECUTOR__OUTPUT_TAIL_BYTES", "10000")];
    let _agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    let lease = rm.assign(&bash("seq 1 20000; sleep 0.3; echo failed >&2; exit 1"));
    rm.result(lease).await;
    let mut chunks = rm.chunks(lease);
    chunks.sort_by_key(|chunk| chunk.seq);
    let last: Vec<_> = chunks.iter().rev().take(2).map(|chunk| &chunk.data[..]).collect();
    assert!(last[0] == b"failed\n" && last[1].ends_with(b"\n20000\n"));
}

#[tokio::test]
async fn text_stays_text_wherever_it_is_read_and_what_never_gets_whole_is_sent_all_the_same() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let is_text = |chunk: &protocol::OutputChunk| std::str::from_utf8(&chunk.data).is_ok();
    // Byte by byte, with the other stream between, and more than a pipe or a chunk holds.
    let script = "for byte in xc3 xa4 xf0 x9f xa6 x80; do printf \"\\\\$byte\"; sleep 0.25; printf . >&2; done
                  printf '€%.0s' {1..100000}";
    let lease = rm.assign(&bash(script));
    rm.result(lease).await;
    let chunks = rm.chunks(lease);
    assert!(chunks.iter().all(is_text));
    let wanted = format!("ä🦀{}", "€".repeat(100_000));
    assert!(rm.output_text(lease, Stream::Stdout) == wanted);
    let lease = rm.assign(&bash("printf 'a\\xe2\\x82'; sleep 100"));
    let bytes =
        || rm.chunks(lease).iter().flat_map(|chunk| chunk.data.to_vec()).collect::<Vec<_>>();
    until("all is sent", LIMIT, || bytes() == b"a\xe2\x82").await;
    assert!(is_text(&rm.chunks(lease)[0]));
    rm.stop(lease);
    rm.result(lease).await;
}

#[tokio::test]
async fn a_flood_blocks_nobody_and_stays_bounded() {
    floods(3).await;
}

mod chaos {
    #[tokio::test]
    async fn a_flood_of_a_minute_blocks_nobody_and_stays_bounded() {
        super::floods(60).await;
    }
}

async fn floods(seconds: u32) {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    // One ordinary command first, so that what it costs is not counted as the flood's.
    rm.result(rm.assign(&bash("seq 1 300000"))).await;
    let before = agent.rss_kib();
    let floods: Vec<_> = (0..4)
        .map(|_| {
            rm.assign_with(&bash(&format!("timeout {seconds} yes; true")), |assignment| {
                assignment.cap_ms = u64::from(seconds) * 2000;
            })
        })
        .collect();
    let mut highest = 0;
    let end = clock::monotonic() + Duration::from_millis(u64::from(seconds) * 1000 - 500);
    while clock::monotonic() < end {
        highest = highest.max(agent.rss_kib());
        clock::sleep(Duration::from_millis(20)).await;
    }
    // A line of another task is not held up.
    let (line, asked) = (rm.assign(&bash("echo line")), clock::monotonic());
    rm.result(line).await;
    assert!(clock::monotonic() - asked < Duration::from_secs(2));
    for flood in floods {
        let result = rm.result(flood).await;
        highest = highest.max(agent.rss_kib());
        assert_eq!(outcome(&result), Outcome::Succeeded);
        // `yes` was never blocked for long: it wrote far more than is kept.
        assert!(result.stdout_bytes > 50_000_000, "{}", result.stdout_bytes);
        let stored: usize = rm.chunks(flood).iter().map(|chunk| chunk.data.len()).sum();
        assert_eq!(stored, 2 * 1_048_576);
        assert!(result.ran_ms < u64::from(seconds) * 1000 + 2000, "{}", result.ran_ms);
    }
    assert!(highest < before + 32 * 1024, "from {before} to {highest} KiB");
}

#[tokio::test]
async fn output_that_is_never_answered_holds_back_neither_the_task_nor_for_ever_its_result() {
    let (rm, home) = (Rm::start_with(|script| script.output = false).await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let floods: Vec<_> = (0..4).map(|_| rm.assign(&bash("yes | head -c 20000000"))).collect();
    for flood in floods {
        assert_eq!(rm.result(flood).await.stdout_bytes, 20_000_000);
    }
    let sent: usize = rm
        .heard()
        .iter()
        .filter_map(|one| match &one.message {
            protocol::from_executor::Message::Output(output) => Some(output),
            _ => None,
        })
        .flat_map(|output| output.chunks.iter().map(|chunk| chunk.data.len()))
        .sum();
    // The next one would not have fitted.
    let most = protocol::MAX_UNANSWERED_OUTPUT;
    assert!(sent <= most && sent > most - protocol::MAX_OUTPUT_CHUNK, "{sent}");
}
