//! A pool as operators see it, and how one is named in a path.

use crate::answer::{raw_json, to_json};
use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::ETAG;
use domain::id::PoolName;
use domain::pool::{MaxExecutor, PoolSettings};
use domain::time::Timestamp;
use serde::Serialize;
use store::pool::PoolRecord;
use utoipa::ToSchema;

/// A pool.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Pool)]
pub struct PoolView {
    /// Its name.
    name: String,
    /// Version, from 1; counts changes of the fields below up to `granted_to`.
    version: i64,
    /// Whether commands can use the network.
    command_network: bool,
    /// Whether HTTP tasks can call private, loopback and link-local addresses.
    private_targets: bool,
    /// Largest capacity of one executor.
    max_executor: MaxExecutorView,
    /// Who may use it.
    granted_to: PoolGrantsView,
    /// The pause; null if not paused.
    paused: Option<PoolPauseView>,
}

/// Largest capacity of one executor of a pool in each dimension; null: no limit.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MaxExecutor)]
pub struct MaxExecutorView {
    /// Thousandths of a core.
    cpu_millis: Option<u32>,
    /// MiB of memory.
    memory_mib: Option<u32>,
    /// MiB of disk.
    disk_mib: Option<u32>,
    /// Disk operations per second.
    iops: Option<u32>,
    /// TCP ports.
    ports: Option<u32>,
}

impl From<MaxExecutor> for MaxExecutorView {
    fn from(limits: MaxExecutor) -> Self {
        let MaxExecutor { cpu_millis, memory_mib, disk_mib, iops, ports } = limits;
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}

/// Who may use a pool.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PoolGrants)]
pub struct PoolGrantsView {
    /// Every tenant.
    everyone: bool,
    /// The tenants on these plans.
    plans: Vec<String>,
    /// These tenants.
    tenants: Vec<String>,
}

/// Pause of a pool.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PoolPaused)]
pub struct PoolPauseView {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Why.
    reason: String,
}

impl From<PoolRecord> for PoolView {
    fn from(pool: PoolRecord) -> Self {
        let PoolSettings { policy, max_executor, grants } = pool.settings;
        Self {
            name: pool.name.to_string(),
            version: pool.version,
            command_network: policy.command_network,
            private_targets: policy.private_targets,
            max_executor: max_executor.into(),
            granted_to: PoolGrantsView {
                everyone: grants.everyone,
                plans: grants.plans.iter().map(ToString::to_string).collect(),
                tenants: grants.tenants.iter().map(ToString::to_string).collect(),
            },
            paused: pool.pause.map(|pause| PoolPauseView { at: pause.at, reason: pause.because }),
        }
    }
}

/// Shows a pool, with its version as `ETag`.
pub(super) fn shown(status: StatusCode, pool: PoolRecord) -> Result<HttpResponse, Problem> {
    let tag = format!("\"{}\"", pool.version).parse();
    let mut answer = raw_json(status, to_json(&PoolView::from(pool))?);
    if let Ok(tag) = tag {
        answer.headers_mut().insert(ETAG, tag);
    }
    Ok(answer)
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
