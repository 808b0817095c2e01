//! `GET /v1/tasks/{id}/explain`: why a task is not running, and when it will probably start.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::Explanation;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Explain what a task waits for and its estimated start",
    description: "Works in every state. Reasons are as of `at`; the position in the queue may be one second older. Times are \
                  estimates: `basis` says how they were made, or why there are none.",
    answers: &[AnswerDoc {
        status: 200,
        text: "What it waits for",
        content: Content::Json("Explanation"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`explain`].
pub async fn handle(call: Call) -> Result<Answer<Explanation>, Problem> {
    Ok(Answer::ok(explain(&call).await?))
}

/// What a task waits for.
///
/// # Errors
/// `not_found` for unknown, foreign and malformed ids alike; what the database said.
pub async fn explain(call: &Call) -> Result<Explanation, Problem> {
    let id = call.task_id()?;
    call.query()?.finish()?;
    let facts = store::task::explain(&call.state.api, &call.scope(), id).await?;
    let facts = facts.ok_or_else(Problem::not_found)?;
    let from = call.ended_from(runtime::clock::wall());
    if from.is_some_and(|from| facts.ended_at().is_some_and(|at| at < from)) {
        return Err(Problem::not_found());
    }
    Ok(Explanation::from(domain::explain::explain(facts)))
}
