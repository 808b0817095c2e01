//! `POST /v1/admin/tenants/{id}/suspend`, `/resume`, and `DELETE`: how a tenant stands.
//!
//! Each may be repeated. The row is all that is written here; keys, batcher and housekeeping read it within a second or two.

use super::view::{answer, id_of, unknown};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::http::StatusCode;
use api_types::Tenant;
use domain::id::TenantId;
use serde::Deserialize;
use store::StoreError;
use store::tenant::Stood;

const TENANT: [AnswerDoc; 1] =
    [AnswerDoc { status: 200, text: "The tenant", content: Content::Json("Tenant") }];

/// The words of `suspend`.
pub const SUSPEND: Doc = Doc {
    summary: "Suspend a tenant",
    description: "No submits and no new starts; running tasks finish, and reads still work.",
    answers: &TENANT,
    problems: &[Code::NotFound, Code::Conflict],
    ..Doc::EMPTY
};

/// The words of `resume`.
pub const RESUME: Doc = Doc {
    summary: "Resume a suspended tenant",
    description: "Waiting tasks continue within two seconds.",
    answers: &TENANT,
    problems: &[Code::NotFound, Code::Conflict],
    ..Doc::EMPTY
};

/// The words of `delete`.
pub const DELETE: Doc = Doc {
    summary: "Delete a tenant",
    description: "Cannot be undone. Its keys stop working and its tasks are cancelled at once; its data is purged after \
                  `limits.deleted_tenant_grace`. Its row stays, without its name.",
    answers: &TENANT,
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Nothing can be said about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Suspends.
///
/// # Errors
/// `not_found`; `conflict` where it is deleted; what the database said.
pub async fn suspend(call: OperatorCall) -> Result<Answer<Tenant>, Problem> {
    let id = named(&call).await?;
    let done = store::tenant::suspend(&call.state.admin, id, call.by()).await;
    stood(&call, id, done).await
}

/// Resumes.
///
/// # Errors
/// As [`suspend`].
pub async fn resume(call: OperatorCall) -> Result<Answer<Tenant>, Problem> {
    let id = named(&call).await?;
    let done = store::tenant::resume(&call.state.admin, id, call.by()).await;
    stood(&call, id, done).await
}

/// Deletes.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn delete(call: OperatorCall) -> Result<Answer<Tenant>, Problem> {
    let id = named(&call).await?;
    let done = store::tenant::delete(&call.state.admin, id, call.by()).await;
    stood(&call, id, done).await
}

async fn named(call: &OperatorCall) -> Result<TenantId, Problem> {
    call.query()?.finish()?;
    if !call.body.is_empty() {
        let Nothing {} = json::parse(&call.body)?;
    }
    id_of(call).await
}

async fn stood(
    call: &OperatorCall,
    id: TenantId,
    done: Result<Stood, StoreError>,
) -> Result<Answer<Tenant>, Problem> {
    match done? {
        Stood::Yes => answer(call, StatusCode::OK, id).await,
        Stood::Not(state) => Err(Problem::new(
            Code::Conflict,
            format!("The tenant is {state}, so this is not possible."),
        )),
        Stood::NotFound => Err(unknown()),
    }
}
