//! `GET /v1/admin/operator`: whose key this is.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Extensible, Operator};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the operator of the key",
    answers: &[AnswerDoc { status: 200, text: "The key", content: Content::Json("Operator") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`read`].
pub async fn handle(call: OperatorCall) -> Result<Answer<Operator>, Problem> {
    Ok(Answer::ok(read(&call).await?))
}

/// The operator of the key.
///
/// # Errors
/// `invalid_parameter` for a query.
pub async fn read(call: &OperatorCall) -> Result<Operator, Problem> {
    call.query()?.finish()?;
    let operator = &call.operator;
    let operator = Operator {
        id: operator.key().to_string().into(),
        name: operator.name().to_owned(),
        scopes: operator.scopes().iter().copied().map(Extensible::Known).collect(),
        expires_at: operator.expires_at(),
    };
    Ok(operator)
}
