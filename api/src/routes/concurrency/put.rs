//! `PUT /v1/concurrency-limits/{key}`: how many tasks of a key run at once from now on.

use super::view::{key_in_path, stored};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json as body;
use api_types::ConcurrencyLimit;
use api_types::request::ConcurrencyLimitPut;
use store::concurrency::{MOST, MOST_RUNNING, Put};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a key's concurrency limit",
    description: "Takes effect within a second, also for waiting tasks; running tasks continue. 0 pauses the key. A tenant may store \
                  10000.",
    request: Some("ConcurrencyLimitPut"),
    answers: &[AnswerDoc {
        status: 200,
        text: "The limit",
        content: Content::Json("ConcurrencyLimit"),
    }],
    problems: &[Code::Conflict],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`, `validation_failed`; `conflict` where the tenant has too many; what the database said.
pub async fn handle(call: Call) -> Result<Answer<ConcurrencyLimit>, Problem> {
    call.query()?.finish()?;
    let key = key_in_path(&call)?;
    let ConcurrencyLimitPut { running } = body::parse(&call.body)?;
    if running > MOST_RUNNING {
        let detail = format!("must be from 0 to {MOST_RUNNING}");
        return Err(Problem::at(Code::ValidationFailed, "/running", detail));
    }
    let (db, scope) = (&call.state.api, call.scope());
    match store::concurrency::put(db, &scope, &key, running).await? {
        Put::Done(limit) => Ok(Answer::ok(stored(&limit))),
        Put::TooMany => {
            let detail = format!(
                "The tenant has {MOST} concurrency limits, which is the maximum; delete one first."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
    }
}
