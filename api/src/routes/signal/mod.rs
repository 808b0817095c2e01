//! `/v1/signals`: what nodes of workflows wait for that comes from outside.

pub mod send;
