//! The API's description (OpenAPI 3.1), built from the table of routes.
//!
//! Each verb's file says in a [`Doc`](crate::openapi::Doc) what it takes and answers; parameters, scopes and problems that
//! follow from the table are added here. `shape` gives the schemas the forms that generators of clients understand.

mod answers;
mod defaults;
mod document;
mod explanation;
mod headers;
mod operation;
mod parameters;
mod schemas;
mod security;
mod shape;
mod tags;

pub use document::document;
