//! Resources: what Terraform keeps. One file per noun.

pub mod api_key;
mod concurrency_limit;
pub mod keys;
mod operator_key;
pub mod plan;
pub mod pool;
pub mod price_book;
mod schedule;
mod spend_cap;
pub mod tenant;
mod tenant_billing;
pub mod timing;
mod user;
mod webhook;
mod workflow;

use crate::provider::{Problem, Resource};
use api_types::ErrorCode;
use client::{ApiResponse, ClientError};
use domain::time::Timestamp;
use serde_json::Value as Json;

/// Every resource.
#[must_use]
pub fn all() -> Vec<Box<dyn Resource>> {
    vec![
        Box::new(plan::Plan),
        Box::new(price_book::PriceBook),
        Box::new(pool::Pool),
        Box::new(tenant::Tenant),
        Box::new(tenant_billing::TenantBilling),
        Box::new(api_key::ApiKey),
        Box::new(operator_key::OperatorKey),
        Box::new(user::User),
        Box::new(schedule::Schedule),
        Box::new(workflow::Workflow),
        Box::new(concurrency_limit::ConcurrencyLimit),
        Box::new(spend_cap::SpendCap),
        Box::new(webhook::Webhook),
    ]
}

/// The version to change: that of the state, so that another change in between is seen.
fn version(state: &crate::value::Value) -> Option<i64> {
    state.get("version").whole().and_then(|version| version.try_into().ok())
}

/// A version that nothing has: the API checks the whole request, and stores nothing.
const NO_VERSION: Option<i64> = Some(i64::MAX);

/// Most that a number can be. The API's own limits are lower, and it names them.
const MOST: u64 = i64::MAX.unsigned_abs();

/// The time by the clock of this machine.
fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the provider is outside Berth's processes")]
    Timestamp::from(std::time::SystemTime::now())
}

/// The JSON of an answer.
pub fn answer<T>(response: &ApiResponse<T>) -> Result<Json, Problem> {
    serde_json::from_slice(response.json()).map_err(|error| Problem::Said {
        path: None,
        summary: "The answer cannot be read".to_owned(),
        detail: error.to_string(),
    })
}

/// The JSON of what was read; `None` where the API says that it does not exist. A page of a proxy does not say so.
pub fn existing<T>(read: Result<ApiResponse<T>, ClientError>) -> Result<Option<Json>, Problem> {
    match read.map_err(Problem::from) {
        Ok(response) => answer(&response).map(Some),
        Err(problem) if problem.is(ErrorCode::NotFound) => Ok(None),
        Err(problem) => Err(problem),
    }
}
