//! A user as they are shown, and what holds for what is sent of one.

use crate::problem::Problem;
use crate::request::{Head, text_in_path};
use crate::task::Findings;
use api_types::{NewUser, Secret, User, UserState};
use domain::id::UserId;
use secrecy::SecretString;
use store::TenantScope;
use store::connect::ApiDb;
use store::user::UserInfo;

/// The user of a record.
pub(in crate::routes) fn user(info: UserInfo) -> User {
    let state = match info.state {
        store::user::UserState::Invited => UserState::Invited,
        store::user::UserState::Active => UserState::Active,
    };
    User {
        id: info.id,
        version: info.version,
        email: info.email,
        role: info.role.into(),
        state: state.into(),
        created_at: info.created_at,
    }
}

/// A new user, with the token, where there is one to show.
pub(in crate::routes) fn new_user(info: UserInfo, invite_token: Option<SecretString>) -> NewUser {
    NewUser { info: user(info), invite_token: invite_token.map(Secret::from) }
}

/// A user as a path names them.
pub(in crate::routes) enum Named {
    /// By id.
    Id(UserId),
    /// By address, in lower case.
    Email(String),
}

/// The user that `{part}` of the path names, by id or address.
///
/// # Errors
/// `not_found` for what can be neither.
pub(in crate::routes) fn named_in_path(request: &Head, part: &str) -> Result<Named, Problem> {
    let text = text_in_path(request, part).ok_or_else(no_such_user)?;
    match text.parse() {
        Ok(id) => Ok(Named::Id(id)),
        Err(_) => identity::rules::email(&text).map(Named::Email).map_err(|_| no_such_user()),
    }
}

/// The user named in the path.
///
/// # Errors
/// `not_found`; what the database said.
pub(in crate::routes) async fn find(
    db: &ApiDb,
    scope: &TenantScope,
    named: Named,
) -> Result<UserInfo, Problem> {
    let found = match named {
        Named::Id(id) => store::user::get(db, scope, id).await?,
        Named::Email(email) => store::user::find_by_email(db, scope, &email).await?,
    };
    found.ok_or_else(no_such_user)
}

/// "Not found", in the same words for a foreign, an unknown, a removed and a malformed one.
pub(in crate::routes) fn no_such_user() -> Problem {
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
