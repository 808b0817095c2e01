//! `PUT /v1/spend-caps/{name}`: what tasks may cost from now on.

use super::view::{name_of, shown};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, FieldError, Problem};
use crate::request::{json as body, other_version, wanted_version};
use actix_web::http::StatusCode;
use api_types::{LabelIs, SpendCap, SpendCapPut};
use domain::price::Micros;
use domain::spend::{self, CapScope, MOST_AMOUNT};
use store::spend_cap::{CapStored, MOST_CAPS};

/// Longest text of a label's key or value, or of a schedule's name, in bytes: longer ones do not exist.
const MOST_TEXT: usize = 800;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a spend cap",
    description: "Holds for what is accepted from now on: each task reserves the most that it can cost, and what would pass the cap is \
                  refused (`spend_cap_reached`). What ended in the present period counts. Only `amount` of a stored cap can change.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("SpendCapPut"),
    answers: &[
        AnswerDoc { status: 201, text: "The new spend cap", content: Content::Json("SpendCap") },
        AnswerDoc {
            status: 200,
            text: "Changed, or unchanged",
            content: Content::Json("SpendCap"),
        },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it; `conflict` where the tenant has too many; `version_mismatch`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<SpendCap>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    let cap = checked(body::parse(&call.body)?)?;
    match store::spend_cap::put(&call.state.api, &call.scope(), &name, if_version, &cap).await? {
        CapStored::Created(record) => Ok(shown(StatusCode::CREATED, record)),
        CapStored::Updated(record) | CapStored::Unchanged(record) => {
            Ok(shown(StatusCode::OK, record))
        }
        CapStored::Otherwise(stored) => Err(otherwise(&stored.cap, &cap)),
        CapStored::UnknownZone => {
            let detail = "must be the name of a time zone, such as `Europe/Berlin`";
            Err(Problem::at(Code::ValidationFailed, "/zone", detail.to_owned()))
        }
        CapStored::TooMany => {
            let detail = format!(
                "The tenant has {MOST_CAPS} spend caps, which is the maximum; delete one first."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        CapStored::VersionMismatch { version } => Err(other_version("spend cap", version)),
    }
}

fn checked(put: SpendCapPut) -> Result<spend::SpendCap, Problem> {
    let SpendCapPut { amount, currency, period, zone, label, schedule } = put;
    let mut errors = Vec::new();
    let mut wrong = |pointer: &str, detail: String| {
        errors.push(FieldError { pointer: pointer.to_owned(), detail });
    };
    if !(Micros(0)..=MOST_AMOUNT).contains(&amount) {
        wrong("/amount", format!("must be from 0 to {}", MOST_AMOUNT.0));
    }
    let is_text = |text: &str| (1..=MOST_TEXT).contains(&text.len()) && !text.contains('\0');
    let what = format!("must have 1 to {MOST_TEXT} bytes");
    if !is_text(&zone) {
        wrong("/zone", what.clone());
    }
    let scope = match (label, schedule) {
        (Some(_), Some(_)) => {
            let detail = "must not be together with `label`: store two caps".to_owned();
            wrong("/schedule", detail);
            CapScope::Tenant
        }
        (Some(LabelIs { key, value }), None) => {
            if !is_text(&key) {
                wrong("/label/key", what.clone());
            }
            // A label may be empty.
            if value.len() > MOST_TEXT || value.contains('\0') {
                wrong("/label/value", format!("must have {MOST_TEXT} bytes at most"));
            }
            CapScope::Label { key, value }
        }
        (None, Some(name)) => {
            if !is_text(&name) {
                wrong("/schedule", what);
            }
            CapScope::Schedule(name)
        }
        (None, None) => CapScope::Tenant,
    };
    if errors.is_empty() {
        Ok(spend::SpendCap { amount, currency, period, zone, scope })
    } else {
        Err(Problem::with_errors(Code::ValidationFailed, errors))
    }
}

/// What cannot change of `stored` and is another in `wanted`.
fn otherwise(stored: &spend::SpendCap, wanted: &spend::SpendCap) -> Problem {
    let fields = [
        ("/currency", stored.currency != wanted.currency),
        ("/period", stored.period != wanted.period),
        ("/zone", stored.zone != wanted.zone),
        (
            if matches!(stored.scope, CapScope::Schedule(_)) { "/schedule" } else { "/label" },
            stored.scope != wanted.scope,
        ),
    ];
    let error = |(pointer, _): (&str, bool)| FieldError {
        pointer: pointer.to_owned(),
        detail: "cannot change: delete the cap, or store another one".to_owned(),
    };
    let errors = fields.into_iter().filter(|(_, differs)| *differs).map(error);
    Problem::with_errors(Code::ValidationFailed, errors.collect())
}
