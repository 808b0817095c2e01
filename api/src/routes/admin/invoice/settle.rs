//! `POST /v1/admin/tenants/{id}/invoices/{number}/pay` and `/void`: a final invoice ends. Each may be repeated.

use super::super::tenant::billed_tenant;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::invoice::invoice;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::invoices::named::name_of;
use api_types::Invoice;
use domain::id::TenantId;
use domain::invoice::InvoiceName;
use store::StoreError;
use store::invoice::Settled;

const INVOICE: [AnswerDoc; 1] =
    [AnswerDoc { status: 200, text: "The invoice", content: Content::Json("Invoice") }];
const PROBLEMS: [Code; 3] = [Code::InvalidParameter, Code::NotFound, Code::Conflict];

/// The words of `pay`.
pub const PAY: Doc = Doc {
    summary: "Say that an invoice was paid",
    description: "Of a final invoice. The same again changes nothing.",
    answers: &INVOICE,
    problems: &PROBLEMS,
    ..Doc::EMPTY
};

/// The words of `void`.
pub const VOID: Doc = Doc {
    summary: "Make an invoice void",
    description: "Of a final invoice: it keeps its number, and nothing is owed of it. What it applied of credits is credited to the next \
                  one. Its month is not billed again: to bill it otherwise, make a charge (a credit with an amount above 0).",
    answers: &INVOICE,
    problems: &PROBLEMS,
    ..Doc::EMPTY
};

/// It was paid.
///
/// # Errors
/// `not_found`; `conflict` where it is void; what the database said.
pub async fn pay(call: OperatorCall) -> Result<Answer<Invoice>, Problem> {
    let (tenant, name) = named(&call).await?;
    settled(store::invoice::pay(&call.state.admin, tenant, name, call.by()).await)
}

/// It is void.
///
/// # Errors
/// `not_found`; `conflict` where it was paid; what the database said.
pub async fn void(call: OperatorCall) -> Result<Answer<Invoice>, Problem> {
    let (tenant, name) = named(&call).await?;
    settled(store::invoice::void(&call.state.admin, tenant, name, call.by()).await)
}

async fn named(call: &OperatorCall) -> Result<(TenantId, InvoiceName), Problem> {
    call.query()?.finish()?;
    json::nothing(&call.body)?;
    let name = name_of(&call.request)?;
    Ok((billed_tenant(call).await?, name))
}

fn settled(done: Result<Settled, StoreError>) -> Result<Answer<Invoice>, Problem> {
    match done? {
        Settled::Yes(record) => Ok(Answer::ok(invoice(*record))),
        Settled::Not(state) => {
            let detail = format!("The invoice is {state}, so this is not possible.");
            Err(Problem::new(Code::Conflict, detail))
        }
        Settled::NotFound => Err(Problem::no_such("invoice")),
    }
}
