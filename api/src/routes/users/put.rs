//! `PUT /v1/users/{id}`: a user under their e-mail address. Whoever is not there is invited, whoever is gets the role.

use super::change::done;
use super::view::{Named, named_in_path, new_user, user};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{Head, json as body, other_version, wanted_version};
use crate::state::State;
use actix_web::http::StatusCode;
use api_types::request::UserPut;
use api_types::{NewUser, User};
use domain::access::{PermissionSet, Role};
use serde::Serialize;
use store::TenantScope;
use store::user::{PutUser, UserStored, WhichUser};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a user",
    description: "By e-mail address: a new user is invited, and the response has a one-time token, shown once. An id names a user who \
                  exists. The rules are those of `POST` and `PATCH`.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("UserPut"),
    answers: &ANSWERS,
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound, Code::LastOwner, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// What is answered.
pub(in crate::routes) const ANSWERS: [AnswerDoc; 2] = [
    AnswerDoc { status: 201, text: "Invited", content: Content::Json("NewUser") },
    AnswerDoc { status: 200, text: "Changed, or unchanged", content: Content::Json("User") },
];

/// A user as stored.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum StoredUser {
    /// New: with the token of the invitation.
    Invited(NewUser),
    /// There already.
    Known(User),
}

/// A request to store a user: what is in its path, headers and body.
pub(in crate::routes) struct Asked {
    named: Named,
    if_version: Option<i64>,
    /// The role to give.
    pub role: Role,
}

impl Asked {
    /// Reads it; the user is named by `{part}` of the path.
    ///
    /// # Errors
    /// What is wrong with it; `not_found` for what can be neither id nor address.
    pub fn of(request: &Head, part: &str, body: &[u8]) -> Result<Self, Problem> {
        let UserPut { role } = body::parse(body)?;
        let if_version = wanted_version(request.headers())?;
        Ok(Self { named: named_in_path(request, part)?, if_version, role })
    }

    /// Stores the user, on behalf of somebody who may do `permissions`, and answers.
    ///
    /// # Errors
    /// `not_found`, `version_mismatch`, `last_owner`, `scope_missing`; what the database said.
    pub async fn store(
        self,
        state: &State,
        scope: &TenantScope,
        permissions: PermissionSet,
    ) -> Result<Answer<StoredUser>, Problem> {
        let Self { named, if_version, role } = self;
        let (which, token) = match named {
            Named::Id(id) => (WhichUser::Id(id), None),
            Named::Email(email) => {
                let (entry, token) = state.sessions.invitation()?;
                (WhichUser::Email(email, entry), Some(token))
            }
        };
        let put = PutUser { which, if_version, role, permissions };
        match store::user::put(&state.api, scope, put).await? {
            UserStored::Created(info) => Ok(Answer::versioned(
                StatusCode::CREATED,
                info.version,
                StoredUser::Invited(new_user(info, token)),
            )),
            UserStored::Updated(info) | UserStored::Unchanged(info) => {
                Ok(Answer::versioned(StatusCode::OK, info.version, StoredUser::Known(user(info))))
            }
            UserStored::VersionMismatch { version } => Err(other_version("user", version)),
            UserStored::Not(changed) => {
                let info = done(changed)?;
                Ok(Answer::versioned(StatusCode::OK, info.version, StoredUser::Known(user(info))))
            }
        }
    }
}

/// Answers.
///
/// # Errors
/// As `Asked::of` and `Asked::store`; `scope_missing` for a role beyond the caller's.
pub async fn handle(call: Call) -> Result<Answer<StoredUser>, Problem> {
    call.query()?.finish()?;
    let asked = Asked::of(&call.request, "id", &call.body)?;
    call.caller.may_give(asked.role)?;
    asked.store(&call.state, &call.scope(), call.caller.permissions()).await
}
