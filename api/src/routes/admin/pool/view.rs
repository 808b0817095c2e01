//! A pool as operators see it.

use crate::answer::Answer;
use actix_web::http::StatusCode;
use api_types::{Pool, PoolGrants, PoolPaused};
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
