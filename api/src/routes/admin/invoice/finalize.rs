//! `POST /v1/admin/tenants/{id}/invoices/{number}/finalize`: a draft whose month is over becomes final.

use super::super::tenant::billed_tenant;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::invoice::invoice;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::invoices::named::name_of;
use api_types::Invoice;
use domain::time::format_time;
use store::invoice::Finalized;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Make a draft final",
    description: "The scheduler does this by itself an hour after the month's end, when all of the month is counted. It makes the drafts \
                  of all currencies of the month final. A final invoice never changes.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The final invoice",
        content: Content::Json("Invoice"),
    }],
    problems: &[Code::InvalidParameter, Code::NotFound, Code::Conflict],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, also where an earlier month comes first; `conflict` before the month is over and counted; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Invoice>, Problem> {
    call.query()?.finish()?;
    json::nothing(&call.body)?;
    let name = name_of(&call.request)?;
    let tenant = billed_tenant(&call).await?;
    let (db, seller) = (&call.state.admin, &call.state.seller);
    match store::invoice::finalize(db, tenant, name, seller, call.by()).await? {
        Finalized::Yes(record) => Ok(Answer::ok(invoice(*record))),
        Finalized::NotBefore(at) => {
            let at = format_time(at);
            Err(Problem::new(Code::Conflict, format!("The month can be made final from {at} on.")))
        }
        Finalized::NotCounted => Err(Problem::new(
            Code::Conflict,
            "Not all of the month is counted yet; `counted_until` of GET /v1/costs says how far it is.",
        )),
        Finalized::NotFound => Err(Problem::no_such("draft")),
    }
}
