//! Schemas of resources, and what follows from a schema alone: checks, plans, states, documentation.
//!
//! A resource describes its attributes once. From them come the schema that Terraform reads ([`wire`]), the planned value
//! ([`planned`]), the state after a read or an apply ([`state`]), mistakes before any call ([`check`]), and the page in
//! terraform/docs ([`page`]).

mod attribute;
mod check;
mod documentation;
mod fit;
mod form;
mod plan;
mod pointer;
mod state;
mod wire;

pub use attribute::{Attribute, Given, Kind};
pub use check::check;
pub use documentation::{Page, page};
pub use fit::fitted;
pub use form::Form;
pub use plan::{Outcome, planned};
pub use pointer::path_of;
pub use state::state;
pub use wire::wire;
