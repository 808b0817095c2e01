//! A pool as operators see it, and how one is named in a path.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::{Pool, PoolGrants, PoolPaused};
use domain::id::PoolName;
use domain::pool::PoolSettings;
use store::pool::PoolRecord;

/// The pool of a record.
pub(super) fn pool(record: PoolRecord) -> Pool {
    let PoolSettings { policy, max_executor, grants } = record.settings;
    let domain::pool::PoolGrants { everyone, plans, tenants } = grants;
    Pool {
        name: record.name,
        version: record.version,
        command_network: policy.command_network,
        private_targets: policy.private_targets,
        max_executor: max_executor.into(),
        granted_to: PoolGrants { everyone, plans, tenants },
        paused: record.pause.map(|pause| PoolPaused { at: pause.at, reason: pause.because }),
    }
}

/// Shows a pool, with its version as `ETag`.
pub(super) fn shown(status: StatusCode, record: PoolRecord) -> Answer<Pool> {
    Answer::versioned(status, record.version, pool(record))
}

/// It is in another version than was asked for.
pub(super) fn mismatch(version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The pool has version {version}."),
        None => "The pool does not exist.".to_owned(),
    };
    Problem::new(Code::VersionMismatch, detail)
}

/// The pool named in the path.
pub(super) fn name_of(call: &OperatorCall) -> Result<PoolName, Problem> {
    let text = call.request.match_info().get("name").unwrap_or_default();
    text.parse().map_err(|error: domain::id::ParseNameError| {
        Problem::at(Code::InvalidParameter, "path:name", error.to_string())
    })
}
