//! `POST /v1/admin/operator-keys`: a key for another operator.

use super::view::{NewOperatorKeyView, OperatorKeyView, may_give};
use crate::answer::json as answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::keys::create::life;
use crate::task::{Findings, short_text};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::access::OperatorScope;
use runtime::clock::wall;
use secrecy::ExposeSecret;
use serde::Deserialize;
use store::operator_key::NewOperatorKey;
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Create an operator key",
    description: "The key is shown once. You can only grant scopes that your own key has.",
    request: Some("OperatorKeyCreate"),
    answers: &[AnswerDoc {
        status: 201,
        text: "Created",
        content: Content::Json("NewOperatorKey"),
    }],
    problems: &[Code::Conflict],
    ..Doc::EMPTY
};

/// An operator key to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OperatorKeyCreate)]
pub struct OperatorKeySpec {
    /// Name of the operator; unique among keys that are neither revoked nor replaced.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Scopes; neither includes the other.
    #[schema(value_type = Vec<super::super::super::super::openapi::words::OperatorScope>, min_items = 1)]
    scopes: Vec<OperatorScope>,
    /// Lifetime, such as `"2160h"`, from 1 s to 87600 h. Default: no expiry.
    expires_in: Option<String>,
}

/// Answers.
///
/// # Errors
/// `scope_missing` for a scope that the caller does not hold; `validation_failed`; `conflict` when the name is taken; what the
/// database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let spec: OperatorKeySpec = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    short_text(&mut findings, "/name", &spec.name, 200);
    let mut scopes = spec.scopes;
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        findings.wrong("/scopes", "must name at least one of read and admin");
    }
    let life = life(&mut findings, spec.expires_in.as_deref());
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
    let (key, info) = (made.text.expose_secret(), OperatorKeyView::from(&info));
    answer(StatusCode::CREATED, &NewOperatorKeyView { key, info })
}
