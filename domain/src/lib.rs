//! The domain logic of Berth as pure code: no clock, no socket, no database.
//!
//! Every other crate may depend on this one, and this one on none of them. The scheduler, the resource manager and the
//! simulator run the same functions, so that results under a virtual clock hold in production.
#![warn(missing_docs)]

pub mod access;
pub mod audit;
pub mod batch;
pub mod budget;
pub mod canary;
pub mod dependency;
pub mod epoch;
pub mod event;
pub mod explain;
pub mod fairness;
pub mod id;
pub mod invoice;
pub mod merge_patch;
pub mod name;
pub mod placement;
pub mod plan;
pub mod pool;
pub mod price;
pub mod quarantine;
pub mod rate;
pub mod resources;
pub mod schedule;
pub mod spend;
pub mod target;
pub mod task;
pub mod tenant;
mod text_id;
pub mod time;
pub mod webhook;
pub mod wheel;
pub mod workflow;
