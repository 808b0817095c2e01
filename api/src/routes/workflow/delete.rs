//! `DELETE /v1/workflows/{name}`: no run of it is started any more. Its runs go on. One that a schedule names is kept.

use super::no_such_workflow;
use super::place::name_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{nothing, other_version, wanted_version};
use api_types::DeletedWorkflow;
use store::workflow::DeleteAnswer;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a workflow",
    description: "Its runs continue. The name can be used again for a new workflow. A workflow that a schedule names cannot be deleted.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc {
        status: 200,
        text: "Deleted",
        content: Content::Json("DeletedWorkflow"),
    }],
    problems: &[Code::NotFound, Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, for one that is gone, too; `conflict` where a schedule names it; `version_mismatch`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<DeletedWorkflow>, Problem> {
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    let if_version = wanted_version(call.request.headers())?;
    nothing(&call.body)?;
    match store::workflow::delete(&call.state.api, &call.scope(), name, if_version).await? {
        DeleteAnswer::Deleted => {
            Ok(Answer::ok(DeletedWorkflow { name: name.to_owned(), deleted: true }))
        }
        DeleteAnswer::VersionMismatch { version } => Err(other_version("workflow", Some(version))),
        DeleteAnswer::InUse(schedules) => Err(in_use(&schedules)),
        DeleteAnswer::NotFound => Err(no_such_workflow()),
    }
}

/// Schedules start runs of it: the first five are named.
fn in_use(schedules: &[String]) -> Problem {
    const NAMED: usize = 5;
    let mut names: Vec<String> =
        schedules.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    if schedules.len() > NAMED {
        names.push("others".to_owned());
    }
    let detail = format!(
        "Schedules start runs of this workflow: {}. Change or delete them first.",
        names.join(", ")
    );
    Problem::new(Code::Conflict, detail)
}
