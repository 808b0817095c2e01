//! `/v1/admin/restore`: an installation that was restored from a dump, whose schedules are held until an operator has looked.

pub mod get;
pub mod resume;
mod view;
