//! `DELETE /v1/webhooks/{name}`: nothing is sent to it any more.

use super::place::{name_of, no_such_webhook};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{nothing, other_version, wanted_version};
use api_types::DeletedWebhook;
use store::webhook::WebhookDeleted;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a webhook",
    description: "Nothing is sent to it any more, and its deliveries can no longer be read.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc {
        status: 200,
        text: "Deleted",
        content: Content::Json("DeletedWebhook"),
    }],
    problems: &[Code::NotFound, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `version_mismatch`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<DeletedWebhook>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    nothing(&call.body)?;
    match store::webhook::delete(&call.state.api, &call.scope(), &name, if_version).await? {
        WebhookDeleted::Yes => Ok(Answer::ok(DeletedWebhook { name, deleted: true })),
        WebhookDeleted::VersionMismatch { version } => Err(other_version("webhook", Some(version))),
        WebhookDeleted::NotFound => Err(no_such_webhook()),
    }
}
