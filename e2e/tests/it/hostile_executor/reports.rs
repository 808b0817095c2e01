//! What a hostile executor says of an attempt that it was given.

use super::executor::encoded;
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use protocol::{Lease, MAX_MESSAGE_BYTES, MAX_OUTPUT_CHUNK, Output, OutputChunk, Result, Results};
use uuid::Uuid;

/// What comes of it.
pub enum Then {
    /// As many results of the lease are answered, and the task is in one of these states.
    Answered(usize, &'static [&'static str]),
    /// The stream is closed. The attempt is lost, and with it the task, which runs at most once.
    Closed,
}

pub struct Report {
    pub name: &'static str,
    pub say: fn(&Lease, &[u8]) -> Vec<Vec<u8>>,
    pub then: Then,
}

const DONE: Then = Then::Answered(1, &["succeeded"]);
/// Stands where bytes are to be that are no text.
const MARK: &str = "no UTF-8";
const FAILED: Then = Then::Answered(1, &["failed"]);

pub const ALL: [Report; 26] = [
    report("a reason of megabytes", FAILED, |l, s| {
        failed(l, s, |r| r.reason = "é".repeat(3 << 20))
    }),
    report("a reason of NUL", FAILED, |l, s| failed(l, s, |r| r.reason = "\0".repeat(5000))),
    report("no reason but much nesting", FAILED, |l, s| {
        failed(l, s, |r| r.reason = "{\"a\":[".repeat(100_000))
    }),
    report("a run without end", DONE, |l, s| done(l, s, |r| r.ran_ms = u64::MAX)),
    report("a run of 300 million years", DONE, |l, s| done(l, s, |r| r.ran_ms = i64::MAX as u64)),
    report("bytes without end", DONE, |l, s| {
        done(l, s, |r| (r.stdout_bytes, r.stderr_bytes) = (u64::MAX, u64::MAX))
    }),
    report("codes out of range", FAILED, |l, s| {
        failed(l, s, |r| (r.exit_code, r.signal) = (Some(i32::MIN), Some(i32::MAX)))
    }),
    report("another attempt never", FAILED, |l, s| {
        failed(l, s, |r| r.retry_after_ms = Some(u64::MAX))
    }),
    report("a result three times", Then::Answered(3, &["succeeded"]), |l, s| {
        let one = result(l, s, Outcome::Succeeded);
        vec![encoded(Results { results: vec![one; 3] })]
    }),
    report("each outcome at once", Then::Answered(2, &["succeeded", "failed"]), |l, s| {
        let both = [Outcome::Succeeded, Outcome::Failed];
        vec![encoded(Results { results: both.map(|outcome| result(l, s, outcome)).to_vec() })]
    }),
    report("a value of a failure", FAILED, |l, s| {
        failed(l, s, |r| r.value = Some(vec![0xff; 1000].into()))
    }),
    report("a value over the limit", Then::Closed, |l, s| {
        done(l, s, |r| r.value = Some(vec![b'1'; 65_537].into()))
    }),
    report("a value that is no JSON", Then::Closed, |l, s| {
        done(l, s, |r| r.value = Some(b"<script>".to_vec().into()))
    }),
    report("a value of much nesting", Then::Closed, |l, s| {
        done(l, s, |r| r.value = Some(["[".repeat(30_000), "]".repeat(30_000)].concat().into()))
    }),
    report("output that is no text", DONE, |l, s| {
        let chunks = vec![chunk(l, 0, b"a\0b\xff\xfe\xc3\x28\x1b[2J".to_vec())];
        with_output(l, s, chunks)
    }),
    report("output at impossible places", DONE, |l, s| {
        let at = |seq, offset| OutputChunk { seq, offset, ..chunk(l, 0, b"x".to_vec()) };
        let places = [(u32::MAX, u64::MAX), (u32::MAX, 0), (7, 3), (7, 1), (0, u64::MAX), (3, 5)];
        with_output(l, s, places.map(|(seq, offset)| at(seq, offset)).to_vec())
    }),
    report("a hundred thousand empty pieces", DONE, |l, s| {
        with_output(l, s, (0..100_000).map(|seq| chunk(l, seq, Vec::new())).collect())
    }),
    report("more output than may be under way", DONE, |l, s| {
        let of =
            |message: u32| (0..112).map(move |at| chunk(l, message * 112 + at, vec![b'x'; 65_536]));
        let mut all: Vec<_> =
            (0..8).map(|message| encoded(Output { chunks: of(message).collect() })).collect();
        all.extend(done(l, s, |_| {}));
        all
    }),
    report("results of nothing", DONE, |l, s| {
        let made_up = |_| {
            let id = || Uuid::now_v7().as_bytes().to_vec();
            let lease = Lease { tenant_id: id(), task_id: id(), attempt: u32::MAX };
            result(&lease, &id(), Outcome::Failed)
        };
        let nothing = encoded(Results { results: (0..20_000).map(made_up).collect() });
        [vec![nothing], done(l, s, |_| {})].concat()
    }),
    report("an outcome that does not exist", Then::Closed, |l, s| done(l, s, |r| r.outcome = 99)),
    report("a result of nothing behind a good one", Then::Closed, |l, s| {
        let good = result(l, s, Outcome::Succeeded);
        let bad = Result { lease: None, ..good.clone() };
        vec![encoded(Results { results: vec![good, bad] })]
    }),
    report("a session of three bytes", Then::Closed, |l, _| done(l, &[1, 2, 3], |_| {})),
    report("a reason that is no UTF-8", Then::Closed, |l, s| {
        let mut bytes = failed(l, s, |r| r.reason = MARK.to_owned()).concat();
        let at = bytes.windows(MARK.len()).position(|part| part == MARK.as_bytes());
        // What no text has; where the mark is not found the report is a good one, and the stream stays.
        at.into_iter().for_each(|at| bytes[at..at + MARK.len()].fill(0xff));
        vec![bytes]
    }),
    report("a message over the limit", Then::Closed, |l, s| {
        failed(l, s, |r| r.reason = "x".repeat(MAX_MESSAGE_BYTES))
    }),
    report("a message of 100 MB", Then::Closed, |l, s| {
        failed(l, s, |r| r.reason = "x".repeat(100_000_000))
    }),
    report("a piece over the limit", Then::Closed, |l, s| {
        with_output(l, s, vec![chunk(l, 0, vec![b'x'; MAX_OUTPUT_CHUNK + 1])])
    }),
];

const fn report(name: &'static str, then: Then, say: fn(&Lease, &[u8]) -> Vec<Vec<u8>>) -> Report {
    Report { name, say, then }
}

pub fn result(lease: &Lease, session: &[u8], outcome: Outcome) -> Result {
    Result {
        lease: Some(lease.clone()),
        session_id: session.to_vec(),
        outcome: outcome.into(),
        ..Result::default()
    }
}

pub fn chunk(lease: &Lease, seq: u32, data: Vec<u8>) -> OutputChunk {
    OutputChunk {
        lease: Some(lease.clone()),
        stream: Stream::Stdout.into(),
        seq,
        offset: u64::from(seq) * 65_536,
        data: data.into(),
    }
}

fn done(lease: &Lease, session: &[u8], change: fn(&mut Result)) -> Vec<Vec<u8>> {
    let mut result = result(lease, session, Outcome::Succeeded);
    change(&mut result);
    vec![encoded(Results { results: vec![result] })]
}

fn failed(lease: &Lease, session: &[u8], change: fn(&mut Result)) -> Vec<Vec<u8>> {
    let mut result = result(lease, session, Outcome::Failed);
    change(&mut result);
    vec![encoded(Results { results: vec![result] })]
}

fn with_output(lease: &Lease, session: &[u8], chunks: Vec<OutputChunk>) -> Vec<Vec<u8>> {
    [vec![encoded(Output { chunks })], done(lease, session, |_| {})].concat()
}
