//! Webhooks: what customers store, and the deliveries of events to their receivers.
//!
//! - [`put`], [`find`], [`list`], [`delete`], [`rotate`], [`resume`]: a tenant's webhooks.
//! - [`deliveries`], [`delivery`], [`replay`], [`replay_one`], [`test()`]: the log of what was sent, and sending again.
//! - [`fan_out`], [`claim`], [`settle`]: what the notifier does. It moves each webhook along the event log and stores a delivery for each
//!   event that is asked for, all or nothing; claims what is due; and writes what became of each try.
//!
//! The row of a webhook is locked before its deliveries, always.

mod claim;
mod deliveries;
mod delivery;
mod edit;
mod fan_out;
mod find;
mod put;
mod record;
mod replay;
mod settle;

pub use claim::{Claimed, Full, Hook, claim};
pub use deliveries::{DeliveryFilter, deliveries, delivery};
pub use delivery::{Delivery, DeliveryPlace};
pub use edit::{Resumed, Rotated, WebhookDeleted, delete, resume, rotate};
pub use fan_out::{Event, FannedOut, NewDelivery, fan_out};
pub use find::{find, list};
pub use put::{Secret, WebhookStored, put};
pub use record::{Disabled, WebhookRecord};
pub use replay::{MOST_REPLAYED, ReplayFilter, Replayed, replay, replay_one, test};
pub use settle::{Settled, TryResult, settle};
