//! A task's output as the bytes it wrote, streamed.
//!
//! Called by `logs`. Read page by page while the client takes it, so that a large output needs no more
//! memory than a small one. An error in the middle cuts the connection: the client sees that it is not whole.

use crate::problem::Problem;
use crate::request::Call;
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

/// What is left to send.
struct Rest {
    db: ApiDb,
    scope: TenantScope,
    task: TaskId,
    filter: OutputFilter,
    first: Option<OutputPage>,
    ended: bool,
}

/// The bytes of all chunks that `filter` lets through.
pub(super) async fn answer(
    call: &Call,
    task: TaskId,
    filter: OutputFilter,
) -> Result<HttpResponse, Problem> {
    let (db, scope) = (call.state.api.clone(), call.scope());
    let first = store::output::read(&db, &scope, task, filter, STEP).await?;
    if first.chunks.is_empty() {
        must_exist(call, task).await?;
    }
    let rest = Rest { db, scope, task, filter, first: Some(first), ended: false };
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
    if rest.ended {
        return Ok(None);
    }
    let OutputPage { chunks, more } = match rest.first.take() {
        Some(page) => page,
        None => store::output::read(&rest.db, &rest.scope, rest.task, rest.filter, STEP).await.map_err(|error| {
            tracing::warn!(task.id = %rest.task, "The output of `{}` was cut off: {error}", rest.task);
            io::Error::other("the output cannot be read on")
        })?,
    };
    if chunks.is_empty() {
        return Ok(None);
    }
    rest.filter.from = chunks.iter().fold(rest.filter.from, |place, chunk| place.after(chunk));
    rest.ended = !more;
    let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.data).collect();
    Ok(Some((Bytes::from(bytes), rest)))
}
