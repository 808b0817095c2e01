//! `GET` and `PUT /v1/admin/tenants/{id}/billing`: how a tenant is billed.

use super::view::{billed_tenant, unknown};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, FieldError, Problem};
use crate::request::json;
use api_types::TenantBilling;
use api_types::request::TenantBillingPut;
use domain::invoice::BillingZone;

const BILLING: [AnswerDoc; 1] = [AnswerDoc {
    status: 200,
    text: "How the tenant is billed",
    content: Content::Json("TenantBilling"),
}];

/// The words of `get`.
pub const DOC: Doc = Doc {
    summary: "Read how a tenant is billed",
    answers: &BILLING,
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// The words of `put`.
pub const PUT: Doc = Doc {
    summary: "Store how a tenant is billed",
    description: "Omitted fields get their defaults. Another zone moves the end of the month that is billed next, and not its beginning: \
                  nothing is billed twice or left out. Invoices that are final keep what they say.",
    request: Some("TenantBillingPut"),
    answers: &BILLING,
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Reads.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn get(call: OperatorCall) -> Result<Answer<TenantBilling>, Problem> {
    call.query()?.finish()?;
    let tenant = billed_tenant(&call).await?;
    let found = store::invoice::get_billing(&call.state.admin, tenant).await?;
    Ok(Answer::ok(shown(found.ok_or_else(unknown)?)))
}

/// Stores.
///
/// # Errors
/// What is wrong with it; `not_found`; what the database said.
pub async fn put(call: OperatorCall) -> Result<Answer<TenantBilling>, Problem> {
    call.query()?.finish()?;
    let put = checked(json::parse(&call.body)?)?;
    let tenant = billed_tenant(&call).await?;
    let stored = store::invoice::put_billing(&call.state.admin, tenant, &put, call.by()).await?;
    Ok(Answer::ok(shown(stored.ok_or_else(unknown)?)))
}

fn checked(spec: TenantBillingPut) -> Result<store::invoice::TenantBillingPut, Problem> {
    let TenantBillingPut { zone, customer, address } = spec;
    let mut errors = Vec::new();
    let mut wrong = |pointer: &str, detail: String| {
        errors.push(FieldError { pointer: pointer.to_owned(), detail });
    };
    let zone = match zone.map(|zone| zone.parse::<BillingZone>()).transpose() {
        Ok(zone) => zone.unwrap_or_default(),
        Err(error) => {
            wrong("/zone", error.to_string());
            BillingZone::default()
        }
    };
    let fits = |text: &Option<String>, most, lines: bool| {
        text.as_ref().is_none_or(|text| {
            let control = |c: char| c.is_control() && !(lines && c == '\n');
            (1..=most).contains(&text.chars().count()) && !text.chars().any(control)
        })
    };
    if !fits(&customer, 255, false) {
        wrong("/customer", "must be 1 to 255 visible characters".to_owned());
    }
    if !fits(&address, 1000, true) {
        wrong("/address", "must be 1 to 1000 visible characters, in lines".to_owned());
    }
    if errors.is_empty() {
        return Ok(store::invoice::TenantBillingPut { zone, customer, address });
    }
    Err(Problem::with_errors(Code::ValidationFailed, errors))
}

fn shown(billing: store::invoice::TenantBilling) -> TenantBilling {
    let store::invoice::TenantBilling { put, period } = billing;
    TenantBilling {
        zone: put.zone.to_string(),
        customer: put.customer,
        address: put.address,
        month: period.month,
        starts_at: period.starts_at,
        ends_at: period.ends_at,
    }
}
