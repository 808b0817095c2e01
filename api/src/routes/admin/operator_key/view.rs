//! An operator's key as it is shown, and how one is named in a path.

use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use crate::routes::keys::view::is_key_id;
use api_types::{KeyId, NewOperatorKey, OperatorKey};
use domain::access::OperatorScope;
use secrecy::SecretString;
use store::operator_key::OperatorKeyInfo;

/// The key of a record.
///
/// # Errors
/// `internal` when a scope cannot be written, which would be a bug.
pub(super) fn operator_key(key: OperatorKeyInfo) -> Result<OperatorKey, Problem> {
    let scope = |scope: String| serde_json::from_value(scope.into());
    let scopes = key.scopes.into_iter().map(scope).collect::<Result<_, _>>();
    let malformed = |error: serde_json::Error| {
        Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error)
    };
    Ok(OperatorKey {
        id: key.id.into(),
        name: key.name,
        scopes: scopes.map_err(malformed)?,
        created_at: key.created_at,
        expires_at: key.expires_at,
        last_used_at: key.last_used_at,
        replaced_by: key.replaced_by.map(KeyId::from),
    })
}

/// A new key, with its text.
///
/// # Errors
/// As [`operator_key`].
pub(super) fn new_operator_key(
    info: OperatorKeyInfo,
    text: SecretString,
) -> Result<NewOperatorKey, Problem> {
    Ok(NewOperatorKey { key: text.into(), info: operator_key(info)? })
}

/// The key named in the path.
pub(super) fn id_in_path(call: &OperatorCall) -> Result<&str, Problem> {
    let id = call.request.part("id").unwrap_or_default();
    if is_key_id(id) { Ok(id) } else { Err(no_such_key()) }
}

pub(super) fn no_such_key() -> Problem {
    Problem::no_such("operator key")
}

/// Refuses scopes that the caller does not hold. Whoever may change all may let others report.
pub(super) fn may_give<'a>(
    call: &OperatorCall,
    scopes: impl IntoIterator<Item = &'a str>,
) -> Result<(), Problem> {
    let has = |scope: &str| call.operator.scopes().iter().any(|held| held.as_str() == scope);
    let (report, admin) = (OperatorScope::Report.as_str(), OperatorScope::Admin.as_str());
    let held = |scope: &str| has(scope) || (scope == report && has(admin));
    match scopes.into_iter().find(|scope| !held(scope)) {
        None => Ok(()),
        Some(scope) => {
            let detail = format!("You cannot grant the scope `{scope}`: your key lacks it.");
            Err(Problem::new(Code::ScopeMissing, detail))
        }
    }
}
