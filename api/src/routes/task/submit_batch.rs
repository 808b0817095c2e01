//! `POST /v1/tasks/batch`: submit many tasks, as one document in one transaction, or as lines (see `submit_lines`).

use super::batch::{Piece, Render, Sender};
use super::judged::{Judged, internal};
use super::links::may_be_linked;
use super::submit_lines;
use crate::answer::{Answer, Render as _, to_json};
use crate::call::{Call, idempotency_text, key_reused};
use crate::openapi::{AnswerDoc, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::{json, wrong_parameter};
use actix_web::HttpResponse;
use actix_web::web::Bytes;
use api_types::BatchResult;
use api_types::request::TaskBatch;
use serde_json::value::RawValue;
use store::task::submit::{BatchAnswer, SubmitAnswer};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Submit many tasks",
    description: "Tasks are validated independently; valid ones are stored durably before the response. A JSON document is stored in \
                  one transaction. If some of its tasks have `depends_on`, all are stored, or none is. If the plan's rate does not allow all of them, the first are stored and the others get \
                  `rate_limited`; the status is 429 only if none was admitted.\n\n\
                  With `Content-Type: application/x-ndjson` the body has one TaskSubmit per line and the response one BatchItem per \
                  line, in order, streamed: each 500 lines are stored together and then answered. Pointers are relative to the line. \
                  Blank lines are skipped but counted in `index`. The last line is a BatchSummary; without it, the response was cut. \
                  Answered tasks are stored in any case; `depends_on` is refused. With an `Idempotency-Key`, the same lines sent again get the same results, \
                  and the remaining ones are stored.",
    query: &[Param {
        name: "return",
        text: "`full`: return whole tasks",
        form: Form::OneOf(&["brief", "full"]),
    }],
    request: Some("TaskBatch"),
    request_lines: Some("TaskSubmit"),
    answers: &[AnswerDoc {
        status: 200,
        text: "The result of each task, in order",
        content: Content::JsonOrLines("BatchResult", ["BatchItem", "BatchSummary"]),
    }],
    problems: &[
        Code::ValidationFailed,
        Code::TenantSuspended,
        Code::QuotaExceeded,
        Code::OutcomeUnknown,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with the body as a whole; `idempotency_key_reuse`; what the database said.
pub async fn handle(mut call: Call) -> Result<HttpResponse, Problem> {
    call.caller.require_active()?;
    let mut query = call.query()?;
    let full = match query.one("return")?.as_deref() {
        None | Some("brief") => false,
        Some("full") => true,
        Some(_) => return Err(wrong_parameter("return", "must be brief or full")),
    };
    query.finish()?;
    if let Some(lines) = call.lines.take() {
        return submit_lines::answer(&call, lines, full).await;
    }
    document(&call, full).await?.render()
}

/// Stores the tasks of one document.
async fn document(call: &Call, full: bool) -> Result<Answer<BatchResult>, Problem> {
    let key = idempotency_text(call)?;
    let sender = Sender::of(call);
    let body = call.body.clone();
    let read = move |sender: &Sender| {
        let key = key.map(|key| key.of_body(&body));
        Ok((key, read(&body, sender.state.max_batch_tasks)?))
    };
    let (key, pieces) = sender.apart(read).await?;
    let (judged, shortage) = if may_be_linked(&call.body) {
        sender.judge_linked(pieces).await?
    } else {
        sender.judge(pieces).await?
    };
    if let Some(shortage) = shortage
        && !sender.is_repeated(key.as_ref()).await?
    {
        return Err(sender.refusal(shortage));
    }
    sender.hold_answer(&call.hold, &judged, judged.answer_bytes(full, call.body.len()))?;
    let (judged, room) = sender.admit(key.as_ref(), judged).await?;
    let render = Render { form: rendered, full };
    match sender.store(key.as_ref(), (judged, room), render).await? {
        BatchAnswer::Fresh(body) => Ok(Answer::written(body)),
        BatchAnswer::Replayed(body) => Ok(Answer::written(body).again()),
        BatchAnswer::KeyReused => Err(key_reused()),
        BatchAnswer::UnknownParents(_) => Err(internal()),
    }
}

/// Takes the tasks apart; what is in each is not looked at.
pub(super) fn read(body: &Bytes, most: usize) -> Result<Vec<Piece>, Problem> {
    let batch: TaskBatch<&RawValue> = json::parse(body)?;
    if !(1..=most).contains(&batch.tasks.len()) {
        let detail = format!("must have 1 to {most} tasks");
        return Err(Problem::at(Code::ValidationFailed, "/tasks", detail));
    }
    let piece = |(index, task): (usize, &RawValue)| Piece {
        index,
        base: format!("/tasks/{index}"),
        text: Some(body.slice_ref(task.get().as_bytes())),
    };
    Ok(batch.tasks.into_iter().enumerate().map(piece).collect())
}

fn rendered(judged: &Judged, answers: &[SubmitAnswer], full: bool) -> Result<Vec<u8>, Problem> {
    // Of what was judged to be good, a spend cap may have refused some.
    let results = judged.items(answers, full)?;
    let rejected = results.iter().filter(|item| item.error.is_some()).count();
    to_json(&BatchResult { accepted: results.len() - rejected, rejected, results })
}
