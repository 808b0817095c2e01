//! `/tasks`: the list, a task, and what can be done with them.

pub(crate) mod bulk;
mod code;
mod entered;
pub(crate) mod lever;
pub(crate) mod list;
pub(crate) mod output;
pub(crate) mod submit;
pub(crate) mod task;
pub(crate) mod timeline;
pub(crate) mod view;
