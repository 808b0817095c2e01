//! The API's description (OpenAPI 3.1), built from the table of routes.
//!
//! Each verb's file says in a `Doc` what it takes and answers; parameters, scopes and problems that follow from the
//! table are added here. `words` shows the domain's own names, taken from the domain.

mod defaults;
mod doc;
mod document;
mod explanation;
mod operation;
mod schemas;
pub mod words;

pub use doc::{AnswerDoc, Content, Doc, PAGE, Param, SOME_PAGES_ARE_SHORT};
pub use document::document;
