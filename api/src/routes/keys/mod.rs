//! `/v1/keys`: a tenant's API keys. Who may manage all of them sees all, everybody else those of their own making.

pub mod create;
pub mod list;
pub mod revoke;
pub mod rotate;
pub mod view;
