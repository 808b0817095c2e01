//! The event log `task_event`: what changed, for the consumers of a tenant and of the platform.
//!
//! Events are written by the statements that change something: those of tasks by every transition
//! (`task/transition/change.rs`), for tenants that have a consumer and for tasks that a schedule counts; warnings by the statement that detects
//! the reason. Here is what reads them:
//!
//! - [`follow`], [`unfollow`]: a tenant's live consumers, of which the writers ask whether there is one.
//! - [`changes`]: which tasks of one tenant have changed since a [`Horizon`].
//! - [`feed`]: all of a tenant's events, in an order that a reader can go on in.
//! - `Cursor`: how far a consumer of all tenants' events has come, exactly once.
//! - [`warnings`]: what a tenant is warned of.
//!
//! A reader must know two things. Transactions commit in another order than they begin in: it may read only up to the oldest one that is
//! still open, and then misses nothing. And of one task the events are in the order of `seq`, which may not be the order in which a
//! reader comes to see them: the highest number is the latest state.

mod changes;
mod consumer;
mod cursor;
mod feed;
mod forget_expired;
mod warning;

pub use changes::{Changes, Horizon, changes};
pub use consumer::{follow, unfollow};
pub(crate) use cursor::Cursor;
pub use cursor::lag;
pub use domain::event::{EventPlace, EventRecord, TaskEvent};
pub(crate) use feed::read;
pub use feed::{FEED_DAYS, FEED_TERM_HOURS, Feed, feed, follow_feed};
pub use forget_expired::forget_expired;
pub use warning::{Warning, warnings};
