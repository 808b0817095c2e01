//! `PATCH /v1/users/{id}` and `DELETE /v1/users/{id}`: give a user another role, or remove one.
//!
//! Both are felt within 2 s: what a user may do is looked up, and not written in their token.

use super::view::{Named, find, named_in_path, no_such_user, user};
use crate::answer::Answer;
use crate::auth::ended;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{json, nothing, other_version, wanted_version};
use crate::state::State;
use api_types::User;
use api_types::request::UserChange;
use domain::access::PermissionSet;
use store::TenantScope;
use store::user::{Change, Changed, UserInfo, WantedChange};

/// The document's words.
pub const ROLE_DOC: Doc = Doc {
    summary: "Change a user's role",
    description: "API keys of the user that the new role does not allow are revoked. You can only grant a role whose permissions you \
                  hold, and only owners can change owners.",
    request: Some("UserChange"),
    answers: &[AnswerDoc { status: 200, text: "Changed", content: Content::Json("User") }],
    problems: &[Code::NotFound, Code::LastOwner],
    ..Doc::EMPTY
};

/// The document's words.
pub const REMOVE_DOC: Doc = Doc {
    summary: "Remove a user",
    description: "The user's sign-ins end and the API keys created by the user are revoked.",
    headers: &[IF_MATCH],
    answers: &REMOVED,
    problems: &[Code::NotFound, Code::LastOwner, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// What is answered.
pub(in crate::routes) const REMOVED: [AnswerDoc; 1] =
    [AnswerDoc { status: 200, text: "The revoked object", content: Content::Json("User") }];

/// A change of a user, on behalf of somebody who may do `permissions`.
pub(in crate::routes) struct Asked {
    /// Whom.
    pub named: Named,
    /// Only in this version; `None`: in any.
    pub if_version: Option<i64>,
    /// What.
    pub change: Change,
    /// What whoever asks may do.
    pub permissions: PermissionSet,
}

impl Asked {
    /// Makes the change, and answers with the user.
    ///
    /// # Errors
    /// `not_found`, `version_mismatch`, `last_owner`, `scope_missing`; what the database said.
    pub async fn make(self, state: &State, scope: &TenantScope) -> Result<Answer<User>, Problem> {
        let Self { named, if_version, change, permissions } = self;
        let id = match named {
            Named::Id(id) => id,
            by_address @ Named::Email(_) => find(&state.api, scope, by_address).await?.id,
        };
        let wanted = WantedChange { user: id, if_version, change, permissions };
        let changed = store::user::change(&state.api, scope, wanted).await?;
        Ok(Answer::ok(user(done(changed)?)))
    }
}

/// Gives another role.
///
/// # Errors
/// `not_found`; `scope_missing` for a role beyond the caller's, and for an owner; `last_owner`; what the database said.
pub async fn role(call: Call) -> Result<Answer<User>, Problem> {
    let spec: UserChange = json::parse(&call.body)?;
    call.caller.may_give(spec.role)?;
    change(call, Change::Role(spec.role), None).await
}

/// Removes.
///
/// # Errors
/// As [`role`]; `version_mismatch`.
pub async fn remove(call: Call) -> Result<Answer<User>, Problem> {
    nothing(&call.body)?;
    let if_version = wanted_version(call.request.headers())?;
    change(call, Change::Remove, if_version).await
}

async fn change(
    call: Call,
    change: Change,
    if_version: Option<i64>,
) -> Result<Answer<User>, Problem> {
    call.query()?.finish()?;
    let named = named_in_path(&call.request, "id")?;
    let permissions = call.caller.permissions();
    Asked { named, if_version, change, permissions }.make(&call.state, &call.scope()).await
}

/// The changed user, or why it was not.
pub(in crate::routes) fn done(changed: Changed) -> Result<UserInfo, Problem> {
    match changed {
        Changed::Done(user) => Ok(user),
        Changed::NotFound => Err(no_such_user()),
        Changed::ActorEnded => Err(ended()),
        Changed::VersionMismatch { version } => Err(other_version("user", Some(version))),
        Changed::Mightier => {
            Err(Problem::new(Code::ScopeMissing, "Only owners can change owners."))
        }
        Changed::LastOwner => Err(Problem::new(
            Code::LastOwner,
            "This is the tenant's last owner; add another first.",
        )),
    }
}
