//! `/v1/audit`: who changed what. Written with each change (`store::audit`), read here.

pub mod list;
mod view;
