//! `PUT /v1/admin/pools/{name}`: a pool, new or as it is from now on. The same again changes nothing.

use super::super::named::{mismatch, name_of};
use super::view::shown;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, FieldError, Problem};
use crate::request::{json as body, wanted_version};
use actix_web::http::StatusCode;
use api_types::Pool;
use api_types::request::{MaxExecutorPut, PoolGrantsPut, PoolPut};
use domain::pool::{MaxExecutor, PoolGrants, PoolPolicy, PoolSettings};
use domain::resources::Dimension;
use store::pool::{PoolStored, PutPool};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a pool",
    description: "Omitted permissions are off, and an omitted grant means no tenant. Grants and revocations take effect within two \
                  seconds: tasks submitted before continue, later due times of schedules create no task. Executors get changes of \
                  permissions and of the largest executor at their next connection.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("PoolPut"),
    answers: &[
        AnswerDoc { status: 201, text: "The new pool", content: Content::Json("Pool") },
        AnswerDoc { status: 200, text: "Changed, or unchanged", content: Content::Json("Pool") },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::VersionMismatch],
    ..Doc::EMPTY
};

/// The largest executor, where each number can be stored.
fn checked(spec: MaxExecutorPut) -> Result<MaxExecutor, Problem> {
    let limits = MaxExecutor::from(spec);
    let too_large = |most: Option<u32>| most.is_some_and(|most| most > MaxExecutor::MOST);
    let wrong = Dimension::ALL.into_iter().zip(limits.dimensions());
    let errors: Vec<_> = wrong
        .filter(|(_, most)| too_large(*most))
        .map(|(dimension, _)| FieldError {
            pointer: format!("/max_executor/{}", dimension.as_str()),
            detail: format!("must be at most {}; null: no limit", MaxExecutor::MOST),
        })
        .collect();
    if errors.is_empty() {
        Ok(limits)
    } else {
        Err(Problem::with_errors(Code::ValidationFailed, errors))
    }
}

/// Answers.
///
/// # Errors
/// What is wrong with it; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Pool>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    let spec: PoolPut = body::parse(&call.body)?;
    let PoolGrantsPut { everyone, plans, tenants } = spec.granted_to;
    if plans.len() + tenants.len() > PoolGrants::MOST {
        let detail = format!(
            "must have at most {} plans and tenants; grant it to a plan instead",
            PoolGrants::MOST
        );
        return Err(Problem::at(Code::ValidationFailed, "/granted_to", detail));
    }
    let (command_network, private_targets) = (spec.command_network, spec.private_targets);
    let settings = PoolSettings {
        policy: PoolPolicy { command_network, private_targets },
        max_executor: checked(spec.max_executor)?,
        grants: PoolGrants {
            everyone,
            plans: plans.iter().cloned().collect(),
            tenants: tenants.iter().copied().collect(),
        },
    };
    let put = PutPool { settings, if_version };
    match store::pool::put(&call.state.admin, &name, put, call.by()).await? {
        PoolStored::Created(pool) => Ok(shown(StatusCode::CREATED, pool)),
        PoolStored::Updated(pool) | PoolStored::Unchanged(pool) => Ok(shown(StatusCode::OK, pool)),
        PoolStored::VersionMismatch { version } => Err(mismatch("pool", version)),
        PoolStored::Unknown { plans: no_plans, tenants: no_tenants } => {
            let of_plans = wrong("plans", "plan", &plans, &no_plans);
            let of_tenants = wrong("tenants", "tenant", &tenants, &no_tenants);
            let errors = of_plans.chain(of_tenants).collect();
            Err(Problem::with_errors(Code::ValidationFailed, errors))
        }
    }
}

/// Says of each of `given` that is `unknown` where it stands.
fn wrong<'a, T: PartialEq + ToString>(
    field: &'a str,
    kind: &'a str,
    given: &'a [T],
    unknown: &'a [T],
) -> impl Iterator<Item = FieldError> + 'a {
    let at = move |(place, one): (usize, &T)| FieldError {
        pointer: format!("/granted_to/{field}/{place}"),
        detail: format!("`{}` is not a {kind} of this installation", one.to_string()),
    };
    given.iter().enumerate().filter(move |(_, one)| unknown.contains(*one)).map(at)
}
