//! Sends events to the webhooks that ask for them.
//!
//! Works on the event log alone and calls no other role. One loop moves each webhook along the log and stores a delivery for each event
//! that it asks for ([`store::webhook::fan_out`]), claims what is due, and writes what became of each try. Each try is a task of its own, with a
//! bound for each webhook, so that a receiver that hangs delays no other. Any number of notifiers run; one that is killed loses nothing:
//! what it had claimed is due again when its lease is over.
#![warn(missing_docs)]

mod metrics;
mod render;
mod room;
mod send;
mod start;
mod tick;

pub use start::{Notifier, StartError};
