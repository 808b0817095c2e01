//! `POST /v1/admin/operator-keys`: a key for another operator.

use super::view::{may_give, new_operator_key};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::keys::create::life;
use crate::task::{Findings, short_text};
use api_types::request::OperatorKeyCreate;
use runtime::clock::wall;
use store::operator_key::NewOperatorKey;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Create an operator key",
    description: "The key is shown once. You can only grant scopes that your own key has; with `admin` also `report`.",
    request: Some("OperatorKeyCreate"),
    answers: &[AnswerDoc {
        status: 201,
        text: "Created",
        content: Content::Json("NewOperatorKey"),
    }],
    problems: &[Code::Conflict],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `scope_missing` for a scope that the caller does not hold; `validation_failed`; `conflict` when the name is taken; what the
/// database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<api_types::NewOperatorKey>, Problem> {
    call.query()?.finish()?;
    let spec: OperatorKeyCreate = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    short_text(&mut findings, "/name", &spec.name, 200);
    let mut scopes = spec.scopes;
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        findings.wrong("/scopes", "must name at least one of read, admin and report");
    }
    let life = life(&mut findings, spec.expires_in);
    findings.into_result()?;
    may_give(&call, scopes.iter().map(|scope| scope.as_str()))?;
    call.require_live().await?;
    let made = call.state.operators.generate_key()?;
    let new = NewOperatorKey {
        id: made.id,
        name: spec.name,
        hash: made.hash.to_vec(),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        expires_at: life.and_then(|life| wall().checked_add_signed(life)),
    };
    let created = store::operator_key::create(&call.state.admin, new, call.by()).await?;
    let info = created.ok_or_else(|| {
        Problem::new(Code::Conflict, "An operator key with this name already exists.")
    })?;
    Ok(Answer::created(new_operator_key(info, made.text)?))
}
