//! The API as Rust types: for the command line, tests and other programs.
//!
//! One method a route, on [`Client`]. Every write carries an `Idempotency-Key`, so that what may or may not have
//! reached the server is simply sent again: few times, spread by chance, and never longer than the limits given to the
//! [`ClientBuilder`]. What the server refuses is an [`ApiError`] with the fields of its problem document.
//!
//! Requests and answers are types of `api_types`. A value that only a later version of the server knows does not fail a call: it is
//! [`Extensible::Other`].
//!
//! ```no_run
//! # async fn example() -> Result<(), client::ClientError> {
//! let client = client::Client::builder("http://127.0.0.1:8080").api_key("berth_live_…").build()?;
//! let task = client.submit(&client::NewTask::command(["echo", "hi"])).await?;
//! let mut following = client.follow(task.id, client::LogFilter::default());
//! while let Some(event) = following.next().await? {
//!     println!("{event:?}");
//! }
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod builder;
mod error;
mod events;
mod idempotency;
mod model;
mod response;
mod retry;
mod send;
mod verb;

/// The types of requests that programs write; the others are in [`request`].
pub use api_types::request::{NewSchedule, NewTask};
/// The types of answers.
pub use api_types::*;
pub use builder::{Client, ClientBuilder};
/// Values of requests.
pub use domain::{batch::ConcurrencyKey, id::PoolName, resources::Tier, task::HttpMethod};
pub use error::{ApiError, ClientError};
pub use idempotency::{IdempotencyKey, ParseKeyError};
pub use model::{
    AuditFilter, FollowEvent, LabelFilter, LogFilter, ParseLabelFilterError, RunFilter, Since,
    TaskFilter, TenantFilter, WhichSchedule,
};
pub use response::ApiResponse;
pub use retry::RetryPolicy;
pub use verb::{
    CostsQuery, DeliveryQuery, EventPage, EventQuery, Follow, PriceDryRunQuery, TenantCostsQuery,
    UsageEvents,
};

/// The README's example is compiled as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
