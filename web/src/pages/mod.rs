//! The pages, a folder or a file for each place of the navigation.

pub(crate) mod account;
pub(crate) mod asset;
pub(crate) mod costs;
pub(crate) mod invitation;
pub(crate) mod invoice;
pub(crate) mod operators;
pub(crate) mod overview;
pub(crate) mod problem;
pub(crate) mod schedules;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
pub(crate) mod status;
pub(crate) mod tasks;
pub(crate) mod theme;
pub(crate) mod webhooks;
pub(crate) mod workflows;
