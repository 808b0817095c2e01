//! A batch as lines: read, stored and answered in slices, while the client still sends.
//!
//! Called by `submit_batch`. The first slice is read before the answer begins, so that what is wrong with the whole is a proper
//! refusal. From then on a worker reads and stores, and the answer is what it has done: a client that does not read holds up
//! nobody, and one that goes away ends it after the present slice. The last line says how it ended.

use super::batch::{Piece, Render, Sender};
use super::judged::{Judged, internal};
use crate::answer::to_json;
use crate::auth::Authority;
use crate::call::{Call, KeyText, idempotency_text, key_reused};
use crate::home::spawn_beside;
use crate::limit::Shortage;
use crate::pieces::PIECE;
use crate::problem::{Code, Problem};
use crate::request::{Hold, Holder, Lines, NdjsonLine};
use actix_web::HttpResponse;
use actix_web::web::Bytes;
use api_types::BatchSummary;
use domain::access::Permission;
use futures::stream::unfold;
use runtime::clock::timeout;
use std::convert::Infallible;
use std::time::Duration;
use store::idempotency::IdempotencyKey;
use store::task::submit::{BatchAnswer, SubmitAnswer};
use tokio::sync::mpsc;
use tracing::Instrument;

/// Lines stored in one transaction. Also what an idempotency key stands for, so it is the same for every request.
const SLICE: usize = 500;

/// Reads, stores and answers.
struct Worker {
    sender: Sender,
    authority: Authority,
    lines: Lines,
    key: Option<KeyText>,
    full: bool,
    /// Counts the answers that nobody has read yet.
    hold: Hold,
    answers: mpsc::UnboundedSender<Bytes>,
    most: usize,
    patience: Duration,
    accepted: usize,
    rejected: usize,
    /// The first line that was not answered yet.
    next: usize,
}

/// Some lines that were judged and are to be stored.
struct Slice {
    key: Option<IdempotencyKey>,
    judged: Judged,
    /// Nothing of it was admitted. Then nothing is stored, and nothing is remembered under the key: sent again it is taken up.
    is_refused: bool,
    /// The line after it.
    end: usize,
    /// Bytes of its lines.
    text: usize,
}

/// Answers line by line.
pub(super) async fn answer(
    call: &Call,
    mut lines: Lines,
    full: bool,
) -> Result<HttpResponse, Problem> {
    let key = idempotency_text(call)?;
    let first = lines.take(SLICE).await?;
    if first.is_empty() {
        return Err(Problem::new(Code::ValidationFailed, "The body has no line with a task."));
    }
    let most = call.state.max_batch_tasks;
    within(most, &first)?;
    let sender = Sender::of(call);
    let (first, refused) = judge(&sender, key.as_ref(), first).await?;
    if let Some(shortage) = refused {
        return Err(sender.refusal(shortage));
    }
    let hold = call.state.memory.of(Holder::Tenant(call.caller.tenant()));
    sender.hold_answer(&hold, &first.judged, first.answer_bytes(full))?;
    // Bounded by the number of lines and by what it may hold, and needed: a client that sends everything before it reads must not wait for itself.
    let (answers, answered) = mpsc::unbounded_channel();
    let patience = call.state.request_timeout;
    let worker = Worker {
        sender,
        authority: Authority::new(call.request.headers(), Permission::SubmitTasks),
        lines,
        key,
        full,
        hold: hold.clone(),
        answers,
        most,
        patience,
        accepted: 0,
        rejected: 0,
        next: 0,
    };
    // Local to this thread, as the body is; it ends with the body, or when nobody reads the answer any more.
    spawn_beside(worker.run(first).in_current_span());
    let answered = unfold((answered, hold), |(mut answered, hold)| async move {
        let bytes: Bytes = answered.recv().await?;
        hold.shrink(bytes.len());
        Some((Ok::<_, Infallible>(bytes), (answered, hold)))
    });
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .insert_header(("x-accel-buffering", "no"))
        .streaming(answered))
}

impl Worker {
    async fn run(mut self, first: Slice) {
        let ended = self.work(first).await;
        let problem = ended.err();
        if let Some(problem) = &problem {
            let (code, cause) = (problem.code().info().code, problem.cause().unwrap_or_default());
            if problem.code().info().status >= 500 {
                tracing::warn!(code, cause, "A batch of lines ended early with `{code}`: {cause}");
            } else {
                tracing::debug!(code, "A batch of lines ended early with `{code}`");
            }
        }
        let summary = BatchSummary {
            accepted: self.accepted,
            rejected: self.rejected,
            next: problem.as_ref().map(|_| self.next),
            error: problem.as_ref().map(|problem| Box::new(problem.shown(None))),
        };
        if let Ok(mut line) = to_json(&summary) {
            line.push(b'\n');
            // Nobody may be there any more.
            drop(self.answers.send(Bytes::from(line)));
        }
    }

    async fn work(&mut self, first: Slice) -> Result<(), Problem> {
        let mut slice = first;
        loop {
            let end = slice.end;
            self.store(slice).await?;
            self.next = end;
            if self.answers.is_closed() {
                return Ok(());
            }
            let late =
                |_| Problem::new(Code::Timeout, "The rest of the body did not arrive in time.");
            let lines = timeout(self.patience, self.lines.take(SLICE)).await.map_err(late)??;
            if lines.is_empty() {
                return Ok(());
            }
            within(self.most, &lines)?;
            self.authority.check(&self.sender.state.authenticator).await?;
            (slice, _) = judge(&self.sender, self.key.as_ref(), lines).await?;
            let bytes = slice.answer_bytes(self.full);
            self.sender.hold_answer(&self.hold, &slice.judged, bytes)?;
        }
    }

    /// Stores one slice and answers its lines.
    async fn store(&mut self, slice: Slice) -> Result<(), Problem> {
        let expected = slice.answer_bytes(self.full);
        let Slice { key, judged, is_refused, .. } = slice;
        let full = self.full;
        let lines = if is_refused {
            rendered(&judged, &[], full)?
        } else {
            let (judged, room) = self.sender.admit(key.as_ref(), judged).await?;
            let render = Render { form: rendered, full };
            match self.sender.store(key.as_ref(), (judged, room), render).await? {
                BatchAnswer::Fresh(lines) | BatchAnswer::Replayed(lines) => lines,
                BatchAnswer::KeyReused => return Err(key_reused()),
                BatchAnswer::UnknownParents(_) => return Err(internal()),
            }
        };
        // Counted in the answer itself: a replayed one may have been judged by other limits.
        let (accepted, rejected) = counted(&lines);
        self.accepted += accepted;
        self.rejected += rejected;
        self.hold.shrink(expected.saturating_sub(lines.len()));
        for piece in pieces(&lines) {
            // Its own bytes, which go when it is written.
            drop(self.answers.send(Bytes::copy_from_slice(piece)));
        }
        Ok(())
    }
}

impl Slice {
    fn answer_bytes(&self, full: bool) -> usize {
        self.judged.answer_bytes(full, self.text)
    }
}

/// Admits of some lines what the tenant's rates allow, and judges these; says why where that is none, unless they were answered
/// before.
async fn judge(
    sender: &Sender,
    key: Option<&KeyText>,
    lines: Vec<NdjsonLine>,
) -> Result<(Slice, Option<Shortage>), Problem> {
    let end = lines.last().map_or(0, |line| line.index + 1);
    let text = lines.iter().filter_map(|line| line.text.as_ref()).map(Bytes::len).sum();
    let (key, lines) = match key.cloned() {
        None => (None, lines),
        // Some lines may be many MiB.
        Some(key) => sender.apart(move |_| Ok((Some(key.of_lines(&lines)), lines))).await?,
    };
    let (judged, mut refused) = sender.judge(lines.into_iter().map(piece).collect()).await?;
    if refused.is_some() && sender.is_repeated(key.as_ref()).await? {
        refused = None;
    }
    Ok((Slice { key, judged, is_refused: refused.is_some(), end, text }, refused))
}

/// Refuses lines past the limit.
fn within(most: usize, lines: &[NdjsonLine]) -> Result<(), Problem> {
    if lines.last().is_none_or(|line| line.index < most) {
        return Ok(());
    }
    let detail = format!("must have at most {most} lines");
    Err(Problem::at(Code::ValidationFailed, "", detail))
}

/// The lines in pieces of whole lines, each of some KiB, or of one line that is larger.
fn pieces(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let most = rest.len().min(PIECE);
        let last = memchr::memrchr(b'\n', &rest[..most]).or_else(|| memchr::memchr(b'\n', rest));
        let (piece, later) = rest.split_at(last.map_or(rest.len(), |at| at + 1));
        rest = later;
        Some(piece)
    })
}

fn piece(line: NdjsonLine) -> Piece {
    Piece { index: line.index, base: String::new(), text: line.text }
}

fn rendered(judged: &Judged, answers: &[SubmitAnswer], full: bool) -> Result<Vec<u8>, Problem> {
    let mut lines = Vec::new();
    for item in judged.items(answers, full)? {
        lines.extend(to_json(&item)?);
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Lines with a task and lines with an error, as [`rendered`] wrote them: `{"index":7,"task":…`.
fn counted(lines: &[u8]) -> (usize, usize) {
    let is_task = |line: &[u8]| {
        let rest = line.iter().position(|b| *b == b',').map_or(&[][..], |at| &line[at + 1..]);
        rest.starts_with(b"\"task\"")
    };
    let all = lines.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let (tasks, errors): (Vec<_>, Vec<_>) = all.partition(|line| is_task(line));
    (tasks.len(), errors.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_at_the_ends_of_lines_only() {
        let line = |length: usize| "x".repeat(length) + "\n";
        let lines = [line(10_000), line(6_000), line(6_000), line(50_000), line(3)].concat();
        let cut: Vec<usize> = pieces(lines.as_bytes()).map(<[u8]>::len).collect();
        assert_eq!(cut, [16_002, 6_001, 50_001, 4]);
        assert_eq!(pieces(b"").count(), 0);
    }

    #[test]
    fn lines_are_counted_by_what_they_hold() {
        let lines = b"{\"index\":0,\"task\":{\"id\":\"x\"}}\n{\"index\":11,\"error\":{\"detail\":\",\\\"task\\\"\"}}\n";
        assert_eq!(counted(lines), (1, 1));
        assert_eq!(counted(b""), (0, 0));
    }
}
