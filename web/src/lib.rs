//! The dashboard: pages that the server makes, for customers and operators.
//!
//! `api` mounts [`PAGES`] beside its routes and implements [`Backend`]. The rule: a page is a client of the API in its process. It
//! has no SQL, and no rights but those of the credential in the browser's cookie; what the API refuses, no page shows or does.
//! Every page works without a script.

mod ansi;
mod assets;
mod backend;
mod confirm;
mod dashboard;
mod diff;
mod fault;
mod form;
mod frame;
mod link;
mod listing;
mod live;
mod needs;
mod origin;
mod page;
mod pages;
mod renewal;
mod seal;
mod serve;
mod session;
mod svg;
mod table;
mod visit;
mod words;

pub use assets::{ASSETS, Asset, Assets};
pub use backend::{Backend, Call, Kind, Method, Reply, Who};
pub use dashboard::Dashboard;
pub use link::sign_in_path;
pub use page::{Needs, Page, Verb};
pub use serve::wants_page;
pub use table::PAGES;
