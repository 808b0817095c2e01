//! A user as they are shown, and what holds for what is sent of one.

use crate::call::Call;
use crate::problem::Problem;
use crate::task::Findings;
use domain::access::Role;
use domain::id::UserId;
use domain::time::Timestamp;
use secrecy::SecretString;
use serde::Serialize;
use store::user::UserInfo;
use utoipa::ToSchema;

/// A user.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub struct UserView<'a> {
    /// The user's id.
    #[schema(value_type = String)]
    id: UserId,
    /// Lower case; unique in the tenant.
    email: &'a str,
    /// Role of the user.
    #[schema(value_type = super::super::super::openapi::words::Role)]
    role: Role,
    /// `invited` until a password is set, then `active`.
    state: &'static str,
    /// When the user was invited or created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl<'a> From<&'a UserInfo> for UserView<'a> {
    fn from(user: &'a UserInfo) -> Self {
        Self {
            id: user.id,
            email: &user.email,
            role: user.role,
            state: user.state.as_str(),
            created_at: user.created_at,
        }
    }
}

/// The user named in the path.
///
/// # Errors
/// `not_found` for what cannot be a user's id.
pub(super) fn id_in_path(call: &Call) -> Result<UserId, Problem> {
    let text = call.request.match_info().get("id").unwrap_or_default();
    text.parse().map_err(|_| no_such_user())
}

/// "Not found", in the same words for a foreign, an unknown, a removed and a malformed one.
pub(super) fn no_such_user() -> Problem {
    Problem::no_such("user")
}

/// The field `password`.
pub(crate) fn check_password(findings: &mut Findings, password: &SecretString) {
    if let Err(unfit) = identity::rules::password(password) {
        findings.wrong("/password", unfit.to_string());
    }
}

/// The field `email`, in lower case; empty where it is none, which is found.
pub(crate) fn check_email(findings: &mut Findings, email: &str) -> String {
    identity::rules::email(email).unwrap_or_else(|unfit| {
        findings.wrong("/email", unfit.to_string());
        String::new()
    })
}
