//! An operator's key as it is shown, and how one is named in a path.

use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use crate::routes::keys::view::is_key_id;
use domain::time::Timestamp;
use serde::Serialize;
use store::operator_key::OperatorKeyInfo;
use utoipa::ToSchema;

/// An operator key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OperatorKey)]
pub struct OperatorKeyView<'a> {
    /// Id: the third part of the key.
    id: &'a str,
    /// Name of the operator.
    name: &'a str,
    /// Scopes; neither includes the other.
    #[schema(value_type = Vec<super::super::super::super::openapi::words::OperatorScope>)]
    scopes: &'a [String],
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Expiry; null: never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// Last use, to within a minute; null: never.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    /// The key that replaced it; both are valid until `expires_at`.
    replaced_by: Option<&'a str>,
}

impl<'a> From<&'a OperatorKeyInfo> for OperatorKeyView<'a> {
    fn from(key: &'a OperatorKeyInfo) -> Self {
        Self {
            id: &key.id,
            name: &key.name,
            scopes: &key.scopes,
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            replaced_by: key.replaced_by.as_deref(),
        }
    }
}

/// A new operator key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewOperatorKey)]
pub struct NewOperatorKeyView<'a> {
    /// The whole key, shown once.
    pub(super) key: &'a str,
    /// The rest.
    #[serde(flatten)]
    pub(super) info: OperatorKeyView<'a>,
}

/// The key named in the path.
pub(super) fn id_in_path(call: &OperatorCall) -> Result<&str, Problem> {
    let id = call.request.match_info().get("id").unwrap_or_default();
    if is_key_id(id) { Ok(id) } else { Err(no_such_key()) }
}

pub(super) fn no_such_key() -> Problem {
    Problem::no_such("operator key")
}

/// Refuses scopes that the caller does not hold.
pub(super) fn may_give<'a>(
    call: &OperatorCall,
    scopes: impl IntoIterator<Item = &'a str>,
) -> Result<(), Problem> {
    let held = |scope: &str| call.operator.scopes().iter().any(|held| held.as_str() == scope);
    match scopes.into_iter().find(|scope| !held(scope)) {
        None => Ok(()),
        Some(scope) => {
            let detail = format!("You cannot grant the scope `{scope}`: your key lacks it.");
            Err(Problem::new(Code::ScopeMissing, detail))
        }
    }
}
