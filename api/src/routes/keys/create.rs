//! `POST /v1/keys`: make an API key.
//!
//! The text is in this answer and nowhere else. The rule: nobody gives a scope whose permissions they do not hold.

use super::view::new_key;
use crate::answer::{Answer, to_json};
use crate::auth::ended;
use crate::call::{Call, idempotency_key, key_reused};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json as body;
use crate::task::{Findings, duration, short_text};
use api_types::NewApiKey;
use api_types::request::{ApiKeyCreate, Given};
use chrono::TimeDelta;
use domain::access::{Scope, ScopeSet};
use runtime::clock::wall;
use std::time::Duration;
use store::idempotency::Once;
use store::key::{Created, KeyInfo, NewKey, NewOwnKey};

/// The longest life of a key that has an end.
const LONGEST_LIFE: Duration = Duration::from_secs(3650 * 24 * 3600);

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Create an API key",
    description: "The key is shown once. You can only grant your own permissions: `read` needs `tasks.read` and `usage.read`, \
                  `submit` needs `tasks.submit`, `admin` needs the permissions on keys and users.",
    request: Some("ApiKeyCreate"),
    answers: &[AnswerDoc { status: 201, text: "Created", content: Content::Json("NewApiKey") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `scope_missing` for a scope that the caller cannot give; `validation_failed`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<NewApiKey>, Problem> {
    call.query()?.finish()?;
    let spec: ApiKeyCreate = body::parse(&call.body)?;
    let once = idempotency_key(&call)?;
    let (name, scopes, life) = checked(spec)?;
    may_give(&call, &scopes)?;
    let made = call.state.authenticator.generate_key()?;
    let key = NewKey {
        id: made.id,
        tenant: call.caller.tenant(),
        name,
        hash: made.hash.to_vec(),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        expires_at: life.and_then(|life| wall().checked_add_signed(life)),
    };
    let (db, scope) = (&call.state.api, call.scope());
    let new = NewOwnKey { key, user: call.caller.makes_keys_for() };
    let kept = |key: &KeyInfo| to_json(&new_key(key.clone(), None)).unwrap_or_default();
    match store::key::create_own(db, &scope, new, once.as_ref(), kept).await? {
        Once::Done(Created::MayNot) => Err(may_not_any_more()),
        Once::Done(Created::ActorEnded) => Err(ended()),
        Once::Done(Created::Done(key)) => Ok(Answer::created(new_key(*key, Some(made.text)))),
        Once::Replayed { status, body } => Ok(Answer::replayed(status, body)),
        Once::KeyReused => Err(key_reused()),
    }
}

/// Its name, its scopes in order, and how long it lives; `None`: for ever.
///
/// # Errors
/// `validation_failed`.
pub(in crate::routes) fn checked(
    spec: ApiKeyCreate,
) -> Result<(String, Vec<Scope>, Option<TimeDelta>), Problem> {
    let mut findings = Findings::new(String::new());
    short_text(&mut findings, "/name", &spec.name, 200);
    let mut scopes = spec.scopes;
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        findings.wrong("/scopes", "must name at least one of read, submit and admin");
    }
    let life = life(&mut findings, spec.expires_in);
    findings.into_result()?;
    Ok((spec.name, scopes, life))
}

/// The field `expires_in`.
pub(in crate::routes) fn life(
    findings: &mut Findings,
    given: Option<Given<Duration>>,
) -> Option<TimeDelta> {
    let range = Duration::from_secs(1)..=LONGEST_LIFE;
    let life =
        given.map(|given| duration(findings, "/expires_in", Some(given), range, LONGEST_LIFE));
    life.and_then(|life| TimeDelta::from_std(life).ok())
}

pub(super) fn may_not_any_more() -> Problem {
    let detail = "The role of the key's creator has changed and no longer allows these scopes.";
    Problem::new(Code::ScopeMissing, detail)
}

pub(super) fn may_give(call: &Call, scopes: &[Scope]) -> Result<(), Problem> {
    let given = ScopeSet::within(call.caller.permissions());
    match scopes.iter().find(|scope| !given.contains(**scope)) {
        None => Ok(()),
        Some(scope) => Err(Problem::new(
            Code::ScopeMissing,
            format!("You cannot grant the scope `{scope}`: you lack some of its permissions."),
        )),
    }
}
