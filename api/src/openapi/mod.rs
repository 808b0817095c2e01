//! The API's description (OpenAPI 3.1), built from the table of routes.
//!
//! Each verb's file says in a `Doc` what it takes and answers; parameters, scopes and problems that follow from the
//! table are added here. `shape` gives the schemas the forms that generators of clients understand. `words` shows the domain's own names, taken from the domain.

mod answers;
mod defaults;
mod doc;
mod document;
mod explanation;
mod form;
mod headers;
mod operation;
mod parameters;
mod schemas;
mod security;
mod shape;
mod tags;
pub mod words;

pub use doc::{
    AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH, PAGE, Param,
    SOME_PAGES_ARE_SHORT,
};
pub use document::document;
pub use form::Form;
