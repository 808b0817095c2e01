//! A task's output as the bytes it wrote, streamed.
//!
//! Called by `logs`. Read page by page while the client takes it, so that a large output needs no more
//! memory than a small one. An error in the middle cuts the connection: the client sees that it is not whole.

use crate::call::Call;
use crate::pieces::PIECE;
use crate::problem::Problem;
use crate::request::Hold;
use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::Bytes;
use domain::id::TaskId;
use futures::stream::try_unfold;
use std::io;
use store::TenantScope;
use store::connect::ApiDb;
use store::output::{OutputFilter, OutputPage};

/// Chunks read at once. Small ones are many, and each look costs some ms; large ones end it before.
const STEP: u32 = 500;

/// Most bytes of one read: half a MiB of each stream and a chunk, and once more while they are put together.
const STEP_BYTES: usize = 5 * 512 * 1024;

/// What is left to send.
struct Rest {
    db: ApiDb,
    scope: TenantScope,
    task: TaskId,
    filter: OutputFilter,
    first: Option<OutputPage>,
    /// What was read and not sent yet.
    read: Bytes,
    ended: bool,
    /// Counts what is read, as long as the client takes it.
    _hold: Hold,
}

/// The bytes of all chunks that `filter` lets through.
pub(super) async fn answer(
    call: &Call,
    task: TaskId,
    filter: OutputFilter,
) -> Result<HttpResponse, Problem> {
    let (db, scope) = (call.state.api.clone(), call.scope());
    call.hold.become_answer(STEP_BYTES)?;
    let first = store::output::read(&db, &scope, task, filter, STEP).await?;
    if first.chunks.is_empty() {
        must_exist(call, task).await?;
    }
    let (first, read, hold) = (Some(first), Bytes::new(), call.hold.clone());
    let rest = Rest { db, scope, task, filter, first, read, ended: false, _hold: hold };
    Ok(HttpResponse::Ok()
        .content_type("application/octet-stream")
        .insert_header((CONTENT_DISPOSITION, "attachment"))
        .streaming(try_unfold(rest, next)))
}

/// Refuses where the tenant has no such task: no output and no task look the same to the output table.
pub(super) async fn must_exist(call: &Call, task: TaskId) -> Result<(), Problem> {
    let found = store::task::get(&call.state.api, &call.scope(), task).await?;
    found.map(|_| ()).ok_or_else(Problem::not_found)
}

async fn next(mut rest: Rest) -> Result<Option<(Bytes, Rest)>, io::Error> {
    if !rest.read.is_empty() {
        let piece = rest.read.split_to(PIECE.min(rest.read.len()));
        return Ok(Some((piece, rest)));
    }
    if rest.ended {
        return Ok(None);
    }
    let OutputPage { chunks, more } = match rest.first.take() {
        Some(page) => page,
        None => store::output::read(&rest.db, &rest.scope, rest.task, rest.filter, STEP).await.map_err(|error| {
            tracing::warn!(task.id = %rest.task, "The output of `{}` was cut off: {error}", rest.task);
            io::Error::other("the output cannot be read further")
        })?,
    };
    if chunks.is_empty() {
        return Ok(None);
    }
    rest.filter.from = chunks.iter().fold(rest.filter.from, |place, chunk| place.after(chunk));
    rest.ended = !more;
    rest.read = chunks.into_iter().flat_map(|chunk| chunk.data).collect();
    let piece = rest.read.split_to(PIECE.min(rest.read.len()));
    Ok(Some((piece, rest)))
}
