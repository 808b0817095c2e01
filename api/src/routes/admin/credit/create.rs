//! `POST /v1/admin/tenants/{id}/credits`: a credit or a refund, made once for each key.

use super::super::tenant::billed_tenant;
use super::view::credit;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, FieldError, Problem};
use crate::request::json;
use api_types::Credit;
use api_types::request::CreditCreate;
use domain::invoice::InvoiceName;
use domain::price::{Currency, Micros};
use store::credit::{CreditKind, Credited, NewCredit};

/// Largest amount, micro-units.
const MOST: u64 = 1_000_000_000_000_000;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Make a credit or a refund",
    description: "No invoice that is final changes. A credit is a line of the next invoice of its currency; what it exceeds the charges \
                  by is carried on. A refund says that money of a paid invoice was paid back, at most its total, and is no line of \
                  another. The same key again changes nothing.",
    request: Some("CreditCreate"),
    answers: &[
        AnswerDoc { status: 201, text: "The new credit", content: Content::Json("Credit") },
        AnswerDoc { status: 200, text: "It was made before", content: Content::Json("Credit") },
    ],
    problems: &[Code::NotFound, Code::Conflict],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it; `not_found` for the tenant; `conflict` where the key is another credit's; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Credit>, Problem> {
    call.query()?.finish()?;
    let new = checked(json::parse(&call.body)?)?;
    let tenant = billed_tenant(&call).await?;
    let at = |pointer, detail: String| Err(Problem::at(Code::ValidationFailed, pointer, detail));
    match store::credit::create(&call.state.admin, tenant, &new, call.by()).await? {
        Credited::Created(record) => Ok(Answer::created(credit(record))),
        Credited::Repeated(record) => Ok(Answer::ok(credit(record))),
        Credited::KeyReused => Err(Problem::new(
            Code::Conflict,
            "Another credit of the tenant has this key; give a new one.",
        )),
        Credited::NoSuchInvoice => at("/invoice", "is not a final invoice of the tenant".into()),
        Credited::OtherCurrency(currency) => {
            at("/currency", format!("must be {currency}, as of the invoice"))
        }
        Credited::NotPaid(state) => {
            at("/invoice", format!("is {state}: only of a paid invoice money is paid back"))
        }
        Credited::TooMuch(left) => {
            let least = left.0.saturating_neg();
            at("/amount", format!("must be at least {least}: no more of the invoice was paid"))
        }
    }
}

/// The credit, where all of it is in its form.
fn checked(spec: CreditCreate) -> Result<NewCredit, Problem> {
    let CreditCreate { key, refund, currency, amount, invoice, reason } = spec;
    let mut errors = Vec::new();
    let mut wrong = |pointer: &str, detail: String| {
        errors.push(FieldError { pointer: pointer.to_owned(), detail });
    };
    let of_key = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if key.is_empty() || key.len() > 100 || !key.chars().all(of_key) {
        wrong("/key", "must be 1 to 100 of A-Z, a-z, 0-9, `.`, `_` and `-`".to_owned());
    }
    if amount == 0 || amount.unsigned_abs() > MOST {
        wrong("/amount", format!("must not be 0, and from -{MOST} to {MOST} micro-units"));
    } else if refund && amount > 0 {
        wrong("/amount", "must be below 0: a refund is in the tenant's favour".to_owned());
    }
    let count = reason.chars().count();
    if !(1..=500).contains(&count)
        || reason.trim().is_empty()
        || reason.chars().any(char::is_control)
    {
        wrong("/reason", "must be 1 to 500 visible characters".to_owned());
    }
    let currency = currency.parse::<Currency>();
    if let Err(error) = &currency {
        wrong("/currency", error.to_string());
    }
    let invoice = invoice.map(|text| text.parse::<InvoiceName>()).transpose();
    match &invoice {
        Err(error) => wrong("/invoice", error.to_string()),
        Ok(None) if refund => wrong("/invoice", "must name the invoice that was paid".to_owned()),
        Ok(_) => {}
    }
    match (currency, invoice) {
        (Ok(currency), Ok(invoice)) if errors.is_empty() => {
            let kind = if refund { CreditKind::Refund } else { CreditKind::Credit };
            Ok(NewCredit { key, kind, currency, amount: Micros(amount), invoice, reason })
        }
        _ => Err(Problem::with_errors(Code::ValidationFailed, errors)),
    }
}
